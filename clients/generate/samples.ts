/** One call of an operation in each language, for the pages of the documentation. A test compiles them. X38. */
import type { Method } from './callable.ts';
import type { Contract } from './contract.ts';
import { goCall } from './go.ts';
import { snake } from './python.ts';

/** Path, query and body of a call as one flat argument. */
export type Arguments = Readonly<Record<string, unknown>>;

export interface Samples {
  readonly ts: string;
  readonly python: string;
  readonly go: string;
  readonly cli: string;
}

const LINE_MAX = 78;
/** What a reader's program prints with. */
const PRINT = 'console.log';

/** The same call in all languages. */
export const samplesOf = (method: Method, args: Arguments, contract: Contract): Samples => ({
  ts: typescriptCall(method, args),
  python: pythonCall(method, args),
  go: goCall(method, args, contract),
  cli: commandLine(method, args),
});

// ── TypeScript ───────────────────────────────────────────────────────────────────────────────────────────────────

const isPlainName = (name: string): boolean => /^[A-Za-z_]\w*$/.test(name);
const quoted = (text: string): string =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;

function typescriptValue(value: unknown, indent: string): string {
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value))
    return bracketed(
      '[',
      value.map((one) => typescriptValue(one, `${indent}  `)),
      ']',
      indent,
    );
  if (typeof value !== 'object' || value === null) return String(value);
  const rows = Object.entries(value).map(
    ([name, one]) => `${isPlainName(name) ? name : quoted(name)}: ${typescriptValue(one, `${indent}  `)}`,
  );
  return rows.length === 0 ? '{}' : bracketed('{ ', rows, ' }', indent);
}

/** On one line where there is room, else a line for each. */
function bracketed(open: string, rows: readonly string[], close: string, indent: string): string {
  const line = `${open}${rows.join(', ')}${close}`;
  if (line.length + indent.length <= LINE_MAX && !line.includes('\n')) return line;
  return `${open.trim()}\n${rows.map((row) => `${indent}  ${row},\n`).join('')}${indent}${close.trim()}`;
}

function typescriptCall({ id, rows, reply }: Method, args: Arguments): string {
  const given = typescriptValue(args, '');
  if (rows !== null) return `for await (const row of flock.${id}.all(${given})) {\n  ${PRINT}(row);\n}`;
  const call = `await flock.${id}(${given});`;
  return reply === null ? `const document = ${call}` : `const answer = ${call}`;
}

// ── Python ───────────────────────────────────────────────────────────────────────────────────────────────────────

function pythonValue(value: unknown, indent: string): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value))
    return wrapped(
      '[',
      value.map((one) => pythonValue(one, `${indent}    `)),
      ']',
      indent,
    );
  if (typeof value !== 'object') return String(value);
  const rows = Object.entries(value).map(
    ([name, one]) => `${JSON.stringify(name)}: ${pythonValue(one, `${indent}    `)}`,
  );
  return wrapped('{', rows, '}', indent);
}

function wrapped(open: string, rows: readonly string[], close: string, indent: string): string {
  const line = `${open}${rows.join(', ')}${close}`;
  if (line.length + indent.length <= LINE_MAX && !line.includes('\n')) return line;
  return `${open}\n${rows.map((row) => `${indent}    ${row},\n`).join('')}${indent}${close}`;
}

function pythonCall({ id, rows }: Method, args: Arguments): string {
  const given = Object.entries(args).map(([name, value]) => `${snake(name)}=${pythonValue(value, '    ')}`);
  if (rows !== null) return `for row in flock.${snake(id)}_all${wrapped('(', given, ')', '')}:\n    print(row)`;
  return `answer = flock.${snake(id)}${wrapped('(', given, ')', '')}`;
}

// ── Command line ─────────────────────────────────────────────────────────────────────────────────────────────────

const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
const flagOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function commandLine({ id, rows }: Method, args: Arguments): string {
  const options = Object.entries(args).flatMap(([name, value]) => {
    const flag = flagOf(name);
    if (typeof value === 'boolean') return [value ? `--${flag}` : `--no-${flag}`];
    if (Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string'))
      return value.map((one) => `--${flag} ${shellWord(one)}`);
    return [`--${flag} ${shellWord(typeof value === 'object' ? JSON.stringify(value) : String(value))}`];
  });
  const words = [`npm run -s flock -- api ${id}`, ...options, ...(rows === null ? [] : ['--all'])];
  const line = words.join(' ');
  return line.length <= LINE_MAX ? line : words.join(' \\\n  ');
}
