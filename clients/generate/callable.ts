/** The operations that clients have as methods, and what a method of each takes and gives. X2. */
import { reached, type Contract, type Operation } from './contract.ts';
import type { Shape } from './shape.ts';

export interface Field {
  readonly name: string;
  readonly shape: Shape;
  readonly isOptional: boolean;
}

export interface Method extends Operation {
  readonly id: string;
  /** Path, query and body as one flat argument, in this order. */
  readonly fields: readonly Field[];
  /** A list that is walked with `after`: the shape of its rows. */
  readonly rows: Shape | null;
}

const fieldsOf = (shape: Shape | null, { shapes }: Contract): Field[] => {
  if (shape === null) return [];
  const plain = typeof shape === 'string' ? shapes[shape.slice(1)] : shape;
  if (plain === undefined || typeof plain === 'string' || !('fields' in plain))
    throw new TypeError(`${JSON.stringify(shape)} is no object: it cannot be part of a flat argument`);
  return Object.entries(plain.fields).map(([name, one]) => ({
    name: name.replace(/\?$/, ''),
    shape: one,
    isOptional: name.endsWith('?'),
  }));
};

/** A union of objects as a body is passed whole; its fields are those that any of them has. */
function bodyFields(shape: Shape | null, contract: Contract): Field[] {
  const plain = typeof shape === 'string' && shape.startsWith('@') ? contract.shapes[shape.slice(1)]! : shape;
  if (plain === null || typeof plain === 'string' || !('any' in plain)) return fieldsOf(shape, contract);
  const alternatives = plain.any.map((one) => bodyFields(one, contract));
  const names = new Set(alternatives.flatMap((fields) => fields.map(({ name }) => name)));
  return [...names].map((name) => {
    const found = alternatives.flatMap((fields) => fields.filter((field) => field.name === name));
    const shapes = [...new Map(found.map((field) => [JSON.stringify(field.shape), field.shape])).values()];
    return {
      name,
      shape: shapes.length === 1 ? shapes[0]! : { any: shapes },
      isOptional: found.length < alternatives.length || found.some(({ isOptional }) => isOptional),
    };
  });
}

/** `content` of a reply that is a page, where the query takes `after`. */
function rowsOf({ reply, query }: Operation, contract: Contract): Shape | null {
  if (reply === null || !fieldsOf(query, contract).some(({ name }) => name === 'after')) return null;
  const content = fieldsOf(reply, contract).find(({ name }) => name === 'content')?.shape;
  return typeof content === 'object' && 'list' in content ? content.list : null;
}

/** Signed operations are an edge's and administrators' the operator's; a stream is no answer. */
const isCallable = ({ credential, bare }: Operation): boolean =>
  credential !== 'signed' && credential !== 'admin' && bare !== 'text/event-stream';

/** Throws: a name is twice in the argument of an operation, or a write has a query. */
export function methodsOf(contract: Contract): Method[] {
  return Object.entries(contract.operations)
    .filter(([, operation]) => isCallable(operation))
    .map(([id, operation]) => {
      const { params, query, body, method } = operation;
      const fields = [...fieldsOf(params, contract), ...fieldsOf(query, contract), ...bodyFields(body, contract)];
      const names = fields.map(({ name }) => name);
      const twice = names.find((name, at) => names.indexOf(name) !== at);
      if (twice !== undefined) throw new TypeError(`${id}: ${twice} is twice in its argument: rename one of them`);
      if (method !== 'GET' && query !== null) throw new TypeError(`${id}: a write with a query has no flat argument`);
      return { id, ...operation, fields, rows: rowsOf(operation, contract) };
    });
}

/** Names of shapes that any of these reaches. */
export const shapesIn = (from: readonly (Shape | null)[], { shapes }: Contract): string[] =>
  [
    ...reached(
      from.filter((shape) => shape !== null),
      shapes,
    ),
  ].toSorted();
