/**
 * Whether this node serves: its heartbeat in the database says whether the shards are still its own, and is the proof
 * that the database takes writes.
 *
 *   serving    --another node took a shard-->                 superseded  (nothing is served or followed)
 *   superseded --the other left, or was silent for a lease--> serving     (new epochs; what was loaded is loaded again)
 *   any        --the heartbeat is refused or late-->          away        (every request is answered 503 at once)
 */
import { systemClock, type Clock, type TimerHandle } from '../actors/kernel/timers.ts';
import { notServing } from '../gateway/http/faults.ts';
import type { Serving, Trouble } from '../gateway/deps.ts';
import type { Ownership } from '../model/ports/account-store.ts';
import { isAway } from '../persistence/postgres/away.ts';
import { Refused } from '../protocol/errors.ts';
import { SHARD_COUNT } from '../protocol/node/ids.ts';
import type { Logger } from 'pino';

/** The heartbeat, and how long it may take: together below the 2 s within which a caller is answered. */
const BEAT_EVERY_MS = 400;
const BEAT_LIMIT_MS = 1_200;
const TURN_AGAIN_MS = 500;
/** Standbys come and go, and settings are reloaded. */
const DURABILITY_EVERY_MS = 30_000;

const ALL_SHARDS = Array.from({ length: SHARD_COUNT }, (_, shard) => shard);

export interface PresenceDeps {
  readonly ownership: Ownership;
  /** Of this process alone: two processes with one name are two nodes. */
  readonly nodeId: string;
  readonly leaseSeconds: number;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly clock?: Clock;
  /** Why the database may forget what it acknowledged, or null; asked now and then. */
  readonly durability?: () => Promise<string | null>;
  /** Nothing is served while it may. */
  readonly durabilityRequired?: boolean;
  /** How long a heartbeat may take, milliseconds. Default: 1,200. */
  readonly beatLimitMs?: number;
}

/** What the parts of a node do when it changes. Called in turn, again after a rejection while it is still so. */
export interface Turns {
  superseded(): Promise<void>;
  regained(): Promise<void>;
}

/** DATABASE_DURABILITY is `required`, and the database may forget what it acknowledged. */
export class NotDurable extends Error {
  constructor(reason: string) {
    super(`DATABASE_DURABILITY is required: ${reason}`);
    this.name = 'NotDurable';
  }
}

/** What the gateway asks before and while it serves a request, and who owns a shard. */
export class Presence implements Serving {
  readonly #deps: PresenceDeps;
  readonly #clock: Clock;
  readonly #epochs = new Map<number, number>();
  readonly #cuts = new Set<(trouble: Trouble) => void>();
  #superseded = false;
  #away = false;
  #beat: Promise<void> | null = null;
  #turns: Turns | null = null;
  /** What the parts were brought to, and whether they are being brought to something. */
  #steppedBack = false;
  #turning: Promise<void> | null = null;
  #timer: TimerHandle = null;
  #stopped = false;
  #durabilityMs = -Infinity;
  #undurable: string | null = null;

  constructor(deps: PresenceDeps) {
    this.#deps = deps;
    this.#clock = deps.clock ?? systemClock;
  }

  /** Takes every shard from its owner. */
  async claim(): Promise<void> {
    const { ownership, nodeId, durabilityRequired } = this.#deps;
    await this.#checkDurability();
    if (this.#undurable !== null && durabilityRequired === true) throw new NotDurable(this.#undurable);
    this.#keep(await ownership.claimShards(nodeId, ALL_SHARDS));
  }

  /** Begins the heartbeat. */
  start(): void {
    this.#timer = this.#clock.setTimer(BEAT_EVERY_MS, () => {
      void this.look().finally(() => {
        if (!this.#stopped) this.start();
      });
    });
  }

  /** From now on the parts follow. */
  follow(turns: Turns): void {
    this.#turns = turns;
    this.#turn();
  }

  /** Ends the heartbeat and leaves: the shards are vacant at once. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#clock.clearTimer(this.#timer);
    await this.#turning;
    await this.#beat;
    await this.#deps.ownership.leaveNode(this.#deps.nodeId);
  }

  /** Epoch under which this node owns a shard; undefined when it does not. */
  epochOf(shard: number): number | undefined {
    return this.#superseded ? undefined : this.#epochs.get(shard);
  }

