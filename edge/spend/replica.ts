/** What replicas share of their spending. */
import type { Spend } from './caps.ts';
import type { OpenPayment, Retired } from './ledger.ts';
import type { Refusal } from '../../protocol/errors.ts';
import type { Settled, Word } from '../signing/payments.ts';
import type { KeySetRecord } from '../../protocol/frames.ts';

/**
 * A set of a replica that is gone is forgotten after this, long after the last day on which it can vouch. Milliseconds.
 */
export const KEY_SET_KEPT_MS = 90 * 86_400_000;

export interface SharedSpend {
  /**
   * Counts a spend; durable when it resolves. Refuses: as `SpendLedger.count`, SERVICE_UNAVAILABLE when it cannot tell.
   */
  count(spend: Spend): Promise<Refusal | null>;
  /**
   * Takes an instruction out of the count for good: no replica counts it any more, so none signs it. False where it was
   * counted. Refuses: SERVICE_UNAVAILABLE when it cannot tell.
   */
  retire(instruction: Retired): Promise<boolean | Refusal>;
  /** A word about signed transactions that an application is told, or was. Throws: Error when it cannot be written. */
  note(transactionIds: readonly string[], word: Word): Promise<void>;
  /** They are out of the way. Throws: Error when it cannot be written. */
  settle(transactionIds: readonly string[], how: Settled): Promise<void>;
  /** As `SpendLedger.versionsOf`. Throws: Error when it cannot be read. */
  versionsOf(transactionId: string): Promise<readonly string[] | null>;
  /** What may still land, oldest first. Throws: Error when it cannot be read. */
  open(limit: number): Promise<OpenPayment[]>;
  /**
   * Key sets of the replicas that share this ledger above the versions known, as they are kept: nothing of them was
   * checked. Throws: Error when they cannot be read.
   */
  keySets(known: KnownVersions): Promise<unknown[]>;
  /**
   * Keeps a replica's own, in place of an older one, and forgets those of replicas that are long gone. Throws: Error
   * when it cannot be written.
   */
  putKeySet(set: KeySetRecord): Promise<void>;
  /** Keeps the time of the ledger for the processes to come, where this process does. */
  mark(): void;
  close(): Promise<void>;
}

/**
 * A process among the replicas that share a ledger. Its clock is its own, so that no two processes may have one name.
 */
export interface SpendReplica {
  readonly name: string;
  /** The process whose clock goes on in this one, the last that counted from its directory; null for none. */
  readonly heirOf: string | null;
  /** It has counted: the next process is its heir. */
  noteCounted(): void;
}

/** By replica. */
export type KnownVersions = readonly { readonly replica: string; readonly version: number }[];
