/**
 * One-dimensional arrays as PostgreSQL writes them in text: `{a,"b, \"quoted\"",NULL}`. Source: PostgreSQL manual 8.15.
 * The client could ask the server for its array types, but it does so on every new connection by a query of its own,
 * whose failure nobody can catch; the few types that we use are known.
 */

/** Text of an array; every element is quoted, so that none can end it. */
export function arrayText(values: readonly (string | number | bigint | null)[]): string {
  return `{${values.map((value) => (value === null ? 'NULL' : `"${String(value).replace(/["\\]/g, '\\$&')}"`)).join(',')}}`;
}

const ELEMENT = /"((?:[^"\\]|\\.)*)"|([^",{}]+)/gs;

/** Elements of an array's text. Limit: one dimension. */
export function arrayOf(text: string): (string | null)[] {
  return Array.from(text.slice(1, -1).matchAll(ELEMENT), ([, quoted, bare]) => {
    if (quoted !== undefined) return quoted.replace(/\\(.)/gs, '$1');
    return bare === 'NULL' ? null : bare!;
  });
}
