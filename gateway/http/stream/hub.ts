/**
 * Everybody who listens to what happens in accounts: one look a second for all of them, and none while nobody listens.
 * What a listener costs is bounded: it holds a place of three numbers, and at most UNREAD_BYTES_MAX that it did not
 * read; one that reads too slowly has to read everything again, and one that reads nothing is let go. Console C13,
 * C14.
 *
 *   open ──look──▶ open: hints, or a comment after 15 quiet seconds
 *   open ──unread bytes──▶ behind ──it has read them──▶ open: `resync`
 *   behind ──STUCK_MS──▶ let go      open, behind ──its login or key is over, the node stops──▶ ended
 */
import { Readable } from 'node:stream';
import type { Logger } from 'pino';
import type { AccountMoves, AccountPlace, ChangeStore } from '../../../model/ports/change-store.ts';
import { organizationOf, type AccountId } from '../../../protocol/ids.ts';
import { statusOf, statusOfAction, topicOf, topicOfAction } from './topics.ts';
import { createLooks } from './looks.ts';

const LOOK_MS = 1_000;
/** A line without meaning, so that no proxy takes a quiet stream for a dead one. */
const COMMENT_MS = 15_000;
/** Events and entries of one account that are sent one by one; behind more, everything is read again. */
export const SENT_MAX = 200;
/** Accounts of one statement. */
const ACCOUNTS_AT_ONCE = 500;
const UNREAD_BYTES_MAX = 32_768;
/** A listener that has not read what it was sent for so long holds no socket. */
const STUCK_MS = 30_000;
/** How often a credential is asked for again: below the 15 s of console A13, with the look that ends the stream. */
const CHECK_MS = 10_000;

export const STREAMS_OF_USER_MAX = 5;
export const STREAMS_OF_ACCOUNT_MAX = 20;
export const STREAMS_OF_NODE_MAX = 10_000;
export type Full = 'user' | 'account' | 'node';

export interface Listening {
  readonly accountId: AccountId;
  /** Whose streams are counted together: a user, or an API key. */
  readonly who: string;
  /** What is of the organization's people is sent to its people alone, not to keys, nor to staff. */
  readonly isPerson: boolean;
  /** The place that the caller had; null for one that begins, or whose place is none. */
  readonly place: AccountPlace | null;
  /** Whether the listener may still listen, asked anew: another node may have ended it. */
  stillGood(): Promise<boolean>;
}

export interface Hub {
  /** A stream of text, which ends when its reader goes. */
  listen(listening: Listening): Promise<Readable | Full>;
  /** A login, role or key of a user or an organization changed here: its streams are looked at within a second. */
  doubt(userOrOrganization: string): void;
}

interface Stream extends Listening {
  readonly out: Readable;
  place: AccountPlace;
  /** Since when it does not read; null while it does. */
  behindSinceMs: number | null;
  saidAtMs: number;
  /** When its credential was good; null where that is in doubt. */
  goodAtMs: number | null;
}

export const BEGINNING: AccountPlace = { version: 0, delivery: 0, entry: 0 };

/** `12-3-4` as an id of the stream; null for any other text. */
export function placeOf(text: string | undefined): AccountPlace | null {
  const found = /^(\d{1,15})-(\d{1,15})-(\d{1,15})$/.exec(text ?? '');
  return found === null ? null : { version: Number(found[1]), delivery: Number(found[2]), entry: Number(found[3]) };
}
const idOf = ({ version, delivery, entry }: AccountPlace): string => `${version}-${delivery}-${entry}`;

const frame = (place: AccountPlace, topic: string, id: string | null, status: string): string =>
  `id: ${idOf(place)}\nevent: ${topic}\ndata: ${JSON.stringify({ id, status })}\n\n`;

/** What one account has for a listener at `place`; several changes of one thing are one hint. */
export function hintsOf(moves: AccountMoves, place: AccountPlace, isPerson: boolean): string {
  const resync = (): string => frame(moves, 'resync', null, 'behind');
  const behind = [moves.version - place.version, moves.delivery - place.delivery, moves.entry - place.entry] as const;
  // A place that was never reached is of another database: nothing is known of what is between.
  if (behind.some((by) => by < 0) || behind[0] > SENT_MAX || behind[2] > SENT_MAX) return resync();
  const hints = new Map<string, readonly [string, string | null, string]>();
  const add = (topic: string, id: string | null, status: string): void => {
    hints.delete(`${topic} ${id}`);
    hints.set(`${topic} ${id}`, [topic, id, status]);
  };
  for (const [version, type, subject] of moves.events) {
    if (version <= place.version) continue;
    const topic = topicOf(type);
    if (topic === null) return resync();
    add(topic, subject, statusOf(type));
  }
  if (behind[1] > 0) add('delivery', null, 'attempted');
  for (const [entry, action, target] of isPerson ? moves.entries : []) {
    const topic = topicOfAction(action);
    if (entry > place.entry && topic !== null) add(topic, target, statusOfAction(action));
  }
  return [...hints.values()].map(([topic, id, status]) => frame(moves, topic, id, status)).join('');
}

