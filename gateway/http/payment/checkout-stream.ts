/**
 * Open pages of payers: each is sent its payment as it changes. Two questions a second for all pages of this node, and
 * none while nobody listens. What a page costs is bounded: one that reads too slowly is sent nothing until it has read,
 * and one that reads nothing is let go. Each is ended after some minutes and comes again, so that what is asked at its
 * beginning (origin, rates) is asked anew. payments H7, S20.
 *
 *   open ──look──▶ open: the whole view after each change, or a comment after 20 quiet seconds
 *   open ──LIFE_MS, the payment is gone, the node stops──▶ ended
 *   open ──UNREAD_BYTES_MAX for STUCK_MS──▶ let go
 */
import { Readable } from 'node:stream';
import type { Logger } from 'pino';
import type { ChangeStore } from '../../../model/ports/change-store.ts';
import { refuse, type Refusal } from '../../../protocol/errors.ts';
import type { Environment } from '../../../protocol/slugs.ts';
import { createLooks } from '../stream/looks.ts';

/** Half of what a payer may wait for at most (payments B5). */
const LOOK_MS = 500;
/** When a page whose stream broke asks for another. */
const RETRY_MS = 1_000;
/** A line without meaning, so that no proxy takes a quiet stream for a dead one. */
const COMMENT_MS = 20_000;
const LIFE_MS = 600_000;
const STUCK_MS = 30_000;
const UNREAD_BYTES_MAX = 32_768;
/** Payments of one statement, and views that are read at once. */
const PAYMENTS_AT_ONCE = 500,
  VIEWS_AT_ONCE = 8;

/** Pages of a node, where CHECKOUT_STREAMS_MAX says nothing. */
export const STREAMS_MAX = 5_000;
const STREAMS_OF_CLIENT = 12,
  STREAMS_OF_PAYMENT = 100;
/** A sandbox is for trying, in loops too. S20. */
const SANDBOX_TIMES = 100;
/** When a page may ask for a stream again; it asks from time to time meanwhile. Seconds. */
const AGAIN_SECONDS = 15;

export interface Following {
  readonly paymentId: string;
  readonly client: string;
  readonly environment: Environment;
  /** The mark that the page has seen last; null for one that begins. */
  readonly seen: string | null;
}

export interface CheckoutStreams {
  /** A stream of text, which ends when its reader goes. Refuses: RATE_LIMIT_EXCEEDED, SERVICE_UNAVAILABLE. */
  follow(following: Following): Promise<Readable | Refusal>;
}

interface Stream extends Following {
  readonly out: Readable;
  readonly openedAtMs: number;
  shown: string | null;
  saidAtMs: number;
  /** Since when it does not read; null while it does. */
  behindSinceMs: number | null;
}

/** As `Last-Event-ID` has it. */
export const MARK_FORM = /^[0-9a-f.]{1,64}$/;

