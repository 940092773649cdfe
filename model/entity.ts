/**
 * The value types of every entity. No nact in here, so that entities may import it.
 *
 * Terminology: a *command* asks for a decision; a *decision* is events or one refusal; an *event* is a fact with a
 * version; a *row* is a projection written in the same statement as the event that causes it.
 */
import type { Refusal } from '../protocol/errors.ts';

export interface Accepted<Event, Rows, Reply> {
  readonly ok: true;
  readonly events: readonly Event[];
  /** Projection rows and publications that become durable with the events. */
  readonly rows: Rows;
  /** The reply to the sender of the command, given after the append. */
  readonly reply: Reply;
}
export type Decision<Event, Rows, Reply> = Accepted<Event, Rows, Reply> | Refusal;

/** Pure half of an actor: no clock, no randomness, no I/O, no nact. Time and ids come in with the command. */
export interface Entity<State, Command, Event, Rows, Reply> {
  readonly kind: string;
  decide(state: State, command: Command, nowMs: number): Decision<Event, Rows, Reply>;
  /** Total: never refuses, never throws for an event that was once written. */
  evolve(state: State, event: Event): State;
}

/** One entry of a grouped append. After `appended` the entity's version is `expectedVersion + events.length`. */
export interface Append<State, Event, Rows> {
  readonly entityId: string;
  /** Fence: the epoch under which this incarnation loaded. */
  readonly ownerEpoch: number;
  readonly expectedVersion: number;
  readonly events: readonly Event[];
  /** The state after the events: the snapshot that the next activation starts from. */
  readonly state: State;
  readonly rows: readonly Rows[];
}

/**
 * `stale`: another incarnation or owner wrote; nothing of this entry was written. `duplicate`: an idempotency key was
 * taken. `refused`: a constraint of the schema says an expected no that the state alone cannot know (an address or
 * identity that another account holds).
 */
export type AppendOutcome =
  | { readonly kind: 'appended' }
  | { readonly kind: 'stale' }
  | { readonly kind: 'duplicate' }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/** `code` of the error of a store whose schema must never hold what it was given. */
export const APPEND_REFUSED = 'append_refused';

/**
 * `code` of the error of a store that does not serve at this moment: it is away, full, or its shard is another node's.
 * That says nothing about the entity, which is restarted soon and never given up for it.
 */
export const STORE_AWAY = 'store_away';

/**
 * An event that cannot be folded. Reading it again cannot cure it: the entity is given up until someone restarts it.
 */
export class PoisonousEvent extends Error {
  readonly code = 'poisonous_event';
  constructor(kind: string, cause: unknown) {
    super(`an event of ${kind} cannot be folded`, { cause });
    this.name = 'PoisonousEvent';
  }
}

export interface Loaded<State> {
  readonly state: State;
  readonly version: number;
  readonly ownerEpoch: number;
}

/** What the shell needs of the outside. One implementation over PostgreSQL, one in memory for tests. */
export interface EntityStore<State, Event, Rows> {
  /** Loads AND fences the entity in one statement; null when there is none. Throws on a stale owner, PoisonousEvent. */
  load(entityId: string): Promise<Loaded<State> | null>;
  /**
   * Durable when it resolves. Throws when the outcome is unknown, STORE_AWAY included, save for an error of the code
   * APPEND_REFUSED: nothing was written, and nothing would be another time.
   */
  append(entry: Append<State, Event, Rows>): Promise<AppendOutcome>;
  /** False when what was loaded under this epoch is not this node's to answer from any more: it is loaded again. */
  holds?(entityId: string, ownerEpoch: number): boolean;
}
