/** Options of a command line as the flat argument of an operation, and back as help. */
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { CommandFailed } from './answer.ts';
import type { CliField, CliOperation } from './operation.ts';

export interface Asked {
  readonly argument: Readonly<Record<string, unknown>>;
  /** Options that are no field. */
  readonly own: { readonly jsonBody: string | null; readonly idempotencyKey: string | null; readonly all: boolean };
}

const OWN: ParseArgsOptionsConfig = {
  'json-body': { type: 'string' },
  'idempotency-key': { type: 'string' },
  all: { type: 'boolean' },
};

/**
 * Parameters of the path may be words without an option, in their order; a field's option is written as it travels or
 * with hyphens. Throws: CommandFailed that names the option and what it may be.
 */
export function askedOf(id: string, operation: CliOperation, args: readonly string[]): Asked {
  const { fields } = operation;
  const { values, positionals } = read(id, fields, args);
  const argument: Record<string, unknown> = {};
  const inPath = fields.filter((field) => field.isInPath);
  if (positionals.length > inPath.length)
    throw usage(id, `takes ${inPath.length} words (${inPath.map(({ name }) => name).join(', ') || 'none'})`);
  positionals.forEach((word, at) => (argument[inPath[at]!.name] = valueOf(inPath[at]!, word)));
  for (const field of fields) {
    const given = values[field.flag] ?? values[field.name];
    if (given !== undefined) argument[field.name] = valueOf(field, given);
  }
  const own = {
    jsonBody: textOf(values['json-body']),
    idempotencyKey: textOf(values['idempotency-key']),
    all: values['all'] === true,
  };
  if (own.jsonBody !== null && operation.hasBody === undefined)
    throw usage(id, 'has no body: --json-body is not for it');
  if (own.idempotencyKey !== null && operation.isKeyed === undefined) throw usage(id, 'takes no --idempotency-key');
  if (own.all && operation.isList === undefined) throw usage(id, 'is no list: --all is not for it');
  return { argument, own };
}

/** Names what is not there. Throws: CommandFailed. */
export function requireAll(id: string, { fields }: CliOperation, argument: Readonly<Record<string, unknown>>): void {
  const missing = fields.filter(({ name, isOptional }) => isOptional === undefined && argument[name] === undefined);
  if (missing.length > 0) throw usage(id, `needs ${missing.map(({ flag }) => `--${flag}`).join(', ')}`);
}

const usage = (id: string, message: string): CommandFailed =>
  new CommandFailed('USAGE', `${id} ${message}. flock api ${id} --help has its fields`);
const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

function read(id: string, fields: readonly CliField[], args: readonly string[]) {
  const options: ParseArgsOptionsConfig = { ...OWN };
  for (const field of fields) {
    const one = field.kind === 'boolean' ? ({ type: 'boolean' } as const) : ({ type: 'string' } as const);
    for (const name of [field.flag, field.name])
      options[name] = field.kind === 'texts' ? { ...one, multiple: true } : one;
  }
  try {
    return parseArgs({ args: [...args], strict: true, allowPositionals: true, allowNegative: true, options });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code?.startsWith('ERR_PARSE_ARGS') !== true) throw error;
    const unknown = /'(-[^']*)'/.exec(message)?.[1];
    const flags = fields.map(({ flag }) => `--${flag}`).join(' ') || 'none';
    throw usage(
      id,
      code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION' ? `has no ${unknown}; it has ${flags}` : `${message.split('\n')[0]}`,
    );
  }
}

/** Throws: CommandFailed. */
export function valueOf(field: CliField, given: unknown): unknown {
  const { kind, values, flag, isNullable } = field;
  if (typeof given !== 'string') {
    if (!Array.isArray(given)) return given;
    return given.map((one) => checked(field, one));
  }
  if (isNullable && given === 'null') return null;
  if (kind === 'integer' || kind === 'number') {
    const number = Number(given);
    const isRight = kind === 'integer' ? /^-?\d{1,15}$/.test(given) : given.trim() !== '' && Number.isFinite(number);
    if (isRight) return number;
    throw new CommandFailed('USAGE', `--${flag} must be ${kind === 'integer' ? 'a whole number' : 'a number'}`);
  }
  if (kind !== 'json') return checked(field, given);
  try {
    return JSON.parse(given);
  } catch {
    // a text that is one of several forms needs no quotes
    if (/^[[{"]/.test(given) || values !== undefined) throw new CommandFailed('USAGE', `--${flag} is no whole JSON`);
    return given;
  }
}

function checked({ flag, values }: CliField, given: unknown): unknown {
  if (values === undefined || values.includes(given as string)) return given;
  throw new CommandFailed('USAGE', `--${flag} must be one of ${values.join(', ')}`);
}

const KINDS: Readonly<Record<CliField['kind'], string>> = {
  text: 'TEXT',
  texts: 'TEXT (may be given several times)',
  integer: 'WHOLE NUMBER',
  number: 'NUMBER',
  boolean: '',
  json: 'JSON',
};

/** Lines of one operation's help. */
export function fieldLines({ fields }: CliOperation): string[] {
  const rows = fields.map((field): readonly [string, string] => [
    `--${field.flag}`,
    [
      field.values === undefined ? KINDS[field.kind] : field.values.join('|'),
      field.isNullable ? 'or null' : '',
      field.isOptional ? '' : 'needed',
    ]
      .filter((word) => word !== '')
      .join(', '),
  ]);
  const width = Math.max(0, ...rows.map(([flag]) => flag.length));
  return rows.map(([flag, rest]) => `  ${flag.padEnd(width)}  ${rest}`.trimEnd());
}
