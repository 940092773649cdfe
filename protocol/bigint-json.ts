/** JSON of values that hold bigints, for rows and messages between nodes: a bigint is `{"$bigint":"decimal text"}`. */

interface TaggedBigint {
  $bigint: string;
}

function isTagged(value: unknown): value is TaggedBigint {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as Partial<TaggedBigint>).$bigint === 'string' &&
    Object.keys(value).length === 1
  );
}

/** A copy that `JSON.stringify` takes: every bigint tagged, keys without a value left out. */
export function withTaggedBigints(value: unknown): unknown {
  if (typeof value === 'bigint') return { $bigint: value.toString() };
  if (Array.isArray(value)) return value.map(withTaggedBigints);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== undefined)
      .map(([key, field]) => [key, withTaggedBigints(field)]),
  );
}

const tagged = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? { $bigint: value.toString() } : value;

/** The text of a message between nodes: as of the copy above, without making one. */
export const messageText = (value: unknown): string => JSON.stringify(value, tagged);

/** What a message says; one without a bigint is as it was parsed. Throws: SyntaxError. */
export function messageOf(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return text.includes('"$bigint"') ? withBigints(value) : value;
}

/** The value that was tagged. Throws: SyntaxError for a tag that holds no integer. */
export function withBigints(value: unknown): unknown {
  if (isTagged(value)) return BigInt(value.$bigint);
  if (Array.isArray(value)) return value.map(withBigints);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, withBigints(field)]));
}
