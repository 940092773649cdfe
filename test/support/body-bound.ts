/** Most bytes that a body of a schema can have. */
import { z } from 'zod';

type Schema = Readonly<Record<string, any>>;

/** Bytes as browsers write them: no program escapes them. */
const BASE64URL = '^[A-Za-z0-9_-]+$';

/** `"\u0041"`: a character may take six. */
const ESCAPED_BYTES = 6;
/** Of a document within a text: line ends and quotes are escaped, letters are not. */
const DOCUMENTS: readonly unknown[] = ['text/csv', 'application/xml'];
const DOCUMENT_CHARACTER_BYTES = 2;
const NUMBER_BYTES = 24;
/** Of the one record without names of its own, `metadata`, whose check counts bytes. */
const RECORD_BYTES = 4_096;
/** Of texts whose schema is a pattern, a format or a check of its own; no such text is longer. */
const CHECKED_CHARACTERS = 160;

/**
 * Bytes without white space; with every character of its texts as an escape, or with none. Throws: Error for an array
 * or a record without a bound, which no limit could serve.
 */
export function bodyBoundOf(schema: z.ZodType, { escaped }: { readonly escaped: boolean }): number {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema;
  return boundOf(json, { named: json['$defs'] ?? {}, characterBytes: escaped ? ESCAPED_BYTES : 1 }, 'body');
}

function boundOf(schema: Schema, how: { readonly named: Schema; readonly characterBytes: number }, at: string): number {
  const of = (inner: Schema, name = '') => boundOf(inner, how, `${at}${name}`);
  if (schema['$ref'] !== undefined) return of(how.named[schema['$ref'].replace('#/$defs/', '')]);
  if (schema['enum'] !== undefined)
    return Math.max(...schema['enum'].map((one: unknown) => JSON.stringify(one).length));
  const either: Schema[] | undefined = schema['anyOf'] ?? schema['oneOf'];
  if (either !== undefined) return Math.max(...either.map((one) => of(one)));
  if (schema['items'] !== undefined) {
    if (schema['maxItems'] === undefined) throw new Error(`${at}: an array without a bound`);
    return 2 + schema['maxItems'] * (1 + of(schema['items'], '[]'));
  }
  if (schema['type'] === 'object') {
    const fields = Object.entries<Schema>(schema['properties'] ?? {});
    if (fields.length === 0) {
      const names: string[] | undefined = schema['propertyNames']?.enum;
      if (names === undefined && schema['propertyNames'] !== undefined) return how.characterBytes * RECORD_BYTES;
      if (names === undefined && schema['additionalProperties'] !== false)
        throw new Error(`${at}: a record without a bound`);
      fields.push(...(names ?? []).map((name): [string, Schema] => [name, schema['additionalProperties']]));
    }
    return 2 + fields.reduce((sum, [name, inner]) => sum + name.length + 4 + of(inner, `.${name}`), 0);
  }
  if (schema['type'] === 'number' || schema['type'] === 'integer') return NUMBER_BYTES;
  const characterBytes =
    schema['pattern'] === BASE64URL
      ? 1
      : DOCUMENTS.includes(schema['contentMediaType'])
        ? Math.min(DOCUMENT_CHARACTER_BYTES, how.characterBytes)
        : how.characterBytes;
  return 2 + characterBytes * (schema['maxLength'] ?? CHECKED_CHARACTERS);
}
