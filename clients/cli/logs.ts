/** `flock logs tail`: what happens in the account; `flock logs format`: log lines of a process, for people. X33. */
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createClient } from '../../protocol/client.ts';
import { backoffMs } from '../../protocol/backoff.ts';
import type { Flags } from '../../protocol/node/commands.ts';
import { STREAM_TOPICS, type Hint } from '../../protocol/stream.ts';
import { answerLine, CommandFailed, EXIT, note, running, type Exit } from './answer.ts';
import { sessionOf, type Session } from './session.ts';

const PAUSE = { firstMs: 500, mostMs: 8_000, jitterPercent: 50 };
const LEVELS = ['debug', 'info', 'warn', 'error', 'fatal'] as const;
type Level = (typeof LEVELS)[number];

export function logsTail(args: readonly string[], flags: Flags): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    strict: true,
    options: { topic: { type: 'string' }, id: { type: 'string' }, count: { type: 'string' } },
  });
  return running(flags, async (run) => {
    const session = sessionOf(flags, run);
    if (session.isEdge)
      throw new CommandFailed('KEY_OF_OTHER_SIDE', 'an edge has no stream: use a profile of the cloud');
    return tailing(session, { ...values, topics: topicsOf(values.topic) }, flags, run.signal);
  });
}

/** Null: all. Throws: CommandFailed that names the one that is none. */
function topicsOf(text: string | undefined): ReadonlySet<string> | null {
  if (text === undefined) return null;
  const names = text.split(',').map((name) => name.trim());
  const wrong = names.find((name) => !(STREAM_TOPICS as readonly string[]).includes(name));
  if (wrong === undefined) return new Set(names);
  throw new CommandFailed('USAGE', `--topic: ${wrong.slice(0, 40)} is none of ${STREAM_TOPICS.join(', ')}`);
}

interface Wanted {
  readonly topics: ReadonlySet<string> | null;
  readonly id?: string | undefined;
  readonly count?: string | undefined;
}

async function tailing({ url, apiKey }: Session, wanted: Wanted, flags: Flags, signal: AbortSignal): Promise<Exit> {
  const { topics, id, count = '' } = wanted;
  if (wanted.count !== undefined && !/^[1-9]\d{0,8}$/.test(count))
    throw new CommandFailed('USAGE', '--count must be a whole number, at least 1');
  const enough = new AbortController();
  let [left, place, failures] = [count === '' ? Infinity : Number(count), '', 0];
  const hear = (hint: Hint): void => {
    failures = 0;
    place = hint.place;
    if (hint.topic === 'open') return note(flags, 'ready');
    if (hint.topic === 'resync') return note(flags, 'gap: more happened than was sent');
    if ((topics !== null && !topics.has(hint.topic)) || (id !== undefined && hint.id !== id) || left <= 0) return;
    show(flags, hint);
    left -= 1;
    if (left <= 0) enough.abort();
  };
  const client = createClient({ baseUrl: url, apiKey });
  const both = AbortSignal.any([signal, enough.signal]);
  while (!both.aborted) {
    const end = await client
      .listen(hear, { signal: both, ...(place === '' ? {} : { lastEventId: place }) })
      .catch((error: unknown) => {
        if (both.aborted) return null;
        throw error;
      });
    if (end === null || both.aborted) break;
    if (end.why === 'refused' && !isPassing(end.refusal.code)) {
      const { code, message } = end.refusal;
      throw new CommandFailed(
        code,
        message,
        code === 'UNAUTHORIZED' || code === 'FORBIDDEN' ? EXIT.unauthorized : EXIT.refused,
      );
    }
    note(flags, `reconnecting, ${end.why}`);
    failures += 1;
    await delay(backoffMs(failures - 1, PAUSE, Math.random()), null, { signal: both }).catch(() => undefined);
  }
  return signal.aborted ? EXIT.interrupted : EXIT.done;
}

const isPassing = (code: string): boolean =>
  ['SERVICE_UNAVAILABLE', 'UPSTREAM_UNAVAILABLE', 'RATE_LIMIT_EXCEEDED', 'INTERNAL_ERROR'].includes(code);

function show(flags: Flags, { topic, id, status }: Hint): void {
  const at = new Date().toISOString();
  if (flags.json) answerLine({ at, topic, id, status });
  else process.stdout.write(`${at} ${topic} ${id ?? '-'} ${status}\n`);
}

/** Reads standard input to its end. A line that is no JSON object is handed on as it is. */
export function logsFormat(args: readonly string[], flags: Flags): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    strict: true,
    options: { level: { type: 'string', default: 'debug' }, has: { type: 'string', multiple: true, default: [] } },
  });
  return running(flags, async ({ signal }) => {
    const level = LEVELS.find((one) => one === values.level);
    if (level === undefined) throw new CommandFailed('USAGE', `--level must be one of ${LEVELS.join(', ')}`);
    for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity, signal })) {
      const shown = formatted(line, { level, has: values.has, json: flags.json });
      if (shown !== null) process.stdout.write(`${shown}\n`);
    }
  });
}

/** Null: left out. `has`: `name` or `name=value`, each of which a line must have. */
export function formatted(
  line: string,
  { level, has, json }: { level: Level; has: readonly string[]; json: boolean },
): string | null {
  const fields = fieldsOf(line);
  if (fields === null) return has.length > 0 || json ? null : line;
  const { time, level: own, msg, ...rest } = fields;
  const rank = LEVELS.indexOf(own as Level);
  if (rank >= 0 && rank < LEVELS.indexOf(level)) return null;
  const isHad = (wanted: string): boolean => {
    const [name, value] = wanted.split(/=(.*)/s) as [string, string?];
    return name in fields && (value === undefined || String(fields[name]) === value);
  };
  if (!has.every(isHad)) return null;
  if (json) return line;
  const more = Object.entries(rest)
    .filter(([name]) => name !== 'pid' && name !== 'hostname')
    .map(
      ([name, value]) => `${name}=${typeof value === 'string' && !/\s/.test(value) ? value : JSON.stringify(value)}`,
    );
  return [timeOf(time), String(own ?? '-').padEnd('error'.length), String(msg ?? ''), ...more].join(' ').trimEnd();
}

const timeOf = (time: unknown): string => {
  const at = new Date(typeof time === 'number' || typeof time === 'string' ? time : NaN);
  return Number.isNaN(at.getTime()) ? '-' : at.toISOString();
};

function fieldsOf(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : null;
  } catch {
    return null;
  }
}
