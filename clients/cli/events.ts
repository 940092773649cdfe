/** `flock events` and `flock replay`. Fault 25. */
import { parseArgs } from 'node:util';
import type { Flags } from '../../protocol/node/commands.ts';
import { answer, answerLine, CommandFailed, EXIT, note, running, type Exit, type Running } from './answer.ts';
import { sessionOf, type Session } from './session.ts';
import { post, secretOf, targetOf } from './target.ts';

const ID = /^evt_[a-z2-7]{26}$/;
const TIMEOUT_MS = 30_000;
const SIZE_DEFAULT = '20';

export function events(args: readonly string[], flags: Flags): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    strict: true,
    allowPositionals: true,
    options: { since: { type: 'string' }, size: { type: 'string', default: SIZE_DEFAULT } },
  });
  return running(flags, async (run) => {
    const [id, ...more] = positionals;
    if (more.length > 0) throw new CommandFailed('USAGE', 'one id of an event, or none');
    const session = atCloud(sessionOf(flags, run));
    if (id !== undefined) {
      process.stdout.write(`${await bodyOf(session, id)}\n`);
      return;
    }
    const { since, size } = values;
    const asked = since === undefined ? { size: Number(size) } : { size: Number(size), since };
    const { content, hasMore } = await session.flock.listEvents(asked);
    for (const { body: _, ...event } of content)
      if (flags.json) answerLine(event);
      else process.stdout.write(`${event.createdAt} ${event.event} ${event.id}\n`);
    if (hasMore) note(flags, `there are more: --since ${content.at(-1)!.id}`);
  });
}

/** An edge has deliveries, and no list of events. */
function atCloud(session: Session): Session {
  if (!session.isEdge) return session;
  throw new CommandFailed('KEY_OF_OTHER_SIDE', 'events are read at the cloud: use a profile of the cloud');
}

/** The bytes that are signed. Throws: CommandFailed, FlockError. */
async function bodyOf({ flock }: Session, id: string): Promise<string> {
  const { body } = await flock.getEvent({ id: eventId(id) });
  if (body !== null) return body;
  throw new CommandFailed('EVENT_BODY_PAST', `${id} is older than 30 days: its body is not kept`, EXIT.failed);
}

function eventId(text: string): string {
  if (ID.test(text)) return text;
  throw new CommandFailed('USAGE', 'the id of an event begins with evt_');
}

export function replay(args: readonly string[], flags: Flags): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    strict: true,
    allowPositionals: true,
    options: {
      from: { type: 'string' },
      to: { type: 'string' },
      send: { type: 'boolean', default: false },
      'secret-file': { type: 'string' },
      'allow-remote': { type: 'boolean', default: false },
    },
  });
  return running(flags, async (run): Promise<Exit | void> => {
    const [id, ...more] = positionals;
    const { from, to, send } = values;
    if (more.length > 0 || (id === undefined) === (from === undefined))
      throw new CommandFailed('USAGE', 'either the id of an event, or --from TIME --to TIME');
    const session = sessionOf(flags, run);
    if (id === undefined) return ofTime(session, from!, to, send, flags);
    if (to === undefined) return again(atCloud(session), id, flags);
    const target = targetOf(to, session, values['allow-remote']);
    const secret = secretOf(values['secret-file'], session.profile, process.env);
    return posting(atCloud(session), id, target, secret, flags, run);
  });
}

async function posting(session: Session, id: string, target: URL, secret: string, flags: Flags, run: Running) {
  const body = await bodyOf(session, id);
  const posted = await post(target, { id, body }, secret, { timeoutMs: TIMEOUT_MS, signal: run.signal });
  answer(flags, { id, ...posted }, `${id} ${posted.how === 'answered' ? posted.status : posted.reason}`);
  if (posted.how !== 'answered') return posted.how === 'unreached' ? EXIT.unreachable : EXIT.timedOut;
  return posted.status >= 200 && posted.status < 300 ? EXIT.done : EXIT.failed;
}

/** Once more to every endpoint that it was for. */
async function again({ flock }: Session, id: string, flags: Flags): Promise<Exit> {
  const { deliveries } = await flock.getEvent({ id: eventId(id) });
  const newest = new Map(deliveries.toReversed().map((delivery) => [delivery.webhookId, delivery.id]));
  if (newest.size === 0)
    throw new CommandFailed('NO_DELIVERY', `${id} was for no endpoint: --to URL posts it to one`, EXIT.failed);
  for (const delivery of newest.values()) {
    const made = await flock.replayDelivery({ id: delivery });
    answer(flags, made, made.deliveryId);
  }
  return EXIT.done;
}

/** Counts first: nothing is sent without `--send`. */
async function ofTime({ flock }: Session, from: string, to: string | undefined, send: boolean, flags: Flags) {
  if (to === undefined) throw new CommandFailed('USAGE', '--from needs --to: instants as 2026-01-31T12:00:00Z');
  const counted = await flock.replayDeliveries({ from, to, dryRun: true });
  if (!send) {
    note(flags, `nothing was sent: with --send ${counted.count} deliveries go out again`);
    return answer(flags, counted, `${counted.count} deliveries`);
  }
  const sent = await flock.replayDeliveries({ from, to, dryRun: false });
  answer(flags, sent, `${sent.replayed} of ${sent.count} deliveries`);
}