export function createCheckoutStreams({
  marks,
  viewOf,
  isDraining,
  log,
  most = STREAMS_MAX,
  observe = () => undefined,
  elapsedMs = () => performance.now(),
}: {
  marks: ChangeStore['paymentMarks'];
  /** What a payer sees of a payment now; null where there is none. */
  viewOf(paymentId: string): Promise<object | null>;
  isDraining: () => boolean;
  log: Pick<Logger, 'warn'>;
  most?: number;
  /** How many are open now. */
  observe?: (streams: number) => void;
  elapsedMs?: () => number;
}): CheckoutStreams & { look(): Promise<void> } {
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

  async function marksOf(ids: readonly string[]): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for (let from = 0; from < ids.length; from += PAYMENTS_AT_ONCE)
      for (const { id, mark } of await marks(ids.slice(from, from + PAYMENTS_AT_ONCE))) found.set(id, mark);
    return found;
  }

  /** One that does not read is sent nothing: what it gets when it is back is all there is. */
  function isBehind(stream: Stream): boolean {
    if (stream.out.readableLength <= (stream.behindSinceMs === null ? UNREAD_BYTES_MAX : 0)) {
      stream.behindSinceMs = null;
      return false;
    }
    stream.behindSinceMs ??= elapsedMs();
    if (elapsedMs() - stream.behindSinceMs >= STUCK_MS) {
      forget(stream);
      stream.out.destroy();
    }
    return true;
  }

  /** The same to all who look at a payment. */
  async function show(paymentId: string, mark: string, to: readonly Stream[]): Promise<void> {
    const view = await viewOf(paymentId);
    for (const stream of to) {
      if (!streams.has(stream)) continue;
      if (view === null) end(stream);
      else {
        stream.shown = mark;
        say(stream, `id: ${mark}\ndata: ${JSON.stringify(view)}\n\n`);
      }
    }
  }

  async function look(): Promise<void> {
    if (isDraining()) return streams.forEach(end);
    const listening = [...streams].filter((stream) => !isBehind(stream)),
      found = await marksOf([...new Set(listening.map(({ paymentId }) => paymentId))]);
    const changed = new Map<string, Stream[]>();
    for (const stream of listening) {
      const mark = found.get(stream.paymentId);
      if (mark === undefined || elapsedMs() - stream.openedAtMs >= LIFE_MS) end(stream);
      else if (mark !== stream.shown) changed.set(stream.paymentId, [...(changed.get(stream.paymentId) ?? []), stream]);
      else if (elapsedMs() - stream.saidAtMs >= COMMENT_MS) say(stream, ': here\n\n');
    }
    const waiting = [...changed];
    await Promise.all(
      Array.from({ length: VIEWS_AT_ONCE }, async () => {
        for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
          await show(next[0], found.get(next[0])!, next[1]);
      }),
    );
  }

  const looks = createLooks({
    look,
    isHeard: () => streams.size > 0,
    everyMs: LOOK_MS,
    log,
    failure: 'open pages of payers could not be sent what changed',
  });

  /** Why a page more would be one too many; null where it is none. */
  function full({ paymentId, client, environment }: Following): Refusal | null {
    if (streams.size >= most)
      return refuse('SERVICE_UNAVAILABLE', { reason: 'streams_of_node', retryAfterSeconds: AGAIN_SECONDS });
    let ofClient = 0,
      ofPayment = 0;
    for (const stream of streams) {
      if (stream.client === client) ofClient += 1;
      if (stream.paymentId === paymentId) ofPayment += 1;
    }
    const limit = STREAMS_OF_CLIENT * (environment === 'sandbox' ? SANDBOX_TIMES : 1);
    const over = (of: string, at: number): Refusal =>
      refuse(
        'RATE_LIMIT_EXCEEDED',
        { limit: at, retryAfterSeconds: AGAIN_SECONDS },
        `${of} has ${at} open streams at this node: close one, or ask from time to time`,
      );
    if (ofClient >= limit) return over('this address', limit);
    return ofPayment >= STREAMS_OF_PAYMENT ? over('this payment', STREAMS_OF_PAYMENT) : null;
  }

  return {
    look,
    async follow(following) {
      const no = full(following);
      if (no !== null) return no;
      const out = new Readable({ read: () => undefined, highWaterMark: UNREAD_BYTES_MAX });
      const stream: Stream = {
        ...following,
        out,
        openedAtMs: elapsedMs(),
        shown: following.seen,
        saidAtMs: elapsedMs(),
        behindSinceMs: null,
      };
      out.once('close', () => forget(stream));
      streams.add(stream); // counted from here on, while its first view is read
      observe(streams.size);
      say(stream, `retry: ${RETRY_MS}\n\n`); // at once, so that the head of the answer leaves
      try {
        const mark = (await marksOf([following.paymentId])).get(following.paymentId);
        if (mark === undefined) end(stream);
        else if (mark !== stream.shown) await show(following.paymentId, mark, [stream]);
      } catch (error) {
        forget(stream);
        out.destroy();
        throw error;
      }
      looks.begin();
      return out;
    },
  };
}