export function createHub({
  store,
  isDraining,
  log,
  observe = () => undefined,
  elapsedMs = () => performance.now(),
}: {
  store: Pick<ChangeStore, 'since'>;
  isDraining: () => boolean;
  log: Pick<Logger, 'warn'>;
  /** How many listen now. */
  observe?: (streams: number) => void;
  elapsedMs?: () => number;
}): Hub & { look(): Promise<void> } {
  const streams = new Set<Stream>();

  const forget = (stream: Stream): void => {
    if (streams.delete(stream)) observe(streams.size);
  };
  const end = (stream: Stream): void => {
    forget(stream);
    if (!stream.out.destroyed) stream.out.push(null);
  };
  const say = (stream: Stream, text: string): void => {
    stream.saidAtMs = elapsedMs();
    stream.out.push(text);
  };

  /** The place of the furthest behind of those who listen to an account. */
  function placesOf(): Map<AccountId, AccountPlace> {
    const places = new Map<AccountId, AccountPlace>();
    for (const { accountId, place, behindSinceMs } of streams) {
      if (behindSinceMs !== null) continue;
      const known = places.get(accountId) ?? place;
      places.set(accountId, {
        version: Math.min(known.version, place.version),
        delivery: Math.min(known.delivery, place.delivery),
        entry: Math.min(known.entry, place.entry),
      });
    }
    return places;
  }

  async function movesOf(places: ReadonlyMap<AccountId, AccountPlace>): Promise<Map<AccountId, AccountMoves>> {
    const all = [...places];
    const moves = new Map<AccountId, AccountMoves>();
    for (let from = 0; from < all.length; from += ACCOUNTS_AT_ONCE) {
      const some = await store.since(new Map(all.slice(from, from + ACCOUNTS_AT_ONCE)), SENT_MAX);
      for (const one of some) moves.set(one.accountId, one);
    }
    return moves;
  }

  /** One that does not read gets nothing, and its place is not kept: it reads everything when it is back. */
  function isBehind(stream: Stream): boolean {
    const unread = stream.out.readableLength;
    if (stream.behindSinceMs === null) {
      if (unread <= UNREAD_BYTES_MAX) return false;
      stream.behindSinceMs = elapsedMs();
      return true;
    }
    if (unread > 0) {
      if (elapsedMs() - stream.behindSinceMs < STUCK_MS) return true;
      forget(stream);
      stream.out.destroy();
      return true;
    }
    stream.behindSinceMs = null;
    stream.place = BEGINNING;
    return false;
  }

  function send(stream: Stream, moves: AccountMoves | undefined): void {
    if (moves !== undefined) {
      const hints = hintsOf(moves, stream.place, stream.isPerson);
      stream.place = { version: moves.version, delivery: moves.delivery, entry: moves.entry };
      if (hints !== '') return say(stream, hints);
    }
    if (elapsedMs() - stream.saidAtMs >= COMMENT_MS) say(stream, ': here\n\n');
  }

  async function look(): Promise<void> {
    if (isDraining()) return streams.forEach(end);
    const unasked: unknown[] = [];
    await Promise.all(
      [...streams].map(async (stream) => {
        const nowMs = elapsedMs();
        if (stream.goodAtMs !== null && nowMs - stream.goodAtMs < CHECK_MS) return;
        stream.goodAtMs = nowMs; // from before the question: a doubt that comes meanwhile stays one
        try {
          if (!(await stream.stillGood())) end(stream);
        } catch (error) {
          stream.goodAtMs = null; // not known: it is sent nothing until the answer is there
          unasked.push(error);
        }
      }),
    );
    const listening = [...streams].filter((stream) => !isBehind(stream) && stream.goodAtMs !== null);
    const moves = await movesOf(placesOf());
    // One that came meanwhile was read for by itself.
    for (const stream of listening) if (streams.has(stream)) send(stream, moves.get(stream.accountId));
    if (unasked.length > 0) throw unasked[0];
  }

  const looks = createLooks({
    look,
    isHeard: () => streams.size > 0,
    everyMs: LOOK_MS,
    log,
    failure: 'what happened in accounts could not be sent',
  });

  /** Why a stream more would be one too many; null where it is none. */
  function fullFor({ accountId, who }: Pick<Listening, 'accountId' | 'who'>): Full | null {
    if (streams.size >= STREAMS_OF_NODE_MAX) return 'node';
    let ofAccount = 0,
      ofWho = 0;
    for (const stream of streams) {
      if (stream.who === who) ofWho += 1;
      if (stream.accountId === accountId) ofAccount += 1;
    }
    return ofWho >= STREAMS_OF_USER_MAX ? 'user' : ofAccount >= STREAMS_OF_ACCOUNT_MAX ? 'account' : null;
  }

  return {
    look,
    doubt(id) {
      for (const stream of streams)
        if (stream.who === id || organizationOf(stream.accountId) === id) stream.goodAtMs = null;
    },
    async listen(listening) {
      const { accountId, isPerson, place } = listening;
      const from = place ?? BEGINNING;
      const moves = (await movesOf(new Map([[accountId, from]]))).get(accountId) ?? {
        accountId,
        ...from,
        events: [],
        entries: [],
      };
      const full = fullFor(listening);
      if (full !== null) return full;
      const out = new Readable({ read: () => undefined, highWaterMark: UNREAD_BYTES_MAX });
      const { version, delivery, entry } = moves;
      const stream: Stream = {
        ...listening,
        out,
        place: { version, delivery, entry },
        behindSinceMs: null,
        saidAtMs: elapsedMs(),
        goodAtMs: null, // what let it in may be remembered from before its end: the first look asks anew
      };
      out.once('close', () => forget(stream));
      streams.add(stream);
      observe(streams.size);
      // At once, so that the head of the answer leaves, and who comes back gets what it missed.
      say(stream, frame(moves, 'open', null, 'open') + (place === null ? '' : hintsOf(moves, place, isPerson)));
      looks.begin();
      return out;
    },
  };
}
