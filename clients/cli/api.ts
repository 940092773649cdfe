/** `flock api OPERATION`: any operation of the service by its id, its fields as options. */
import { readFileSync } from 'node:fs';
import type { Flags } from '../../protocol/node/commands.ts';
import { answer, answerLine, CommandFailed, running } from './answer.ts';
import { askedOf, fieldLines, requireAll, type Asked } from './fields.ts';
import OPERATIONS from './generated/operations.json' with { type: 'json' };
import type { CliOperation } from './operation.ts';
import { sessionOf } from './session.ts';

export const CLI_OPERATIONS = OPERATIONS as unknown as Readonly<Record<string, CliOperation>>;

type Argument = Readonly<Record<string, unknown>>;
type Callable = ((argument: Argument, how: object) => Promise<unknown>) & {
  all?(argument: Argument, how: object): AsyncIterable<unknown>;
};

/** Answers the exit code. */
export function api(args: readonly string[], flags: Flags): Promise<number> {
  return running(flags, async (run) => {
    const [id, ...rest] = args;
    if (id === undefined) return listed(flags);
    const operation = operationOf(id);
    const asked = askedOf(id, operation, rest);
    const argument = { ...bodyOf(asked), ...asked.argument };
    requireAll(id, operation, argument);
    const session = sessionOf(flags, run);
    const call = (session.flock as unknown as Readonly<Record<string, Callable>>)[id]!;
    const { idempotencyKey } = asked.own;
    const how = idempotencyKey === null ? {} : { idempotencyKey };
    if (asked.own.all) {
      for await (const row of call.all!(argument, how)) answerLine(row);
      return;
    }
    const value = await call(argument, how);
    if (typeof value === 'string' && !flags.json) process.stdout.write(value);
    else answer(flags, value ?? null);
  });
}

function operationOf(id: string) {
  const operation = Object.hasOwn(CLI_OPERATIONS, id) ? CLI_OPERATIONS[id] : undefined;
  if (operation !== undefined) return operation;
  const near = Object.keys(CLI_OPERATIONS).filter((one) => one.toLowerCase().includes(id.toLowerCase()));
  throw new CommandFailed(
    'USAGE',
    near.length === 0 ? 'no such operation: flock api lists them' : `no such operation; there are ${near.join(', ')}`,
  );
}

/** The object of `--json-body`: a file, or standard input. */
function bodyOf({ own: { jsonBody } }: Asked): Argument {
  if (jsonBody === null) return {};
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(jsonBody === '-' ? 0 : jsonBody, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandFailed('USAGE', `--json-body: ${code === undefined ? 'no whole JSON' : `not read (${code})`}`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Argument;
  throw new CommandFailed('USAGE', '--json-body: no JSON object');
}

function listed(flags: Flags): void {
  const rows = Object.entries(CLI_OPERATIONS);
  if (flags.json) {
    for (const [operation, { summary, where, credential }] of rows)
      answerLine({ operation, summary, where, credential });
    return;
  }
  const width = Math.max(...rows.map(([id]) => id.length));
  process.stdout.write(`${rows.map(([id, { summary }]) => `${id.padEnd(width)}  ${summary}`).join('\n')}\n`);
}

const WHO: Readonly<Record<string, string>> = {
  none: 'anybody',
  application: 'an API key',
  bearer: 'people, by the console: an API key is refused',
};

/** What an operation takes; null where the words name none. */
export async function helpOf(words: readonly string[]): Promise<string | null> {
  const id = words[0] ?? '';
  if (!Object.hasOwn(CLI_OPERATIONS, id)) return null;
  const operation = CLI_OPERATIONS[id]!;
  const inPath = operation.fields.filter(({ isInPath }) => isInPath).map(({ name }) => name.toUpperCase());
  return [
    `usage: flock api ${[id, ...inPath].join(' ')} [--FIELD VALUE]…`,
    `${operation.summary}.`,
    `Called by ${WHO[operation.credential]}; served by ${operation.where === 'both' ? 'cloud and edge' : `the ${operation.where} alone`}.`,
    ...fieldLines(operation),
    ...(operation.hasBody ? ['  --json-body FILE|-  the body as a JSON object; options come on top'] : []),
    ...(operation.isKeyed ? ['  --idempotency-key TEXT  yours, where you repeat a call; else one is made'] : []),
    ...(operation.isList ? ['  --all  every row of every page, one JSON line each'] : []),
  ].join('\n');
}
