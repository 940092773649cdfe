/** `flock listen`: events as they happen; of the sandbox also posted to an address. X27, X29–X31. */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { backoffMs } from '../../protocol/backoff.ts';
import type { Flags } from '../../protocol/node/commands.ts';
import { EVENTS, type EventName } from '../../protocol/slugs.ts';
import { answer, answerLine, CommandFailed, EXIT, note, running, type Exit, type Running } from './answer.ts';
import { follow, type Following, type ListedEvent } from './follow.ts';
import { readKept, writeKept } from './profiles.ts';
import { sessionOf, type Session } from './session.ts';
import { post, secretOf, targetOf, type Posted } from './target.ts';

const OPTIONS = {
  'forward-to': { type: 'string' },
  events: { type: 'string' },
  'secret-file': { type: 'string' },
  'print-secret': { type: 'boolean', default: false },
  'allow-remote': { type: 'boolean', default: false },
  timeout: { type: 'string', default: '30' },
  count: { type: 'string' },
} as const;
const read = (args: readonly string[]) => parseArgs({ args: [...args], strict: true, options: OPTIONS }).values;
type Values = ReturnType<typeof read>;

const PARENT_LOOK_MS = 500;
const PAUSE = { firstMs: 250, mostMs: 4_000, jitterPercent: 50 };
/** What is kept of a profile: the event that was handled last. */
const KEPT = 'listen';

export function listen(args: readonly string[], flags: Flags): Promise<number> {
  const values = read(args);
  return running(flags, async (run): Promise<Exit | void> => {
    const session = sessionOf(flags, run);
    if (values['print-secret']) {
      const secret = secretOf(values['secret-file'], session.profile, process.env);
      return answer(flags, { secret }, secret);
    }
    if (session.isEdge)
      throw new CommandFailed('KEY_OF_OTHER_SIDE', 'an edge has no stream of events: use a profile of the cloud');
    return withParent(run, (signal) => listening(session, values, flags, signal));
  });
}

/** Ends the work when the process that started this one is no more. X27, fault 28. */
async function withParent<T>({ signal }: Running, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const parent = process.ppid,
    left = new AbortController();
  const look = setInterval(() => {
    if (process.ppid !== parent) left.abort();
  }, PARENT_LOOK_MS);
  try {
    return await work(AbortSignal.any([signal, left.signal]));
  } finally {
    clearInterval(look);
  }
}

const numberOf = (name: string, text: string, least: number): number => {
  const number = Number(text);
  if (/^\d{1,9}$/.test(text) && number >= least) return number;
  throw new CommandFailed('USAGE', `--${name} must be a whole number, at least ${least}`);
};

/** Null: every event. Throws: CommandFailed that names the one that is none. */
function wantedOf(text: string | undefined): ReadonlySet<string> | null {
  if (text === undefined) return null;
  const names = text.split(',').map((name) => name.trim());
  const wrong = names.find((name) => !EVENTS.includes(name as EventName));
  if (wrong === undefined) return new Set(names);
  throw new CommandFailed('USAGE', `--events: ${wrong.slice(0, 40)} is none of ${EVENTS.join(', ')}`);
}

type Poster = (event: ListedEvent, body: string) => Promise<Posted | null>;

async function listening(session: Session, values: Values, flags: Flags, signal: AbortSignal): Promise<Exit> {
  const { profile } = session;
  const to = values['forward-to'];
  const target = to === undefined ? null : targetOf(to, session, values['allow-remote']);
  const poster = target === null ? null : posterOf(target, session, values, flags, signal);
  const wanted = wantedOf(values.events);
  let left = values.count === undefined ? Infinity : numberOf('count', values.count, 1);
  let filtered = 0;
  const kept = profile === null ? null : readKept(profile, KEPT, process.env)?.['last'];
  const handle: Following['handle'] = async (event) => {
    if (wanted !== null && !wanted.has(event.event)) filtered += 1;
    else {
      const posted = poster === null || event.body === null ? undefined : await poster(event, event.body);
      if (posted === null) return false;
      show(flags, event, posted);
      left -= 1;
    }
    if (profile !== null) writeKept(profile, KEPT, { last: event.id }, process.env);
    return left > 0;
  };
  const state: Following['state'] = (name, { caughtUp = 0, why = '' }) => {
    const more = [
      why,
      caughtUp > 0 ? `caught up ${caughtUp}` : '',
      filtered > 0 ? `${filtered} filtered` : '',
      name === 'ready' && target !== null ? `posting to ${target.href}` : '',
    ];
    note(flags, [name, ...more.filter((text) => text !== '')].join(', '));
  };
  await follow({ ...session, signal, last: typeof kept === 'string' ? kept : null, handle, state });
  return left <= 0 && !signal.aborted ? EXIT.done : EXIT.interrupted;
}

/** Posts again while nothing takes it: an event is never passed by. Null: interrupted. */
function posterOf(target: URL, session: Session, values: Values, flags: Flags, signal: AbortSignal): Poster {
  const secret = secretOf(values['secret-file'], session.profile, process.env);
  const timeoutMs = numberOf('timeout', values.timeout, 0) * 1_000;
  return async ({ id }, body) => {
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      try {
        const posted = await post(target, { id, body }, secret, { timeoutMs, signal });
        if (posted.how !== 'unreached') return posted;
        if (attempt === 0) note(flags, `waiting for ${target.href} (${posted.reason}): ${id} is next`);
        await delay(backoffMs(attempt, PAUSE, Math.random()), null, { signal });
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
    return null;
  };
}

/** `posted`: absent where it was only printed. */
function show(flags: Flags, { id, event, createdAt, body }: ListedEvent, posted: Posted | undefined): void {
  const parsed = body === null ? null : (JSON.parse(body) as { data?: unknown });
  if (flags.json) return answerLine({ id, event, createdAt, posted: posted ?? null, body: parsed });
  const became = posted === undefined ? JSON.stringify(parsed?.data ?? null) : becameOf(posted);
  const line = parsed === null ? 'its body is not kept: it is older than 30 days' : became;
  process.stdout.write(`${createdAt} ${event} ${id} ${line}\n`);
}

const becameOf = (posted: Posted): string =>
  posted.how === 'answered' ? `${posted.status} in ${posted.ms} ms` : posted.reason;
