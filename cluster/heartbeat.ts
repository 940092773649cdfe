/**
 * The heartbeat of a node in the database: that it lives, and that the database takes writes.
 *
 *   here --a beat is refused, late, or not durable enough--> away   (every request is answered 503 at once)
 *   away --a beat succeeds-->                                here
 *
 * A beat that the database acknowledged keeps what the node owns for the lease, counted from its sending. The node
 * itself stops to rely on that two seconds before, by a clock that never steps: a process that was frozen answers
 * nothing from memory until its next beat.
 */
import { systemClock, type Clock, type TimerHandle } from '../actors/kernel/timers.ts';
import type { Serving, Trouble } from '../model/ports/serving.ts';
import { Refused, refuse } from '../protocol/errors.ts';
import type { Logger } from 'pino';

/** The beat, and how long it may take: together below the 2 s within which a caller is answered. */
const BEAT_EVERY_MS = 400;
const BEAT_LIMIT_MS = 1_200;
/** Standbys come and go, and settings are reloaded. */
const DURABILITY_EVERY_MS = 30_000;
/** The owner gives up this long before others may take over. Decision 40. */
const LEASE_MARGIN_MS = 2_000;

export interface HeartbeatDeps {
  readonly leaseSeconds: number;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Whether an error of a store says that the database does not serve. */
  readonly isAway: (error: unknown) => boolean;
  readonly clock?: Clock;
  /** Why the database may forget what it acknowledged, or null; asked now and then. */
  readonly durability?: () => Promise<string | null>;
  /** Nothing is served while it may. */
  readonly durabilityRequired?: boolean;
  /** How long a heartbeat may take, milliseconds. Default: 1,200. */
  readonly beatLimitMs?: number;
}

/** DATABASE_DURABILITY is `required`, and the database may forget what it acknowledged. */
export class NotDurable extends Error {
  constructor(reason: string) {
    super(`DATABASE_DURABILITY is required: ${reason}`);
    this.name = 'NotDurable';
  }
}

export abstract class Heartbeat implements Serving {
  protected readonly clock: Clock;
  readonly #deps: HeartbeatDeps;
  readonly #cuts = new Set<(trouble: Trouble) => void>();
  #away = false;
  #beat: Promise<void> | null = null;
  #timer: TimerHandle = null;
  #stopped = false;
  #durabilityMs = -Infinity;
  #undurable: string | null = null;
  /** When the last beat that succeeded was sent, and since when none has failed. Monotonic. */
  #sentMs = -Infinity;
  #steadyMs: number;

  constructor(deps: HeartbeatDeps) {
    this.#deps = deps;
    this.clock = deps.clock ?? systemClock;
    this.#steadyMs = this.clock.elapsedMs();
  }

  /** One beat. Rejects when the database does not take it. */
  protected abstract beat(): Promise<void>;

  /** What keeps the node from serving beside the database. */
  protected ownTrouble(): Trouble | null {
    return null;
  }

  /** Throws: NotDurable. */
  protected async requireDurable(): Promise<void> {
    await this.#checkDurability();
    if (this.#undurable !== null && this.#deps.durabilityRequired === true) throw new NotDurable(this.#undurable);
  }

  start(): void {
    this.#timer = this.clock.setTimer(BEAT_EVERY_MS, () => {
      void this.look().finally(() => {
        if (!this.#stopped) this.start();
      });
    });
  }

  /** Ends the beats; what is under way has ended when it resolves. */
  async end(): Promise<void> {
    this.#stopped = true;
    this.clock.clearTimer(this.#timer);
    await this.#beat;
  }

  /** How long every beat has succeeded, milliseconds. */
  protected get steadyForMs(): number {
    return this.#away ? 0 : this.clock.elapsedMs() - this.#steadyMs;
  }

  /** Why nothing is served at this moment; null when it is. */
  trouble(): Trouble | null {
    return this.#away || this.lapsed ? 'database' : this.ownTrouble();
  }

  async whileServing<T>(work: Promise<T>): Promise<T> {
    let cut: ((trouble: Trouble) => void) | undefined;
    const begun = new Promise<never>((_, reject) => {
      cut = (trouble) => reject(new Refused(refuse('SERVICE_UNAVAILABLE', { reason: trouble, retryAfterSeconds: 1 })));
      this.#cuts.add(cut);
    });
    try {
      return await Promise.race([work, begun]);
    } finally {
      this.#cuts.delete(cut!);
    }
  }

  isAway(error: unknown): boolean {
    return this.#deps.isAway(error);
  }

  /** Ends the requests that are at work. */
  protected cut(trouble: Trouble): void {
    for (const cut of [...this.#cuts]) cut(trouble);
  }

  /** Looks now; what is found is `trouble()`. Resolves within the limit of a heartbeat. */
  async look(): Promise<void> {
    this.#beat ??= this.#renew().finally(() => {
      this.#beat = null;
    });
    let timer: TimerHandle = null;
    const late = new Promise<'late'>((resolve) => {
      // A process that was held up itself first reads what has come meanwhile.
      timer = this.clock.setTimer(this.#deps.beatLimitMs ?? BEAT_LIMIT_MS, () =>
        setImmediate(() => setImmediate(() => resolve('late'))),
      );
    });
    if ((await Promise.race([this.#beat, late])) === 'late') this.#setAway('no answer in time');
    this.clock.clearTimer(timer);
  }

  async #renew(): Promise<void> {
    const sentMs = this.clock.elapsedMs();
    try {
      await this.beat();
      await this.#checkDurability();
      if (this.#undurable !== null && this.#deps.durabilityRequired === true) return this.#setAway(this.#undurable);
      if (this.#away || this.lapsed) this.#steadyMs = sentMs;
      this.#sentMs = sentMs;
      if (this.#away) this.#deps.log.info('the database serves again');
      this.#away = false;
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      this.#setAway(code ?? message);
    }
  }

  /** The lease may be over as far as this node knows: it was frozen, or the database is away. */
  protected get lapsed(): boolean {
    const leaseMs = this.#deps.leaseSeconds * 1_000;
    return this.clock.elapsedMs() - this.#sentMs > Math.max(leaseMs - LEASE_MARGIN_MS, leaseMs / 2);
  }

  async #checkDurability(): Promise<void> {
    const { durability, log } = this.#deps,
      nowMs = this.clock.elapsedMs();
    if (durability === undefined || nowMs - this.#durabilityMs < DURABILITY_EVERY_MS) return;
    const found = await durability();
    this.#durabilityMs = nowMs;
    if (found !== null && found !== this.#undurable)
      log.warn({ reason: found }, 'the database may forget what it acknowledged (DATABASE_DURABILITY)');
    this.#undurable = found;
  }

  #setAway(reason: string): void {
    if (this.#away) return;
    this.#away = true;
    this.#deps.log.warn({ reason }, 'the database does not serve: every request is answered SERVICE_UNAVAILABLE');
    this.cut('database');
  }
}
