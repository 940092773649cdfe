/**
 * How a command answers: standard output is the answer alone, and the exit code says what kind of end it was. X23, X24.
 */
import type { Flags } from '../../protocol/node/commands.ts';
import { isFlockError, type FlockError } from '../typescript/src/index.ts';

export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  unauthorized: 3,
  refused: 4,
  unreachable: 5,
  timedOut: 6,
  interrupted: 130,
} as const;
export type Exit = (typeof EXIT)[keyof typeof EXIT];

/** What a command itself says no to. */
export class CommandFailed extends Error {
  readonly code: string;
  readonly exit: Exit;

  constructor(code: string, message: string, exit: Exit = EXIT.usage) {
    super(message);
    this.name = 'CommandFailed';
    this.code = code;
    this.exit = exit;
  }
}

/** The exit code of what the service or the connection said. */
export function exitOf({ code, status }: Pick<FlockError, 'code' | 'status'>): Exit {
  if (code === 'CLIENT_INVALID') return EXIT.usage;
  if (code === 'CLIENT_ABORTED') return EXIT.interrupted;
  if (code === 'CLIENT_TIMEOUT') return EXIT.timedOut;
  if (code === 'CLIENT_NETWORK' || status >= 500) return EXIT.unreachable;
  return status === 401 || status === 403 ? EXIT.unauthorized : EXIT.refused;
}

/** One document. For people it is indented, or the lines that `people` gives. */
export function answer(flags: Flags, value: unknown, people: string = JSON.stringify(value, null, 2)): void {
  process.stdout.write(`${flags.json ? JSON.stringify(value) : people}\n`);
}

/** One of many documents. */
export function answerLine(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** What is no answer. */
export function note(flags: Flags, text: string): void {
  if (!flags.quiet) process.stderr.write(`${text}\n`);
}

/** What is signalled when the command is to end. */
export interface Running {
  readonly signal: AbortSignal;
}

/**
 * Runs a command and says how it failed: a sentence on standard error and, with `--json`, a document on standard
 * output. SIGINT and SIGTERM end it. Answers the exit code. Throws: what `parseArgs` throws, and faults of ours.
 */
export async function running(flags: Flags, work: (running: Running) => Promise<Exit | void>): Promise<number> {
  const stop = new AbortController();
  const end = (): void => stop.abort();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, end);
  process.stdout.on('error', leave);
  try {
    const exit = (await work({ signal: stop.signal })) ?? EXIT.done;
    return stop.signal.aborted ? EXIT.interrupted : exit;
  } catch (error) {
    const failed = failureOf(error);
    if (failed === null) throw error;
    process.stderr.write(`${failed.code}: ${failed.message}\n`);
    if (flags.json) process.stdout.write(`${JSON.stringify({ error: failed.document })}\n`);
    return failed.exit;
  } finally {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, end);
  }
}

/** Nobody reads standard output any more. */
function leave(): void {
  process.stderr.write('standard output was closed before the answer was whole\n');
  process.exit(EXIT.failed);
}

function failureOf(error: unknown): { code: string; message: string; exit: Exit; document: object } | null {
  if (error instanceof CommandFailed) {
    const { code, message, exit } = error;
    return { code, message, exit, document: { code, message } };
  }
  if (!isFlockError(error)) return null;
  const { name: _, message: whole, ...fields } = (error as FlockError).toJSON() as Record<string, unknown>;
  const message = String(whole).replace(`${error.code}: `, '');
  const reason = (error.details as Readonly<Record<string, unknown>>)['reason'];
  const said = typeof reason === 'string' ? `${message} (${reason})` : message;
  return { code: error.code, message: said, exit: exitOf(error), document: { ...fields, message } };
}
