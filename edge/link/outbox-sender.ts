/**
 * Sends the outbox: one batch of a kind in flight. The order within a lane is kept because nothing overtakes there; a
 * lane whose head does not leave holds nothing but itself.
 */
import { backoffMs, type Backoff } from '../../protocol/backoff.ts';
import { POISONED_AFTER_TRIES, type Outbox, type OutboxKind, type OutboxWrite } from './outbox.ts';
import { StorageFailed } from '../storage/failed.ts';

/**
 * `taken`   the cloud has it, or has decided about it for good
 * `held`    not now (no stream, no lease, cloud unreachable): tried again when something changes or after a pause
 * `refused` the cloud answered that it does not take this write; `all`: nor, it seems, any other of its kind
 */
export type Sent =
  | { readonly kind: 'taken' }
  | { readonly kind: 'held' }
  | { readonly kind: 'refused'; readonly code: string; readonly all?: boolean };

export interface OutboxRoute {
  /** Writes of this kind that leave together. */
  readonly batch: number;
  send(writes: readonly OutboxWrite[]): Promise<Sent>;
}

export interface OutboxSenderEvents {
  readonly onFault: (error: unknown) => void;
  /** A write was refused so often that an operator has to look; once for each write. */
  readonly onPoisoned?: (write: OutboxWrite, code: string) => void;
}

const PAUSES: Backoff = { firstMs: 250, mostMs: 15_000 };

export class OutboxSender {
  readonly #kinds: Readonly<Record<OutboxKind, KindSender>>;

  constructor(outbox: Outbox, routes: Readonly<Record<OutboxKind, OutboxRoute>>, events: OutboxSenderEvents) {
    this.#kinds = {
      attempt: new KindSender(outbox, 'attempt', routes.attempt, events),
      signed: new KindSender(outbox, 'signed', routes.signed, events),
    };
  }

  /**
   * Something changed: rows of this kind were appended; without a kind, the stream is up or the lease came. What was
   * refused keeps its pause.
   */
  nudge(kind?: OutboxKind): void {
    for (const sender of kind === undefined ? Object.values(this.#kinds) : [this.#kinds[kind]]) sender.nudge('held');
  }

  /** Tries all that waits; resolves when the queue is empty or cannot move now. */
  async idle(): Promise<void> {
    await Promise.all(Object.values(this.#kinds).map((sender) => sender.idle()));
  }

  async stop(): Promise<void> {
    await Promise.all(Object.values(this.#kinds).map((sender) => sender.stop()));
  }
}

/** A lane, or all of a kind, whose head did not leave. */
interface Pause {
  readonly why: 'held' | 'refused';
  readonly ms: number;
  readonly untilMs: number;
}

class KindSender {
  readonly #outbox: Outbox;
  readonly #kind: OutboxKind;
  readonly #route: OutboxRoute;
  readonly #events: OutboxSenderEvents;
  /** By lane; one whose head leaves, or that has none, is not in it. */
  readonly #paused = new Map<string, Pause>();
  #pausedAll: Pause | null = null;
  #running: Promise<void> | null = null;
  #wake: (() => void) | null = null;
  #again: 'held' | 'all' | null = null;
  #stopped = false;
  #waiting: (() => void)[] = [];

  constructor(outbox: Outbox, kind: OutboxKind, route: OutboxRoute, events: OutboxSenderEvents) {
    this.#outbox = outbox;
    this.#kind = kind;
    this.#route = route;
    this.#events = events;
  }

  nudge(what: 'held' | 'all'): void {
    if (this.#stopped) return;
    this.#again = this.#again === 'all' ? 'all' : what;
    this.#wake?.();
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
      if (this.#again !== null && !this.#stopped) this.nudge(this.#again);
    });
  }

  idle(): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    const idle = new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.nudge('all');
    return idle;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake?.();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      this.#cutShort();
      const waitMs = await this.#step().catch((error: unknown) => {
        this.#events.onFault(error);
        return (this.#pausedAll = paused('held', this.#pausedAll)).ms;
      });
      if (waitMs === null) break;
      if (waitMs === 0 || this.#again !== null) continue;
      this.#released();
      await this.#sleep(waitMs);
    }
    this.#released();
  }

  #released(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /**
   * What waits for something to change is ready: it has changed. The length of its next pause goes on from the last.
   */
  #cutShort(): void {
    if (this.#again === null) return;
    const isCut = ({ why }: Pause) => why === 'held' || this.#again === 'all';
    for (const [lane, pause] of this.#paused) if (isCut(pause)) this.#paused.set(lane, { ...pause, untilMs: 0 });
    if (this.#pausedAll !== null && isCut(this.#pausedAll)) this.#pausedAll = { ...this.#pausedAll, untilMs: 0 };
    this.#again = null;
  }

  /** Sends the head of one lane. Milliseconds to the next that is ready, 0 for at once; null when nothing waits. */
  async #step(): Promise<number | null> {
    const nowMs = performance.now();
    const fresh = this.#outbox.head(this.#kind, this.#route.batch, [...this.#paused.keys()]);
    const next = fresh.length > 0 ? null : this.#nextPaused();
    if (fresh.length === 0 && next === null) return null;
    const untilMs = Math.max(this.#pausedAll?.untilMs ?? 0, next?.untilMs ?? 0);
    if (untilMs > nowMs) return untilMs - nowMs;
    const batch = next === null ? fresh : this.#outbox.laneHead(this.#kind, next.lane, this.#route.batch);
    if (batch.length === 0) {
      this.#paused.delete(next!.lane);
      return 0;
    }
    await this.#send(batch);
    return 0;
  }

  #nextPaused(): { lane: string; untilMs: number } | null {
    let next: { lane: string; untilMs: number } | null = null;
    for (const [lane, { untilMs }] of this.#paused)
      if (next === null || untilMs < next.untilMs) next = { lane, untilMs };
    return next;
  }

  async #send(batch: readonly OutboxWrite[]): Promise<void> {
    const first = batch[0]!;
    // After a refusal writes go one at a time, so that the one that is not taken shows itself.
    const writes = first.tries > 0 ? [first] : batch;
    const sent = await this.#route.send(writes).catch((error: unknown): Sent => {
      this.#events.onFault(error);
      // A write that breaks its own route would hold its lane for ever without a word; a full disk is not its fault.
      return error instanceof StorageFailed ? { kind: 'held' } : { kind: 'refused', code: 'INTERNAL_ERROR' };
    });
    if (sent.kind === 'taken') {
      this.#outbox.taken(writes);
      this.#paused.delete(first.lane);
      this.#pausedAll = null;
      return;
    }
    this.#paused.set(first.lane, paused(sent.kind, this.#paused.get(first.lane) ?? null));
    if (sent.kind === 'held' || sent.all === true) this.#pausedAll = paused(sent.kind, this.#pausedAll);
    if (sent.kind !== 'refused') return;
    this.#outbox.refused(first, sent.code);
    if (first.tries + 1 === POISONED_AFTER_TRIES) this.#events.onPoisoned?.(first, sent.code);
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#wake?.(), Math.ceil(ms));
      this.#wake = () => {
        clearTimeout(timer);
        this.#wake = null;
        resolve();
      };
    });
  }
}

function paused(why: Pause['why'], before: Pause | null): Pause {
  const ms = before === null ? PAUSES.firstMs : backoffMs(1, { ...PAUSES, firstMs: before.ms });
  return { why, ms, untilMs: performance.now() + ms };
}
