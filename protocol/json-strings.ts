/**
 * The strings of a JSON text with the field each stands in, read leniently: a text that is no JSON gives what looks
 * like strings and, apart, everything else. For guards that look at a body before it is parsed.
 */

export interface JsonString {
  /** Name of the nearest field, '' where there is none. Entries of an array have the array's. */
  readonly field: string;
  /** Strings of one array share a number; any other string has its own. */
  readonly group: number;
  readonly text: string;
}
export interface JsonStrings {
  readonly values: readonly JsonString[];
  readonly keys: readonly string[];
  /** What stands outside of strings. */
  readonly outside: string;
}

interface Frame { readonly array: boolean; field: string; readonly group: number }

const STRING_OR_MARK = /"((?:[^"\\]|\\.)*)"(\s*:)?|[{}[\]]/gs;

/** Strings and keys of a text, in their order. */
export function stringsIn(text: string): JsonStrings {
  const values: JsonString[] = [];
  const keys: string[] = [];
  const frames: Frame[] = [{ array: false, field: '', group: 0 }];
  let outside = '';
  let at = 0;
  let groups = 0;
  for (const match of text.matchAll(STRING_OR_MARK)) {
    outside += text.slice(at, match.index);
    at = match.index + match[0].length;
    const top = frames.at(-1)!;
    if (match[1] === undefined) {
      outside += match[0];
      if (match[0] === '{' || match[0] === '[') frames.push({ array: match[0] === '[', field: top.field, group: groups += 1 });
      else if (frames.length > 1) frames.pop();
      continue;
    }
    const string = match[1].includes('\\') ? unescaped(match[1]) : match[1];
    outside += ' ';
    if (match[2] !== undefined) {
      keys.push(string);
      top.field = string;
    } else {
      values.push({ field: top.field, group: top.array ? top.group : (groups += 1), text: string });
    }
  }
  return { values, keys, outside: outside + text.slice(at) };
}

function unescaped(body: string): string {
  try {
    return JSON.parse(`"${body}"`) as string;
  } catch {
    return body;
  }
}
