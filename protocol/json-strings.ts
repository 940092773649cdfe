/**
 * The strings of a JSON text with the field of each, read leniently: a text that is no JSON gives what looks
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
  /** The text outside strings. */
  readonly outside: string;
}

interface Frame {
  readonly array: boolean;
  field: string;
  readonly group: number;
}

const QUOTE = 34,
  BACKSLASH = 92,
  COLON = 58;
const MARK = /["{}[\]]/g;

/** Strings and keys of a text, in their order. Linear: each character is looked at a bounded number of times. */
export function stringsIn(text: string): JsonStrings {
  const values: JsonString[] = [];
  const keys: string[] = [];
  const frames: Frame[] = [{ array: false, field: '', group: 0 }];
  const outside: string[] = [];
  let groups = 0;
  let at = 0;
  MARK.lastIndex = 0;
  for (let found = MARK.exec(text); found !== null; MARK.lastIndex = at, found = MARK.exec(text)) {
    const top = frames.at(-1)!;
    if (found[0] !== '"') {
      outside.push(text.slice(at, found.index + 1));
      at = found.index + 1;
      const opens = found[0] === '{' || found[0] === '[';
      if (opens) frames.push({ array: found[0] === '[', field: top.field, group: (groups += 1) });
      else if (frames.length > 1) frames.pop();
      continue;
    }
    outside.push(text.slice(at, found.index), ' ');
    const end = endOfString(text, found.index + 1);
    const body = text.slice(found.index + 1, end);
    const string = body.includes('\\') ? unescaped(body) : body;
    at = end + 1;
    while (at < text.length && text.charCodeAt(at) <= 32) at += 1;
    if (text.charCodeAt(at) === COLON) {
      keys.push(string);
      top.field = string;
    } else {
      values.push({ field: top.field, group: top.array ? top.group : (groups += 1), text: string });
    }
  }
  outside.push(text.slice(at));
  return { values, keys, outside: outside.join('') };
}

/** Index of the closing quote, or the end of a text that has none. */
function endOfString(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (code === QUOTE) return at;
  }
  return text.length;
}

function unescaped(body: string): string {
  try {
    return JSON.parse(`"${body}"`) as string;
  } catch {
    return body;
  }
}