  /** Why nothing is served at this moment; null when it is. */
  trouble(): Trouble | null {
    return this.#away ? 'database' : this.#superseded ? 'superseded' : null;
  }

  async whileServing<T>(work: Promise<T>): Promise<T> {
    let cut: ((trouble: Trouble) => void) | undefined;
    const begun = new Promise<never>((_, reject) => {
      cut = (trouble) => reject(new Refused(notServing(trouble)));
      this.#cuts.add(cut);
    });
    try {
      return await Promise.race([work, begun]);
    } finally {
      this.#cuts.delete(cut!);
    }
  }

  isAway(error: unknown): boolean {
    return isAway(error);
  }

  /** Looks now; what is found is `trouble()`. Resolves within the limit of a heartbeat. */
  async look(): Promise<void> {
    this.#beat ??= this.#renew().finally(() => {
      this.#beat = null;
    });
    let timer: TimerHandle = null;
    const late = new Promise<'late'>((resolve) => {
      // A process that was held up itself first reads what has come meanwhile.
      timer = this.#clock.setTimer(this.#deps.beatLimitMs ?? BEAT_LIMIT_MS, () =>
        setImmediate(() => setImmediate(() => resolve('late'))),
      );
    });
    if ((await Promise.race([this.#beat, late])) === 'late') this.#setAway('no answer in time');
    this.#clock.clearTimer(timer);
  }

  async #renew(): Promise<void> {
    const { ownership, nodeId, leaseSeconds } = this.#deps;
    try {
      const { owned, vacant } = await ownership.renewNode(nodeId, leaseSeconds);
      await this.#checkDurability();
      if (this.#undurable !== null && this.#deps.durabilityRequired === true) return this.#setAway(this.#undurable);
      if (this.#away) this.#deps.log.info('the database serves again');
      this.#away = false;
      if (owned === SHARD_COUNT) return;
      // Also when all of them come back below: somebody else wrote meanwhile.
      this.#setSuperseded(true);
      if (vacant === 0 || this.#stopped) return;
      const claimed = await ownership.claimVacantShards(nodeId, leaseSeconds);
      this.#keep(claimed);
      this.#setSuperseded(owned + claimed.size < SHARD_COUNT);
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      this.#setAway(code ?? message);
    }
  }

  async #checkDurability(): Promise<void> {
    const { durability, log } = this.#deps,
      nowMs = this.#clock.elapsedMs();
    if (durability === undefined || nowMs - this.#durabilityMs < DURABILITY_EVERY_MS) return;
    const found = await durability();
    this.#durabilityMs = nowMs;
    if (found !== null && found !== this.#undurable)
      log.warn({ reason: found }, 'the database may forget what it acknowledged (DATABASE_DURABILITY)');
    this.#undurable = found;
  }

  #keep(epochs: ReadonlyMap<number, number>): void {
    for (const [shard, epoch] of epochs) this.#epochs.set(shard, epoch);
  }

  #setAway(reason: string): void {
    if (this.#away) return;
    this.#away = true;
    this.#deps.log.warn({ reason }, 'the database does not serve: every request is answered SERVICE_UNAVAILABLE');
    this.#cut('database');
  }

  #setSuperseded(superseded: boolean): void {
    if (this.#superseded === superseded) return;
    this.#superseded = superseded;
    const { log } = this.#deps;
    if (superseded) {
      log.warn('another node serves now: this one waits until it is gone');
      this.#cut('superseded');
    } else log.info('this node serves again');
    this.#turn();
  }

  #turn(): void {
    this.#turning ??= this.#bring().finally(() => {
      this.#turning = null;
    });
  }

  async #bring(): Promise<void> {
    while (this.#turns !== null && !this.#stopped && this.#steppedBack !== this.#superseded) {
      const goal = this.#superseded;
      try {
        await (goal ? this.#turns.superseded() : this.#turns.regained());
        this.#steppedBack = goal;
      } catch (error) {
        this.#deps.log.warn({ err: error }, 'a part of the node did not follow; it is tried again');
        await new Promise<void>((resolve) => {
          this.#clock.setTimer(TURN_AGAIN_MS, resolve);
        });
      }
    }
  }

  #cut(trouble: Trouble): void {
    for (const cut of [...this.#cuts]) cut(trouble);
  }
}
