/** Sends the outbox, oldest first, one batch in flight: order is kept because nothing overtakes. */
import type { Outbox, OutboxKind, OutboxWrite } from './outbox.ts';
import { StorageFailed } from '../storage/storage.ts';

/**
 * `taken`   the cloud has it, or has decided about it for good
 * `held`    not now (no stream, no lease, cloud unreachable): tried again when something changes or after a pause
 * `refused` the cloud answered that it does not take this content
 */
export type Sent = { readonly kind: 'taken' } | { readonly kind: 'held' } | { readonly kind: 'refused'; readonly code: string };

export interface OutboxRoute {
  /** Writes of this kind that leave together. */
  readonly batch: number;
  send(writes: readonly OutboxWrite[]): Promise<Sent>;
}

const PAUSE_MS_FIRST = 250;
const PAUSE_MS_MAX = 15_000;

export class OutboxSender {
  readonly #outbox: Outbox;
  readonly #routes: Readonly<Record<OutboxKind, OutboxRoute>>;
  readonly #onFault: (error: unknown) => void;
  #running: Promise<void> | null = null;
  #wake: (() => void) | null = null;
  #again = false;
  #stopped = false;
  #waiting: (() => void)[] = [];

  constructor(outbox: Outbox, routes: Readonly<Record<OutboxKind, OutboxRoute>>, onFault: (error: unknown) => void) {
    this.#outbox = outbox;
    this.#routes = routes;
    this.#onFault = onFault;
  }

  /** Something changed: rows were appended, the stream is up, the lease came. */
  nudge(): void {
    if (this.#stopped) return;
    this.#again = true;
    this.#wake?.();
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
      if (this.#again && !this.#stopped) this.nudge();
    });
  }

  /** Resolves when the queue is empty or cannot move now. */
  idle(): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    const idle = new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.nudge();
    return idle;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake?.();
    await this.#running;
  }

  async #run(): Promise<void> {
    await this.#sendAll();
    this.#released();
  }

  #released(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  async #sendAll(): Promise<void> {
    for (let pauseMs = PAUSE_MS_FIRST; !this.#stopped;) {
      this.#again = false;
      const moved = await this.#sendHead().catch((error: unknown) => {
        this.#onFault(error);
        return false;
      });
      if (moved === null) return;
      if (moved) {
        pauseMs = PAUSE_MS_FIRST;
        continue;
      }
      if (!this.#again) {
        this.#released();
        await this.#pause(pauseMs);
      }
      pauseMs = Math.min(PAUSE_MS_MAX, pauseMs * 2);
    }
  }

  /** True when the head left, false when it stays, null when nothing waits. */
  async #sendHead(): Promise<boolean | null> {
    const [first] = this.#outbox.head(1);
    if (first === undefined) return null;
    const route = this.#routes[first.kind];
    // After a refusal writes go one at a time, so that the one that is not taken shows itself.
    const writes = first.tries > 0 ? [first] : this.#outbox.head(route.batch);
    const sent = await route.send(writes).catch((error: unknown): Sent => {
      this.#onFault(error);
      // A write that breaks its own route would hold the queue for ever without a word; a full disk is not its fault.
      return error instanceof StorageFailed ? { kind: 'held' } : { kind: 'refused', code: 'INTERNAL_ERROR' };
    });
    if (sent.kind === 'taken') this.#outbox.taken(writes);
    if (sent.kind === 'refused') this.#outbox.refused(first, sent.code);
    return sent.kind === 'taken';
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#wake?.(), ms);
      this.#wake = () => {
        clearTimeout(timer);
        this.#wake = null;
        resolve();
      };
    });
  }
}
