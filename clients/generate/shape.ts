/**
 * What travels, without how it is checked: the few forms that every client language can say. Lengths, patterns and
 * prose of the schemas stay with the service, which refuses by them.
 */

/** A name of the contract's shapes begins with `@`; `never` is an object without fields. */
export type Shape =
  | 'text'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'null'
  | 'anything'
  | `@${string}`
  | { readonly enum: readonly (string | number | boolean)[] }
  | { readonly list: Shape }
  | { readonly record: Shape }
  | { readonly any: readonly Shape[] }
  /** A name that ends in `?` may be absent. */
  | { readonly fields: Readonly<Record<string, Shape>> };

/** Part of a JSON Schema as zod writes it. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: string | number | boolean | null;
  readonly enum?: readonly (string | number | boolean)[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly items?: JsonSchema | false;
  readonly prefixItems?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
}

export const REF = '#/shapes/';

/** The shape of a schema. Throws: a schema that says something for which there is no shape. */
export function shapeOf(schema: JsonSchema): Shape {
  const { $ref, type, anyOf, oneOf, allOf } = schema;
  if ($ref !== undefined) {
    if (!$ref.startsWith(REF)) throw new TypeError(`a schema refers to ${$ref}: export the schema by a name`);
    return `@${$ref.slice(REF.length)}`;
  }
  if (schema.const !== undefined) return schema.const === null ? 'null' : { enum: [schema.const] };
  if (schema.enum !== undefined) return { enum: schema.enum };
  const either = anyOf ?? oneOf;
  if (either !== undefined) return unionOf(either.map(shapeOf));
  if (allOf !== undefined) throw new TypeError('a schema is an intersection: extend one object with the other');
  if (Array.isArray(type)) return unionOf((type as string[]).map((one) => shapeOf({ ...schema, type: one })));
  return ofType(schema);
}

function ofType(schema: JsonSchema): Shape {
  switch (schema.type) {
    case 'string':
      return 'text';
    case 'integer':
    case 'number':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'array':
      return { list: listed(schema) };
    case 'object':
      return objectOf(schema);
    default:
      return 'anything';
  }
}

function listed({ items, prefixItems }: JsonSchema): Shape {
  if (prefixItems !== undefined) return unionOf(prefixItems.map(shapeOf));
  return items === undefined || items === false ? 'anything' : shapeOf(items);
}

function objectOf({ properties = {}, required = [], additionalProperties }: JsonSchema): Shape {
  const names = Object.keys(properties);
  if (names.length === 0 && typeof additionalProperties === 'object') return { record: shapeOf(additionalProperties) };
  return {
    fields: Object.fromEntries(
      names.map((name) => [required.includes(name) ? name : `${name}?`, shapeOf(properties[name]!)]),
    ),
  };
}

/** The same alternative is said once; an alternative of alternatives is flat. */
function unionOf(shapes: readonly Shape[]): Shape {
  const flat = shapes.flatMap((one) => (typeof one === 'object' && 'any' in one ? one.any : [one]));
  if (flat.includes('anything')) return 'anything';
  const enums = flat.flatMap((one) => (typeof one === 'object' && 'enum' in one ? one.enum : []));
  const others = flat.filter((one) => typeof one === 'string' || !('enum' in one));
  const all: Shape[] = [...(enums.length === 0 ? [] : [{ enum: [...new Set(enums)] }]), ...others];
  const once = [...new Map(all.map((one) => [JSON.stringify(one), one])).values()];
  return once.length === 1 ? once[0]! : { any: once };
}
