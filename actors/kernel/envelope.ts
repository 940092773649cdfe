/**
 * A command on its way and what may come of it. Each ask has its own deadline; each is answered exactly once; what
 * comes later is counted and dropped.
 */
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { Expirable } from './timers.ts';

/**
 * An idempotency key of the command was taken: nothing was written, the first answer is in the store. A refusal of a
 * second try may rest on what the first one did, so a keeper of keys looks once more after a refusal.
 */
export interface Duplicate {
  readonly ok: 'duplicate';
}

/**
 * The reply to an asker. Beside the refusals of the entity itself:
 * `SERVICE_UNAVAILABLE` with `retryAfterSeconds` — nothing was done: full, stopping, not loadable, not begun in time;
 * or `store_away`: the store did not answer the append, and `abandoned`: the actor had to go while it was at work, so
 * that the outcome may be unknown;
 * `INTERNAL_ERROR` with `reason` — a crash, a deadline passed while at work, or given up: the outcome may be unknown;
 * or `undecidable` and `unstorable`: nothing was done, and nothing would be another time (`futility`).
 */
export type Outcome<Reply> = { readonly ok: true; readonly reply: Reply } | Refusal | Duplicate;

export const DUPLICATE: Duplicate = { ok: 'duplicate' };

/** `Retry-After` of what was turned away. */
const RETRY_AFTER_SECONDS = 1;

/** With the last two the outcome may be unknown. */
export type UnavailableReason =
  | 'mailbox_full'
  | 'residents_full'
  | 'stopping'
  | 'load_failed'
  | 'stale_owner'
  | 'not_begun_in_time'
  | 'store_away'
  | 'abandoned';
export type CrashReason = 'crashed' | 'timed_out' | 'given_up';

/** Nothing was done, with the two exceptions above; the same command may be sent again. */
export function unavailable(reason: UnavailableReason): Refusal {
  return refuse('SERVICE_UNAVAILABLE', { retryAfterSeconds: RETRY_AFTER_SECONDS, reason });
}

/** Something broke; the outcome may be unknown, so only an idempotency key makes a second try safe. */
export function crashed(reason: CrashReason): Refusal {
  return refuse('INTERNAL_ERROR', { reason });
}

/** The command itself is at fault: what `decide` threw at it, or what the schema says. Nothing was done. */
export function futile(reason: 'undecidable' | 'unstorable', fault: string): Refusal {
  return refuse('INTERNAL_ERROR', { reason, fault });
}

/** What is wrong with a command that would fare no better another time; null for every other outcome. */
export function futility(outcome: Outcome<unknown>): string | null {
  if (outcome.ok !== false || outcome.code !== 'INTERNAL_ERROR') return null;
  const { reason, fault } = outcome.details;
  return reason === 'undecidable' || reason === 'unstorable' ? String(fault) : null;
}

/** Messages that nobody handled or nobody waited for any more. Monotone. */
export interface DeadLetters {
  /** To an actor that has stopped or stops. */
  stopped: number;
  /** To a full mailbox or a full node. */
  full: number;
  /** To an actor that has been given up. */
  givenUp: number;
  /** Its asker's deadline had passed when its turn came: it was not executed. */
  expired: number;
  /** An answer after its asker's deadline. */
  late: number;
}

export function noDeadLetters(): DeadLetters {
  return { stopped: 0, full: 0, givenUp: 0, expired: 0, late: 0 };
}

/** One message in a mailbox, with the reply port when it is an ask. */
export class Envelope implements Expirable {
  readonly command: unknown;
  bucket: Set<Expirable> | null = null;
  /** Since when it waits in a mailbox, monotonic milliseconds. */
  sinceMs = 0;
  #begun = false;
  #settled = false;
  readonly #resolve: ((outcome: Outcome<unknown>) => void) | null;

  constructor(command: unknown, resolve: ((outcome: Outcome<unknown>) => void) | null) {
    this.command = command;
    this.#resolve = resolve;
  }

  get settled(): boolean {
    return this.#settled;
  }

  /** False when nobody waits for it any more: it must not be executed. */
  begin(): boolean {
    this.#begun = true;
    return !this.#settled;
  }

  /** False when it has been answered before. */
  settle(outcome: Outcome<unknown>): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    this.bucket?.delete(this);
    this.bucket = null;
    this.#resolve?.(outcome);
    return true;
  }

  expire(): void {
    this.settle(this.#begun ? crashed('timed_out') : unavailable('not_begun_in_time'));
  }
}
