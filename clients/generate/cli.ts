/** The operations as `flock api` has them: the fields of each flat argument are options of its command line. X2. */
import { methodsOf, type Method } from './callable.ts';
import type { Contract } from './contract.ts';
import type { Shape } from './shape.ts';

/** JSON: it is read in a tenth of the time that a module of types takes. */
const FILE = 'clients/cli/generated/operations.json';

/** Options that every command has: no field may have such a name. */
const TAKEN = new Set(['json', 'quiet', 'profile', 'help', 'all', 'json-body', 'idempotency-key']);

/** Its file by its path from the root. Throws: a field has the name of an option of every command. */
export function cliFiles(contract: Contract): [string, string][] {
  const lines = methodsOf(contract).map((method) => `"${method.id}":${JSON.stringify(operationOf(method, contract))}`);
  return [[FILE, `{\n${lines.join(',\n')}\n}\n`]];
}

function operationOf(method: Method, contract: Contract): object {
  const { id, path, summary, where, credential, keyed, body, rows, fields } = method;
  const inPath = new Set([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
  return {
    summary,
    where,
    credential,
    ...(keyed ? { isKeyed: true } : {}),
    ...(rows === null ? {} : { isList: true }),
    ...(body === null ? {} : { hasBody: true }),
    fields: fields.map(({ name, shape, isOptional }) => {
      const flag = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      if (TAKEN.has(flag)) throw new TypeError(`${id}: ${name} is an option of every command: rename the field`);
      return {
        name,
        flag,
        ...kindOf(shape, contract),
        ...(inPath.has(name) ? { isInPath: true } : {}),
        ...(isOptional ? { isOptional: true } : {}),
      };
    }),
  };
}

/** How an option's text becomes the field: what is no plain value is given as JSON. */
function kindOf(shape: Shape, contract: Contract): { kind: string; values?: readonly unknown[]; isNullable?: true } {
  if (typeof shape === 'string') {
    if (shape.startsWith('@')) return kindOf(contract.shapes[shape.slice(1)]!, contract);
    return {
      kind: shape === 'text' || shape === 'integer' || shape === 'number' || shape === 'boolean' ? shape : 'json',
    };
  }
  if ('enum' in shape) {
    const isText = shape.enum.every((value) => typeof value === 'string');
    return isText ? { kind: 'text', values: shape.enum } : { kind: 'json', values: shape.enum };
  }
  if ('list' in shape) {
    const inner = kindOf(shape.list, contract);
    return inner.kind === 'text' ? { ...inner, kind: 'texts' } : { kind: 'json' };
  }
  if ('any' in shape) {
    const others = shape.any.filter((one) => one !== 'null');
    const isNullable = others.length < shape.any.length ? ({ isNullable: true } as const) : {};
    return others.length === 1 ? { ...kindOf(others[0]!, contract), ...isNullable } : { kind: 'json', ...isNullable };
  }
  return { kind: 'json' };
}
