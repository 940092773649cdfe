/** The generated part of `flock-client`: its table of operations, and its types. */
import { methodsOf, shapesIn, type Field, type Method } from './callable.ts';
import type { Contract } from './contract.ts';
import type { Shape } from './shape.ts';

const FOLDER = 'clients/typescript/src/generated';
const MADE = '// Made by `npm run -s clients`: changes are lost.\n';

/** Its files by their path from the root. */
export function typescriptFiles(contract: Contract, examples: Readonly<Record<string, unknown>>): [string, string][] {
  const methods = methodsOf(contract);
  return [
    [`${FOLDER}/operations.ts`, tableOf(methods)],
    [`${FOLDER}/api.ts`, typesOf(contract, methods)],
    [`${FOLDER}/events.ts`, eventsOf(contract)],
    [`${FOLDER}/examples.ts`, `${MADE}export const EXAMPLES = ${JSON.stringify(examples, null, 1)};\n`],
    [`${FOLDER}/version.ts`, `${MADE}export const VERSION = '${contract.version}';\n`],
  ];
}

/** A line for each operation: name, method, path, and a letter for each thing that is particular about it. */
function tableOf(methods: readonly Method[]): string {
  const lines = methods.map(({ id, method, path, keyed, body, rows, bare, where }) => {
    const marks = [
      keyed ? 'k' : '',
      body === null ? '' : 'b',
      rows === null ? '' : 'l',
      bare === null ? '' : 'd',
      where === 'both' ? '' : where[0]!,
    ].join('');
    return `${id} ${method} ${path}${marks === '' ? '' : ` ${marks}`}`;
  });
  return (
    `${MADE}/**\n * Name, method, path; k: takes an Idempotency-Key, b: has a body, l: a list, d: answers a document, c, e: served by\n` +
    ` * the cloud or an edge alone.\n */\nexport const OPERATIONS = \`${lines.join('\n')}\`;\n`
  );
}

function typesOf(contract: Contract, methods: readonly Method[]): string {
  const input = shapesIn(
    methods.flatMap(({ params, query, body }) => [params, query, body]),
    contract,
  );
  const output = shapesIn([...methods.map(({ reply }) => reply), ...detailsOf(contract)], contract);
  const shapes = [...new Set([...output, ...input])].toSorted().map((name) => {
    const isOpen = output.includes(name);
    return declared(name, contract.shapes[name]!, isOpen);
  });
  const details = Object.entries(contract.codes).map(([code, one]) => `  ${code}: ${typeOf(one.details, true, '  ')};`);
  return [
    MADE + "import type { Call, List, Open, Write } from '../kinds.ts';\n",
    `/** A method for each operation. */\nexport interface Operations {\n${methods.map(methodOf).join('\n')}\n}\n`,
    `/** \`details\` of a refusal, by its code. */\nexport interface Details {\n${details.join('\n')}\n}\n`,
    ...shapes,
  ].join('\n');
}

const detailsOf = ({ codes }: Contract): Shape[] => Object.values(codes).map(({ details }) => details);

function methodOf({ id, summary, fields, rows, reply, keyed, bare }: Method): string {
  const argument = fields.length === 0 ? '{}' : objectOf(fields, false, '  ');
  const answer = reply !== null ? typeOf(reply, true, '  ') : bare === 'application/json' ? 'unknown' : 'string';
  const kind = keyed ? 'Write' : rows === null ? 'Call' : 'List';
  return `  /** ${summary.replaceAll('*/', '')}. */\n  ${id}: ${kind}<${argument}, ${answer}>;`;
}

function declared(name: string, shape: Shape, isOpen: boolean): string {
  if (typeof shape === 'object' && 'fields' in shape)
    return `export interface ${name} ${objectOf(fieldList(shape.fields), isOpen, '')}\n`;
  return `export type ${name} = ${typeOf(shape, isOpen, '')};\n`;
}

const fieldList = (fields: Readonly<Record<string, Shape>>): Field[] =>
  Object.entries(fields).map(([name, shape]) => ({
    name: name.replace(/\?$/, ''),
    shape,
    isOptional: name.endsWith('?'),
  }));

const keyOf = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

function objectOf(fields: readonly Field[], isOpen: boolean, indent: string): string {
  if (fields.length === 0) return 'Record<string, never>';
  const lines = fields.map(
    ({ name, shape, isOptional }) =>
      `${indent}  ${keyOf(name)}${isOptional ? '?' : ''}: ${typeOf(shape, isOpen, `${indent}  `)};`,
  );
  return `{\n${lines.join('\n')}\n${indent}}`;
}

/** `isOpen`: of an answer, whose enumerations may have values that this version does not know. X9. */
function typeOf(shape: Shape, isOpen: boolean, indent: string): string {
  if (typeof shape === 'string') return shape.startsWith('@') ? shape.slice(1) : WORDS[shape]!;
  if ('enum' in shape) {
    const values = shape.enum.map((value) => (typeof value === 'string' ? `'${value}'` : String(value))).join(' | ');
    return isOpen && shape.enum.every((value) => typeof value === 'string') && shape.enum.length > 1
      ? `Open<${values}>`
      : values;
  }
  if ('list' in shape) {
    const inner = typeOf(shape.list, isOpen, indent);
    return /^[\w.]+$/.test(inner) ? `${inner}[]` : `Array<${inner}>`;
  }
  if ('record' in shape) return `Record<string, ${typeOf(shape.record, isOpen, indent)}>`;
  if ('any' in shape) return shape.any.map((one) => typeOf(one, isOpen, indent)).join(' | ');
  return objectOf(fieldList(shape.fields), isOpen, indent);
}

const WORDS: Readonly<Record<string, string>> = {
  text: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
  anything: 'unknown',
};

function eventsOf(contract: Contract): string {
  const data = Object.entries(contract.events).map(([event, shape]) => `  ${event}: ${typeOf(shape, true, '  ')};`);
  const shapes = shapesIn(Object.values(contract.events), contract).map((name) =>
    declared(name, contract.shapes[name]!, true),
  );
  return [
    `${MADE}import type { Open } from '../kinds.ts';\n`,
    `/** \`data\` of each event, by its name. */\nexport interface EventData {\n${data.join('\n')}\n}\n`,
    ...shapes,
  ].join('\n');
}
