/**
 * The one shell of all entities. A turn: load and fence if nothing is loaded, take what waits, decide it as one batch,
 * append once, and only then answer. What the append says decides the rest:
 *
 *   appended   the batch is durable: answer each member
 *   stale      another incarnation wrote: throw this one away, load once more, decide again; twice stale is a fault
 *   duplicate  an idempotency key was taken: nothing was written, so each member runs alone and only the duplicate
 *              one gets that reply
 *   refused    the schema says no to something: likewise
 *   unstorable the schema must never hold something of it: likewise; that member's command is at fault, not the entity
 *   throws     the outcome is unknown: every member gets INTERNAL_ERROR, or SERVICE_UNAVAILABLE from a store that is
 *              away; the entity restarts and reads its state again
 *
 * Nothing is appended after the leaf was stopped, however late a turn goes on; a write under way then is fenced by
 * version and epoch like any other.
 */
import { refuse, type Refusal } from '../../protocol/errors.ts';
import { DUPLICATE, futile, unavailable, type Duplicate, type Envelope } from './envelope.ts';
import { decideBatch, type BatchPlan } from './batch.ts';
import { isStoreAway, KernelFault, type RestartPolicy } from './fault.ts';
import { Leaf } from './leaf.ts';
import {
  APPEND_REFUSED,
  PoisonousEvent,
  type AppendOutcome,
  type Entity,
  type EntityStore,
  type Loaded,
} from '../../model/entity.ts';
import type { Parent, Shared } from './shared.ts';

/** What all entities of one kind share. */
export interface EntityKind<State, Command, Event, Row, Reply> {
  readonly entity: Entity<State, Command, Event, readonly Row[], Reply>;
  readonly store: EntityStore<State, Event, Row>;
  readonly policy: RestartPolicy;
  /** Messages that may wait in one mailbox. */
  readonly mailboxMax: number;
  /** Commands that one turn decides together. */
  readonly batchMax: number;
  readonly storeTimeoutMs: number;
  summarise?(state: State): Readonly<Record<string, unknown>>;
  /** The leaf has nothing to do; `exists` false when there is no such entity. */
  rested(leaf: Leaf, exists: boolean): void;
}

/** What an append came to, or that the schema must never hold what it was given: nothing was written. */
type Tried = AppendOutcome | { readonly kind: 'unstorable'; readonly error: Error };

/** Decisions of one batch: the second is made on what a stale append made us load. */
const TRIES_PER_BATCH = 2;

export class EntityLeaf<State, Command, Event, Row, Reply> extends Leaf {
  readonly id: string;
  /** Monotonic instant of the last use, about; the region keeps it. */
  usedAtMs = 0;
  readonly #of: EntityKind<State, Command, Event, Row, Reply>;
  #live: Loaded<State> | null = null;
  #exists = true;

  constructor(
    shared: Shared,
    parent: Parent,
    name: string,
    id: string,
    of: EntityKind<State, Command, Event, Row, Reply>,
  ) {
    super(shared, parent, name);
    this.id = id;
    this.#of = of;
  }

  get kind(): string {
    return this.#of.entity.kind;
  }
  get policy(): RestartPolicy {
    return this.#of.policy;
  }
  get mailboxMax(): number {
    return this.#of.mailboxMax;
  }

  summary(): Readonly<Record<string, unknown>> | null {
    const live = this.#live;
    if (live === null) return null;
    const own = this.guard(() => this.#of.summarise?.(live.state)) ?? {};
    return { ...own, version: live.version, ownerEpoch: live.ownerEpoch };
  }

  protected forget(): void {
    this.#live = null;
  }

  protected override rested(): void {
    if (this.phase === 'live') this.#of.rested(this, this.#exists);
  }

  protected async turn(): Promise<void> {
    if (this.#live !== null && this.#of.store.holds?.(this.id, this.#live.ownerEpoch) === false) this.#live = null;
    if (this.#live === null) await this.#load();
    const batch = this.take(this.#of.batchMax);
    if (batch.length === 0) return;
    await this.#settle(batch);
    this.guard(() => this.shared.hooks.onBatch?.(this.kind, batch.length));
  }

  /** Throws: what the store throws. Nothing was done then for the batch, or for all who wait: they may try again. */
  async #load(): Promise<void> {
    const { store, storeTimeoutMs, mailboxMax } = this.#of;
    this.#live = null;
    try {
      this.#live = await this.shared.deadlines.bound(store.load(this.id), storeTimeoutMs, () => storeTimedOut('load'));
      this.#exists = this.#live !== null;
    } catch (error) {
      if (error instanceof PoisonousEvent) throw error;
      if (!this.atWork) this.take(mailboxMax);
      this.failWith(unavailable('load_failed'));
      throw error;
    }
  }

  async #settle(batch: readonly Envelope[]): Promise<void> {
    const commands = batch.map((envelope) => envelope.command as Command);
    for (let tries = 0; tries < TRIES_PER_BATCH; tries++) {
      if (tries > 0) await this.#load();
      const live = this.#live;
      if (this.stopped) return; // Its askers were answered when it was abandoned; from here on it would write.
      if (live === null) return this.answerAll(batch, refuse('NOT_FOUND', { what: 'entity' }));
      const plan = decideBatch(this.#of.entity, live.state, commands, this.shared.clock.nowMs());
      if (tries === 0) for (const fault of plan.faults) this.note(fault);
      const outcome = await this.#append(live, plan);
      if (this.stopped) return;
      if (outcome.kind === 'appended') {
        this.#live = { state: plan.state, version: live.version + plan.events.length, ownerEpoch: live.ownerEpoch };
        batch.forEach((envelope, index) => this.answer(envelope, plan.outcomes[index]!));
        return;
      }
      if (outcome.kind === 'duplicate') return this.#settleApart(batch, DUPLICATE);
      if (outcome.kind === 'refused') return this.#settleApart(batch, outcome.refusal);
      if (outcome.kind === 'unstorable') {
        const fault = batch.length === 1 ? this.note(outcome.error).message : '';
        return this.#settleApart(batch, futile('unstorable', fault));
      }
    }
    this.failWith(unavailable('stale_owner'));
    throw new KernelFault('stale_owner', 'another incarnation wrote twice during one batch');
  }

  async #settleApart(batch: readonly Envelope[], answer: Duplicate | Refusal): Promise<void> {
    const [only] = batch;
    if (batch.length === 1) return this.answer(only!, answer);
    for (const envelope of batch) await this.#settle([envelope]);
  }

  /** A plan that changes nothing is durable already: queries and refusals cost no append. */
  async #append(live: Loaded<State>, plan: BatchPlan<State, Event, Row, Reply>): Promise<Tried> {
    if (plan.events.length === 0 && plan.rows.length === 0) return { kind: 'appended' };
    const { store, storeTimeoutMs } = this.#of;
    const entry = {
      entityId: this.id,
      ownerEpoch: live.ownerEpoch,
      expectedVersion: live.version,
      events: plan.events,
      state: plan.state,
      rows: plan.rows,
    };
    try {
      return await this.shared.deadlines.bound(store.append(entry), storeTimeoutMs, () => storeTimedOut('append'));
    } catch (error) {
      if (error instanceof Error && (error as { code?: unknown }).code === APPEND_REFUSED)
        return { kind: 'unstorable', error };
      if (isStoreAway(error)) this.failWith(unavailable('store_away'));
      throw error;
    }
  }
}

// It may still take effect: the fence of the next append decides.
function storeTimedOut(operation: 'load' | 'append'): Error {
  return new KernelFault('store_timed_out', `the store did not answer a ${operation} in time`);
}
