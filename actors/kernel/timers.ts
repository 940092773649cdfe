/** Time as a port, timers that have an owner, and deadlines that cost no timer each. */

export type TimerHandle = unknown;

/** The kernel's only source of time. A simulator turns it by hand. */
export interface Clock {
  /** Wall clock, epoch milliseconds: passed to `decide`. May step. */
  nowMs(): number;
  /** Monotonic milliseconds: what deadlines, backoff and idleness are measured with. */
  elapsedMs(): number;
  setTimer(delayMs: number, fire: () => void): TimerHandle;
  clearTimer(handle: TimerHandle): void;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  elapsedMs: () => performance.now(),
  setTimer: (delayMs, fire) => setTimeout(fire, delayMs),
  clearTimer: (handle) => clearTimeout(handle as NodeJS.Timeout),
};

/** A longer delay wraps in Node and fires at once. Source: Node's timers documentation, TIMEOUT_MAX. */
const SLICE_MS_MAX = 2_147_483_647;

/** Live timers of one owner; a worker that arms more has a leak. */
const TIMERS_PER_OWNER_MAX = 1_000;

/** Timers of one owner: cancelled together when it restarts or stops. What a callback throws goes to `onThrow`. */
export class OwnedTimers {
  readonly #clock: Clock;
  readonly #onThrow: (error: unknown) => void;
  readonly #live = new Map<number, TimerHandle>();
  #nextId = 1;

  constructor(clock: Clock, onThrow: (error: unknown) => void) {
    this.#clock = clock;
    this.#onThrow = onThrow;
  }

  get count(): number {
    return this.#live.size;
  }

  /**
   * Calls back once after `delayMs`, however long that is; returns how to cancel it. Throws: RangeError on too many.
   */
  after(delayMs: number, fire: () => void): () => void {
    if (!(delayMs >= 0)) throw new RangeError(`delayMs expected a number from 0, got ${delayMs}`);
    if (this.#live.size >= TIMERS_PER_OWNER_MAX) throw new RangeError(`more than ${TIMERS_PER_OWNER_MAX} timers`);
    const id = this.#nextId++;
    this.#arm(id, this.#clock.elapsedMs() + delayMs, fire);
    return () => this.#cancel(id);
  }

  cancelAll(): void {
    for (const handle of this.#live.values()) this.#clock.clearTimer(handle);
    this.#live.clear();
  }

  #arm(id: number, dueMs: number, fire: () => void): void {
    const leftMs = Math.max(0, dueMs - this.#clock.elapsedMs());
    this.#live.set(
      id,
      this.#clock.setTimer(Math.min(leftMs, SLICE_MS_MAX), () => {
        if (leftMs > SLICE_MS_MAX) return this.#arm(id, dueMs, fire);
        this.#live.delete(id);
        try {
          fire();
        } catch (error) {
          this.#onThrow(error);
        }
      }),
    );
  }

  #cancel(id: number): void {
    const handle = this.#live.get(id);
    if (handle === undefined) return;
    this.#clock.clearTimer(handle);
    this.#live.delete(id);
  }
}

/** Something with a deadline. `bucket` is where it waits, for a cheap removal. */
export interface Expirable {
  bucket: Set<Expirable> | null;
  expire(): void;
}

/** Deadlines are met up to this much late, so that asks of the same instant share one timer. */
const DEADLINE_GRAIN_MS = 50;

/** Deadlines in buckets of DEADLINE_GRAIN_MS: one timer a bucket, not one an ask. Never early. */
export class Deadlines {
  readonly #clock: Clock;
  readonly #buckets = new Map<number, { members: Set<Expirable>; timer: TimerHandle }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(waiting: Expirable, timeoutMs: number): void {
    const nowMs = this.#clock.elapsedMs();
    const slot = Math.ceil((nowMs + timeoutMs) / DEADLINE_GRAIN_MS);
    let bucket = this.#buckets.get(slot);
    if (bucket === undefined) {
      const timer = this.#clock.setTimer(slot * DEADLINE_GRAIN_MS - nowMs, () => this.#fire(slot));
      bucket = { members: new Set(), timer };
      this.#buckets.set(slot, bucket);
    }
    bucket.members.add(waiting);
    waiting.bucket = bucket.members;
  }

  /** The promise's outcome, or a rejection with `error()` after `timeoutMs`; what comes later is dropped. */
  bound<T>(work: Promise<T>, timeoutMs: number, error: () => Error): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiting: Expirable = { bucket: null, expire: () => reject(error()) };
      this.add(waiting, timeoutMs);
      work.then(resolve, reject).finally(() => waiting.bucket?.delete(waiting));
    });
  }

  /** Forgets every deadline without meeting it. */
  clear(): void {
    for (const bucket of this.#buckets.values()) this.#clock.clearTimer(bucket.timer);
    this.#buckets.clear();
  }

  #fire(slot: number): void {
    const bucket = this.#buckets.get(slot);
    this.#buckets.delete(slot);
    for (const waiting of bucket?.members ?? []) waiting.expire();
  }
}
