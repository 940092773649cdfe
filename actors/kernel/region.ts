/**
 * All entities of one kind: the router (a plain map, outside the tree), who is resident, and the place of each in it.
 * Residents are kept in the order of last use; the oldest idle one makes room for a new one, and one that is idle for
 * long leaves by itself. The next message brings it back: load and fence, then the message.
 */
import { addressOf, Target, type Address } from './address.ts';
import { unavailable, type Envelope } from './envelope.ts';
import { EntityLeaf, type EntityKind } from './entity.ts';
import type { RestartPolicy } from './fault.ts';
import type { Leaf } from './leaf.ts';
import type { Entity, EntityStore } from '../../model/entity.ts';
import { actorName } from './scheduler.ts';
import type { Parent, Shared } from './shared.ts';
import { OwnedTimers, type Deadlines } from './timers.ts';

export interface EntitySpec<State, Command, Event, Row, Reply> {
  /** Branch of the tree, `shards` by default; below it one parent per shard. */
  readonly branch?: string;
  readonly entity: Entity<State, Command, Event, readonly Row[], Reply>;
  readonly store: EntityStore<State, Event, Row>;
  /** Shard number of an entity, from 0. */
  shardOf(entityId: string): number;
  /** State for the admin endpoints: without secrets, and JSON. */
  summarise?(state: State): Readonly<Record<string, unknown>>;
  readonly policy?: RestartPolicy;
  readonly mailboxMax?: number;
  readonly batchMax?: number;
  readonly residentsMax?: number;
  readonly idleMs?: number;
  readonly storeTimeoutMs?: number;
}

/** Commands that wait at one entity. Choice: a second's worth of a busy account. */
const MAILBOX_MAX = 1_000;
/** Commands of one append. Choice: reliability.md 5, batched rows gain little beyond some hundreds. */
const BATCH_MAX = 256;
/** The goal of P4, bench/README.md. */
const RESIDENTS_MAX = 100_000;
const IDLE_MS = 15 * 60_000;
/** Statement timeout of every role is 10 s (reliability.md 1.3); a store that says nothing longer is gone. */
const STORE_TIMEOUT_MS = 15_000;
/** Residents looked at for one that may leave; those that work are put behind. */
const EVICTION_SCAN_MAX = 64;
/** Residents that leave in one sweep, so that a sweep never holds up the node. */
const SWEEP_MAX = 2_000;
const SWEEPS_PER_IDLE_PERIOD = 8;
/** The order of last use is this fine, so that a busy entity does not reorder the map on each message. */
const TOUCH_MS = 1_000;

/** Addresses of all entities of one kind. */
export interface Entities<Command, Reply> {
  /** The entity's address; nothing is loaded before the first message. */
  address(entityId: string): Address<Command, Reply>;
  readonly residents: number;
  /**
   * Another node gets these shards: those who live there finish what waits, take nothing new in, and are forgotten.
   * Resolves when nothing of them is at work; after `deadlineMs` goes without those that still are.
   */
  release(shards: ReadonlySet<number>, deadlineMs: number): Promise<void>;
}

/** Where the tree puts a leaf: a parent of that shard with room. */
export type Placement = (shard: number) => Parent;

export class Region<State, Command, Event, Row, Reply> implements Entities<Command, Reply>, Router {
  readonly shared: Shared;
  readonly #spec: EntitySpec<State, Command, Event, Row, Reply>;
  readonly #kind: EntityKind<State, Command, Event, Row, Reply>;
  readonly #parentOf: Placement;
  readonly #branch: string;
  readonly #timers: OwnedTimers;
  /** In order of last use, the oldest first. */
  readonly #resident = new Map<string, EntityLeaf<State, Command, Event, Row, Reply>>();
  #sweepArmed = false;
  #stopping = false;

