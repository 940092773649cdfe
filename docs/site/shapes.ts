/** Fields of bodies and answers as a page shows them: one below the other, nested ones folded away. */
import type { Json } from '../../gateway/pages/examples.ts';
import { escaped } from './highlight.ts';

export type Shapes = Readonly<Record<string, Json>>;

/** Nesting that is shown; what is deeper says its type. */
const DEPTH_MAX = 3;
const VALUES_MAX = 24;

const target = (schema: Json): string | undefined =>
  /^#\/components\/schemas\/(.+)$/.exec(String(schema['$ref'] ?? ''))?.[1];

/** The schema itself, where it is a name of another. */
export const followed = (schema: Json, shapes: Shapes): Json => {
  const name = target(schema);
  return name === undefined ? schema : followed(shapes[name] ?? {}, shapes);
};

/** A type in words. */
export function typeOf(schema: Json, shapes: Shapes): string {
  const whole = followed(schema, shapes);
  if (whole['const'] !== undefined) return `<code>${escaped(JSON.stringify(whole['const']))}</code>`;
  const values = whole['enum'] as unknown[] | undefined;
  if (values !== undefined)
    return values.length === 1
      ? `<code>${escaped(String(values[0]))}</code>`
      : values.every((one) => typeof one === 'string')
        ? 'one of'
        : 'a value';
  const variants = (whole['anyOf'] ?? whole['oneOf']) as Json[] | undefined;
  if (variants !== undefined) return [...new Set(variants.map((one) => typeOf(one, shapes)))].join(' or ');
  if (whole['allOf'] !== undefined) return 'object';
  if (whole['type'] === 'array') return `list of ${plural(typeOf((whole['items'] ?? {}) as Json, shapes))}`;
  const type = Array.isArray(whole['type']) ? whole['type'].join(' or ') : String(whole['type'] ?? 'any');
  return escaped(whole['format'] === 'date-time' ? 'time (ISO 8601, UTC)' : type);
}
const plural = (word: string): string => (/^(?:string|object|integer|number)$/.test(word) ? `${word}s` : word);

function valuesOf(schema: Json, shapes: Shapes): string {
  const whole = followed(schema, shapes);
  const variants = ((whole['anyOf'] ?? whole['oneOf']) as Json[] | undefined) ?? [whole];
  const values = variants.flatMap((one) => (followed(one, shapes)['enum'] ?? []) as unknown[]);
  if (values.length < 2) return '';
  const shown = values.slice(0, VALUES_MAX).map((one) => `<code>${escaped(String(one))}</code>`);
  return `<p class="values">${shown.join(' ')}${values.length > VALUES_MAX ? ` and ${values.length - VALUES_MAX} more` : ''}</p>`;
}

const LIMITS: readonly (readonly [name: string, words: (value: string) => string])[] = [
  ['minLength', (value) => `at least ${value} characters`],
  ['maxLength', (value) => `at most ${value} characters`],
  ['minimum', (value) => `at least ${value}`],
  ['maximum', (value) => `at most ${value}`],
  ['maxItems', (value) => `at most ${value} entries`],
  ['default', (value) => `default ${value}`],
];
function limitsOf(schema: Json, shapes: Shapes): string {
  const whole = followed(schema, shapes);
  const words = LIMITS.flatMap(([name, say]) => {
    const value = whole[name];
    const isHuge = typeof value === 'number' && Math.abs(value) >= Number.MAX_SAFE_INTEGER;
    if (value === undefined || isHuge || typeof value === 'object' || (name === 'minLength' && value === 1)) return [];
    return [say(String(value))];
  });
  return words.length === 0 ? '' : `<p class="limits">${escaped(words.join(', '))}</p>`;
}

/** Objects inside: of a list its entries, of a choice each of its objects. */
function objectsIn(schema: Json, shapes: Shapes): Json[] {
  const whole = followed(schema, shapes);
  if (whole['properties'] !== undefined) return [whole];
  if (whole['type'] === 'array') return objectsIn((whole['items'] ?? {}) as Json, shapes);
  const variants = (whole['anyOf'] ?? whole['oneOf'] ?? whole['allOf']) as Json[] | undefined;
  return (variants ?? []).flatMap((one) => objectsIn(one, shapes));
}

export interface FieldRow {
  readonly name: string;
  readonly schema: Json;
  readonly required: boolean;
  readonly note?: string;
}

/** What is read, in place of what is sent: its limits are no business of the reader, and most of it is always there. */
const READ = /^(?:answer|data|details)-/;

function needOf(required: boolean, idPrefix: string): string {
  if (!READ.test(idPrefix)) return required ? '<span class="need">required</span>' : '';
  return required || idPrefix.startsWith('details-') ? '' : '<span class="type">, may be absent</span>';
}

/** Rows of fields; `idOf` gives each an id to link to. */
export function fieldList(fields: readonly FieldRow[], shapes: Shapes, idPrefix: string, depth = 0): string {
  if (fields.length === 0) return '';
  const rows = fields.map(({ name, schema, required, note }) => {
    const words = note ?? String(followed(schema, shapes)['description'] ?? schema['description'] ?? '');
    const id = depth === 0 ? ` id="${escaped(`${idPrefix}${name}`)}"` : '';
    return `<li${id}><p><code class="name">${escaped(name)}</code> <span class="type">${typeOf(schema, shapes)}</span>${needOf(required, idPrefix)}</p>${words === '' ? '' : `<p>${escaped(words)}</p>`}${valuesOf(schema, shapes)}${READ.test(idPrefix) ? '' : limitsOf(schema, shapes)}${inner(name, schema, shapes, idPrefix, depth)}</li>`;
  });
  return `<ul class="fields">${rows.join('')}</ul>`;
}

function inner(name: string, schema: Json, shapes: Shapes, idPrefix: string, depth: number): string {
  const objects = objectsIn(schema, shapes);
  if (objects.length === 0 || depth >= DEPTH_MAX) return '';
  const lists = objects.slice(0, 4).map((one) => fieldList(fieldsOf(one), shapes, idPrefix, depth + 1));
  return `<details><summary>Fields of <code>${escaped(name)}</code></summary>${lists.join('')}</details>`;
}

/** Fields of an object's schema. */
export function fieldsOf(schema: Json): FieldRow[] {
  const required = new Set((schema['required'] ?? []) as string[]);
  return Object.entries((schema['properties'] ?? {}) as Record<string, Json>).map(([name, field]) => ({
    name,
    schema: field,
    required: required.has(name),
  }));
}

/** The fields of a body or an answer, whatever form it has. */
export function shapeList(schema: Json, shapes: Shapes, idPrefix: string): string {
  const objects = objectsIn(schema, shapes);
  if (objects.length === 0) return `<p>${typeOf(schema, shapes)}</p>`;
  const isList = followed(schema, shapes)['type'] === 'array';
  const lists = objects.map((one, at) => fieldList(fieldsOf(one), shapes, at === 0 ? idPrefix : `${idPrefix}${at}-`));
  return `${isList ? '<p>A list of objects with these fields.</p>' : ''}${lists.join('<p class="or">or</p>')}`;
}
