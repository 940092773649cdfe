/** The generated part of the Python client: its methods, and the types of what travels. X17. */
import { methodsOf, shapesIn, type Field, type Method } from './callable.ts';
import type { Contract } from './contract.ts';
import type { Shape } from './shape.ts';

const FOLDER = 'clients/python/flock_client';
const MADE = '# Made by `npm run -s clients`: changes are lost.\n';
/** Words that are no names in Python get a `_` behind them. */
const KEYWORDS = new Set('from in is as not and or if for with class def return pass global import lambda'.split(' '));

/** Its files by their path from the root. */
export function pythonFiles(contract: Contract): [string, string][] {
  const methods = methodsOf(contract);
  return [
    [`${FOLDER}/_methods.py`, methodsFile(methods, BLOCKING)],
    [`${FOLDER}/_async_methods.py`, methodsFile(methods, ASYNCHRONOUS)],
    [`${FOLDER}/types.py`, typesFile(contract, methods)],
    [`${FOLDER}/_version.py`, `${MADE}VERSION = "${contract.version}"\n`],
  ];
}

/** A name of the API as Python has it. */
export const snake = (name: string): string => {
  const words = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return KEYWORDS.has(words) ? `${words}_` : words;
};

// ── Types ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Objects that a shape has in place: Python has no type without a name. */
type Hoisted = Map<string, Readonly<Record<string, Shape>>>;
const capital = (name: string): string => `${name[0]!.toUpperCase()}${name.slice(1)}`;

function typeOf(shape: Shape, name: string, hoisted: Hoisted): string {
  if (typeof shape === 'string') return shape.startsWith('@') ? shape.slice(1) : WORDS[shape]!;
  if ('enum' in shape) {
    const kinds = new Set(shape.enum.map((value) => typeof value));
    return kinds.has('string') ? 'str' : kinds.has('number') ? 'int' : 'bool';
  }
  if ('list' in shape) return `List[${typeOf(shape.list, `${name}Item`, hoisted)}]`;
  if ('record' in shape) return `Dict[str, ${typeOf(shape.record, `${name}Value`, hoisted)}]`;
  if ('any' in shape) {
    const all = shape.any.map((one, at) => typeOf(one, at === 0 ? name : `${name}${at + 1}`, hoisted));
    return `Union[${[...new Set(all)].join(', ')}]`;
  }
  hoisted.set(name, shape.fields);
  return name;
}

const WORDS: Readonly<Record<string, string>> = {
  text: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
  anything: 'Any',
};

function typesFile(contract: Contract, methods: readonly Method[]): string {
  const names = shapesIn(
    [
      ...methods.flatMap(({ reply, fields }) => [reply, ...fields.map(({ shape }) => shape)]),
      ...Object.values(contract.events),
    ],
    contract,
  );
  const blocks: string[] = [];
  const aliases: string[] = [];
  const define = (name: string, fields: Readonly<Record<string, Shape>>): void => {
    const hoisted: Hoisted = new Map();
    blocks.push(typedDict(name, fields, hoisted));
    for (const [inner, its] of hoisted) define(inner, its);
  };
  for (const name of names) {
    const shape = contract.shapes[name]!;
    if (typeof shape === 'object' && 'fields' in shape) define(name, shape.fields);
    else {
      const hoisted: Hoisted = new Map();
      const type = typeOf(shape, `${name}Part`, hoisted);
      aliases.push(
        `${name} = ${type.replace(/\b(?!Union\b|List\b|Dict\b|Any\b)[A-Z]\w+/g, (one) => (one === 'None' ? one : `"${one}"`))}\n`,
      );
      for (const [inner, its] of hoisted) define(inner, its);
    }
  }
  return (
    `${MADE}"""What travels. Enumerations are text: a newer service may send others. What may be absent is marked by\n` +
    '`total=False`."""\n\nfrom typing import Any, Dict, List, TypedDict, Union\n\n' +
    [...blocks, ...aliases].join('\n')
  );
}

function typedDict(name: string, fields: Readonly<Record<string, Shape>>, hoisted: Hoisted): string {
  const entries = (optional: boolean): string =>
    Object.entries(fields)
      .filter(([field]) => field.endsWith('?') === optional)
      .map(([field, shape]) => {
        const plain = field.replace(/\?$/, '');
        const type = typeOf(shape, `${name}${capital(plain.replace(/\W/g, ''))}`, hoisted);
        return `    "${plain}": "${type}",\n`;
      })
      .join('');
  const [needed, others] = [entries(false), entries(true)];
  if (others === '') return `${name} = TypedDict("${name}", {\n${needed}})\n`;
  if (needed === '') return `${name} = TypedDict("${name}", {\n${others}}, total=False)\n`;
  return (
    `_${name} = TypedDict("_${name}", {\n${needed}})\n_${name}More = TypedDict("_${name}More", {\n${others}}, total=False)\n\n\n` +
    `class ${name}(_${name}, _${name}More):\n    pass\n\n`
  );
}

// ── Methods ──────────────────────────────────────────────────────────────────────────────────────────────────────