  constructor(
    shared: Shared,
    spec: EntitySpec<State, Command, Event, Row, Reply>,
    policy: RestartPolicy,
    parentOf: Placement,
  ) {
    this.shared = shared;
    this.#spec = spec;
    this.#parentOf = parentOf;
    this.#branch = spec.branch ?? SHARDS;
    this.#timers = new OwnedTimers(shared.clock, (error) => shared.log.error({ error: String(error) }, 'sweep threw'));
    this.#kind = {
      entity: spec.entity,
      store: spec.store,
      policy: spec.policy ?? policy,
      mailboxMax: spec.mailboxMax ?? MAILBOX_MAX,
      batchMax: spec.batchMax ?? BATCH_MAX,
      storeTimeoutMs: spec.storeTimeoutMs ?? STORE_TIMEOUT_MS,
      ...(spec.summarise === undefined ? {} : { summarise: spec.summarise }),
      rested: (leaf, exists) => {
        if (!exists) this.#remove(leaf);
      },
    };
  }

  get residents(): number {
    return this.#resident.size;
  }

  address(entityId: string): Address<Command, Reply> {
    return addressOf(new EntityTarget(this, entityId));
  }

  pathOf(entityId: string): string {
    return `${this.#branch}/${shardName(this.#spec.shardOf(entityId))}/${this.#nameOf(entityId)}`;
  }

  deliver(entityId: string, envelope: Envelope): boolean {
    let leaf = this.#resident.get(entityId);
    if (leaf === undefined) {
      if (this.#stopping) return this.#turnAway(envelope, 'stopping');
      if (!this.#makeRoom()) return this.#turnAway(envelope, 'residents_full');
      leaf = this.#activate(entityId);
    } else if (this.shared.clock.elapsedMs() - leaf.usedAtMs >= TOUCH_MS) {
      this.#touch(leaf);
    }
    return leaf.deliver(envelope);
  }

  release(shards: ReadonlySet<number>, deadlineMs: number): Promise<void> {
    const leaves = [...this.#resident.values()].filter((leaf) => shards.has(this.#spec.shardOf(leaf.id)));
    const working = new Set(leaves);
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = this.shared.clock.setTimer(deadlineMs, () => {
      for (const leaf of working) leaf.abandon();
      resolve();
    });
    const rest = (leaf: (typeof leaves)[number]) => {
      working.delete(leaf);
      if (this.#resident.get(leaf.id) === leaf) this.#remove(leaf);
      if (working.size > 0) return;
      this.shared.clock.clearTimer(timer);
      resolve();
    };
    for (const leaf of leaves) leaf.drain(() => rest(leaf));
    if (leaves.length === 0) {
      this.shared.clock.clearTimer(timer);
      resolve();
    }
    return promise;
  }

  /** Nothing is activated any more; those who live are drained by the tree. */
  stop(): void {
    this.#stopping = true;
    this.#timers.cancelAll();
  }

  #nameOf(entityId: string): string {
    return actorName(`${this.#kind.entity.kind}-${entityId}`);
  }

  #activate(entityId: string): EntityLeaf<State, Command, Event, Row, Reply> {
    const parent = this.#parentOf(this.#spec.shardOf(entityId));
    const leaf = new EntityLeaf(this.shared, parent, this.#nameOf(entityId), entityId, this.#kind);
    leaf.enter();
    this.#touch(leaf);
    this.#armSweep(this.#idleMs / SWEEPS_PER_IDLE_PERIOD);
    return leaf;
  }

  /** Moves a resident to the young end, so that the map's order is the order of `usedAtMs`. */
  #touch(leaf: EntityLeaf<State, Command, Event, Row, Reply>): void {
    this.#resident.delete(leaf.id);
    this.#resident.set(leaf.id, leaf);
    leaf.usedAtMs = this.shared.clock.elapsedMs();
  }

  #turnAway(envelope: Envelope, reason: 'stopping' | 'residents_full'): false {
    this.shared.deadLetters[reason === 'stopping' ? 'stopped' : 'full'] += 1;
    envelope.settle(unavailable(reason));
    return false;
  }

  /** True when one more may live here. */
  #makeRoom(): boolean {
    const max = this.#spec.residentsMax ?? RESIDENTS_MAX;
    for (let scanned = 0; this.#resident.size >= max && scanned < EVICTION_SCAN_MAX; scanned++) {
      const [oldest] = this.#resident.values();
      if (oldest === undefined) break;
      if (oldest.idle) this.#remove(oldest);
      else this.#touch(oldest);
    }
    return this.#resident.size < max;
  }

  get #idleMs(): number {
    return this.#spec.idleMs ?? IDLE_MS;
  }

  #armSweep(delayMs: number): void {
    if (this.#sweepArmed || this.#stopping) return;
    this.#sweepArmed = true;
    this.#timers.after(delayMs, () => this.#sweep());
  }

  #sweep(): void {
    this.#sweepArmed = false;
    const before = this.shared.clock.elapsedMs() - this.#idleMs;
    let looked = 0;
    for (const leaf of this.#resident.values()) {
      if (leaf.usedAtMs > before || looked === SWEEP_MAX) break;
      looked += 1;
      // One that pauses or was given up stays: it must be seen, and its poison must not be forgotten by waiting.
      if (leaf.idle && leaf.phase === 'live') this.#remove(leaf);
      else this.#touch(leaf);
    }
    if (this.#resident.size > 0) this.#armSweep(looked === SWEEP_MAX ? 1 : this.#idleMs / SWEEPS_PER_IDLE_PERIOD);
  }

  #remove(leaf: Leaf): void {
    this.#resident.delete(leaf.id);
    leaf.leave();
  }
}

export const SHARDS = 'shards';

/** Four digits: 1,024 logical shards sort as they count. */
export function shardName(shard: number): string {
  return String(shard).padStart(4, '0');
}

/** What an address of an entity leads to. */
interface Router {
  readonly shared: Shared;
  pathOf(entityId: string): string;
  deliver(entityId: string, envelope: Envelope): boolean;
}

class EntityTarget extends Target {
  readonly #router: Router;
  readonly #id: string;
  constructor(router: Router, id: string) {
    super();
    this.#router = router;
    this.#id = id;
  }
  get path(): string {
    return this.#router.pathOf(this.#id);
  }
  get deadlines(): Deadlines {
    return this.#router.shared.deadlines;
  }
  deliver(envelope: Envelope): boolean {
    return this.#router.deliver(this.#id, envelope);
  }
}
