/**
 * The events of an account in their order, without a gap. The stream says that something happened; what happened is
 * read from the list of events behind the last one that was handled, so that a stream that was cut, frozen or silent
 * loses nothing. X29, X30.
 *
 *   reconnecting ──the stream opens, and all behind the last one was handled──▶ ready
 *   ready ──a hint──▶ reads and handles what is behind the last one ──▶ ready
 *   ready ──cut, or silent for SILENCE_MS──▶ reconnecting, after a pause
 *   any ──the last one is not known to the service──▶ gap: goes on from the first one where a sandbox was reset
 *         meanwhile, from the newest one where that was before
 */
import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs } from '../../protocol/backoff.ts';
import { readHints, type Hint } from '../../protocol/stream.ts';
import { isFlockError, type Flock } from '../typescript/src/index.ts';

export type ListedEvent = Awaited<ReturnType<Flock['listEvents']>>['content'][number];

export interface Following {
  readonly url: string;
  readonly apiKey: string;
  readonly flock: Pick<Flock, 'listEvents'>;
  readonly signal: AbortSignal;
  /** The event that was handled last; null begins behind the newest one. */
  readonly last: string | null;
  /** One event; the next one comes when it is done. False ends the following. */
  handle(event: ListedEvent): Promise<boolean>;
  /** What the connection is. `caughtUp`: events that were handled before it was ready. */
  state(state: 'ready' | 'reconnecting' | 'gap', detail: { caughtUp?: number; why?: string }): void;
  readonly silenceMs?: number;
}

/** A quiet stream has a comment every 15 s. */
const SILENCE_MS = 30_000;
const PAUSE = { firstMs: 500, mostMs: 8_000, jitterPercent: 50 };
const PAGE = 100;
/** Nothing is published with these. */
const WITHOUT_EVENTS: ReadonlySet<string> = new Set<Hint['topic']>(['delivery', 'member', 'key', 'webhook']);

/** Handles what is behind the last event: how many there were; null when there should be no more. */
type CatchUp = () => Promise<number | null>;

/** Ends when the signal is aborted or `handle` wants no more. Throws: FlockError where the service refuses. */
export async function follow(following: Following): Promise<void> {
  const { signal, state } = following;
  const catchUp = catchUpOf(following);
  let failures = 0;
  while (!signal.aborted) {
    const ready = (caughtUp: number): void => {
      failures = 0;
      state('ready', { caughtUp });
    };
    try {
      if (await listenOnce(following, catchUp, ready)) return;
    } catch (error) {
      if (signal.aborted) return;
      if (!isPassing(error)) throw error;
    }
    failures += 1;
    await delay(backoffMs(failures - 1, PAUSE, Math.random()), null, { signal }).catch(() => undefined);
  }
}

function catchUpOf(following: Following): CatchUp {
  const { flock, signal, state, handle } = following;
  let { last } = following;
  /** Whether the service knew a place: then all that it has behind a reset is new. */
  let isKnown = false;
  return async () => {
    last ??= await newest(flock);
    for (let handled = 0; ;) {
      const page = await behind(flock, last);
      if (page === null) {
        state('gap', { why: `the service does not know ${last}: the sandbox was reset, or it is another account` });
        last = isKnown ? 'start' : await newest(flock);
        continue;
      }
      isKnown = true;
      for (const event of page.content) {
        if (signal.aborted) return null;
        const wantsMore = await handle(event);
        if (signal.aborted || !wantsMore) return null;
        last = event.id;
        handled += 1;
      }
      if (!page.hasMore) return handled;
    }
  };
}

/** Before the first event there is `start`. */
async function newest(flock: Following['flock']): Promise<string> {
  const { content } = await flock.listEvents({ size: 1 });
  return content[0]?.id ?? 'start';
}

async function behind(flock: Following['flock'], since: string) {
  try {
    return await flock.listEvents({ since, size: PAGE });
  } catch (error) {
    if (isFlockError(error, 'NOT_FOUND')) return null;
    throw error;
  }
}

/** What may be over after a while. */
const isPassing = (error: unknown): boolean =>
  isFlockError(error) &&
  (error.status === 429 || error.status >= 500 || error.code === 'CLIENT_TIMEOUT' || error.code === 'CLIENT_NETWORK');

/** Runs `catchUp` as often as it is woken, one at a time. */
class Worker {
  private isMore = false;
  private work: Promise<void> | null = null;
  private fault: { readonly error: unknown } | null = null;
  isOver = false;

  get isFaulty(): boolean {
    return this.fault !== null;
  }

  private readonly catchUp: CatchUp;
  private readonly done: (handled: number) => void;
  private readonly stop: AbortController;

  constructor(catchUp: CatchUp, done: (handled: number) => void, stop: AbortController) {
    this.catchUp = catchUp;
    this.done = done;
    this.stop = stop;
  }

  wake(): void {
    this.isMore = true;
    this.work ??= this.run().finally(() => {
      this.work = null;
    });
  }

  private async run(): Promise<void> {
    try {
      while (this.isMore && !this.stop.signal.aborted) {
        this.isMore = false;
        const handled = await this.catchUp();
        if (handled === null) {
          this.isOver = true;
          this.stop.abort();
        } else if (!this.stop.signal.aborted) this.done(handled);
      }
    } catch (error) {
      this.fault = { error };
      this.stop.abort();
    }
  }

  /** Throws what `catchUp` threw. */
  async settled(): Promise<void> {
    await this.work;
    if (this.fault !== null) throw this.fault.error;
  }
}

/** One connection, until it is cut and what was being handled is done. True when there should be no more. */
async function listenOnce(
  { url, apiKey, signal, state, silenceMs = SILENCE_MS }: Following,
  catchUp: CatchUp,
  ready: (caughtUp: number) => void,
): Promise<boolean> {
  const cut = new AbortController();
  let isSilent = false,
    isReady = false,
    why = 'ended';
  const silent = (): void => {
    isSilent = true;
    cut.abort();
  };
  const worker = new Worker(
    catchUp,
    (handled) => {
      if (!isReady) ready(handled);
      isReady = true;
    },
    cut,
  );
  const opening = setTimeout(silent, silenceMs);
  try {
    const response = await fetch(`${url.replace(/\/+$/, '')}/v1/stream`, {
      headers: { 'x-api-key': apiKey, accept: 'text/event-stream' },
      redirect: 'manual',
      signal: AbortSignal.any([signal, cut.signal]),
    });
    clearTimeout(opening);
    if (response.ok && response.body !== null) {
      const hear = ({ topic }: Hint): void => (WITHOUT_EVENTS.has(topic) ? undefined : worker.wake());
      await readHints(response.body, hear, silent, silenceMs);
    } else {
      why = `status ${response.status}`;
      await response.body?.cancel();
      // A key that is not taken is said by the list, with its code. It is not ready by that.
      isReady = true;
      worker.wake();
    }
  } catch {
    why = isSilent ? 'silent' : worker.isFaulty ? 'events are not read' : 'lost';
  } finally {
    clearTimeout(opening);
  }
  if (!worker.isOver && !signal.aborted) state('reconnecting', { why });
  // What is being handled is finished first: the next connection goes on behind it.
  await worker.settled();
  return worker.isOver || signal.aborted;
}