/** What the two clients differ in. */
interface Kind {
  readonly name: string;
  readonly core: string;
  readonly define: string;
  readonly wait: string;
  readonly rows: (row: string) => string;
  readonly imports: string;
}
const BLOCKING: Kind = {
  name: 'Flock',
  core: 'Core',
  define: 'def',
  wait: '',
  rows: (row) => `Generator[${row}, None, None]`,
  imports:
    'from typing import Any, Dict, Generator, List, Literal, Optional, Union, cast\n\n' +
    'from . import types\nfrom ._core import UNSET, Core, Operation\n',
};
const ASYNCHRONOUS: Kind = {
  name: 'AsyncFlock',
  core: 'AsyncCore',
  define: 'async def',
  wait: 'await ',
  rows: (row) => `AsyncGenerator[${row}, None]`,
  imports:
    'from typing import Any, AsyncGenerator, Dict, List, Literal, Optional, Union, cast\n\n' +
    'from . import types\nfrom ._async_core import AsyncCore\nfrom ._core import UNSET, Operation\n',
};

function methodsFile(methods: readonly Method[], kind: Kind): string {
  const body = methods.flatMap((method) => [
    methodOf(method, kind),
    ...(method.rows === null ? [] : [walkOf(method, kind)]),
  ]);
  return (
    `${MADE}from __future__ import annotations\n\n${kind.imports}\n\nclass ${kind.name}(${kind.core}):\n` +
    '    """A method for each operation. Those with `idempotency_key` are safe to repeat: without one of yours a UUID is made\n' +
    '    for all attempts of the call. Arguments that are not given are not sent; None is sent as null. `timeout` and\n' +
    '    `deadline` are seconds of one attempt and of the whole call."""\n\n' +
    body.join('\n')
  );
}

/** A type of an argument: values of enumerations are named, objects are any dictionary. */
function argumentType(shape: Shape): string {
  if (typeof shape === 'string') return shape.startsWith('@') ? `types.${shape.slice(1)}` : WORDS[shape]!;
  if ('enum' in shape) return `Literal[${shape.enum.map((value) => pythonOf(value)).join(', ')}]`;
  if ('list' in shape) return `List[${argumentType(shape.list)}]`;
  if ('record' in shape) return `Dict[str, ${argumentType(shape.record)}]`;
  if ('any' in shape) return `Union[${[...new Set(shape.any.map(argumentType))].join(', ')}]`;
  return 'Dict[str, Any]';
}
const pythonOf = (value: string | number | boolean): string =>
  typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value);

function argumentsOf(fields: readonly Field[], isKeyed: boolean): string {
  const sorted = [...fields.filter(({ isOptional }) => !isOptional), ...fields.filter(({ isOptional }) => isOptional)];
  const lines = sorted.map(
    ({ name, shape, isOptional }) => `        ${snake(name)}: ${argumentType(shape)}${isOptional ? ' = UNSET' : ''},\n`,
  );
  const key = isKeyed ? '        idempotency_key: Optional[str] = None,\n' : '';
  return `        self,\n        *,\n${lines.join('')}${key}        timeout: Optional[float] = None,\n        deadline: Optional[float] = None,\n`;
}

const dictOf = (fields: readonly Field[]): string =>
  fields.length === 0
    ? '{}'
    : `{\n${fields.map(({ name }) => `            "${name}": ${snake(name)},\n`).join('')}        }`;

function marksOf({ keyed, body, bare, where }: Method): string {
  return [keyed ? 'k' : '', body === null ? '' : 'b', bare === null ? '' : 'd', where === 'both' ? '' : where[0]!].join(
    '',
  );
}
const operationOf = (method: Method): string =>
  `Operation("${method.id}", "${method.method}", "${method.path}", "${marksOf(method)}")`;

function answerType({ reply, bare }: Method): string {
  if (reply !== null) return typeof reply === 'string' && reply.startsWith('@') ? `types.${reply.slice(1)}` : 'Any';
  return bare === 'application/json' ? 'Any' : 'str';
}

function methodOf(method: Method, { define, wait }: Kind): string {
  const { id, summary, fields, keyed } = method;
  const answer = answerType(method);
  const call = `${wait}self._call(_operation, _arguments, ${keyed ? 'idempotency_key' : 'None'}, timeout, deadline)`;
  return (
    `    ${define} ${snake(id)}(\n${argumentsOf(fields, keyed)}    ) -> ${answer}:\n        """${summary.replaceAll('\\', '\\\\')}."""\n` +
    `        _operation = ${operationOf(method)}\n        _arguments: Dict[str, Any] = ${dictOf(fields)}\n` +
    `        return ${answer === 'Any' ? call : `cast(${answer}, ${call})`}\n`
  );
}

/** Rows of all pages, asked for when they are needed. */
function walkOf(method: Method, kind: Kind): string {
  const fields = method.fields.filter(({ name }) => name !== 'page');
  const { rows } = method;
  const row = typeof rows === 'string' && rows.startsWith('@') ? `types.${rows.slice(1)}` : 'Any';
  return (
    `    def ${snake(method.id)}_all(\n${argumentsOf(fields, false)}    ) -> ${kind.rows(row)}:\n` +
    `        """Rows of all pages, the next page when it is needed: ${method.summary}."""\n` +
    `        _operation = ${operationOf(method)}\n        _arguments: Dict[str, Any] = ${dictOf(fields)}\n` +
    `        return self._walk(_operation, _arguments, timeout, deadline)\n`
  );
}
