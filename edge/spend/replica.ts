/** The port of a shared spend ledger, and the process that counts in it. */
import type { Spend } from './caps.ts';
import type { OpenPayment, Retired } from './ledger.ts';
import type { Refusal } from '../../protocol/errors.ts';
import type { Settled, Word } from '../signing/payments.ts';
import type { KeySetRecord } from '../../protocol/frames.ts';

/**
 * The key set of a replica that is gone is deleted after this, long after it can no longer vouch. Milliseconds.
 */
export const KEY_SET_KEPT_MS = 90 * 86_400_000;

export interface SharedSpend {
  /**
   * Counts a spend; durable when it resolves. Refuses: as `SpendLedger.count`, and SERVICE_UNAVAILABLE when the ledger
   * does not answer.
   */
  count(spend: Spend): Promise<Refusal | null>;
  /**
   * Takes an instruction out of the count for good: no replica counts it any more, so none signs it. False where it was
   * counted. Refuses: SERVICE_UNAVAILABLE when the ledger does not answer.
   */
  retire(instruction: Retired): Promise<boolean | Refusal>;
  /** As `SpendLedger.note`. Throws: Error when it cannot be written. */
  note(transactionIds: readonly string[], word: Word): Promise<void>;
  /** As `SpendLedger.settle`. Throws: Error when it cannot be written. */
  settle(transactionIds: readonly string[], how: Settled, versions?: readonly string[] | null): Promise<void>;
  /** As `SpendLedger.versionsOf`. Throws: Error when it cannot be read. */
  versionsOf(transactionId: string): Promise<readonly string[] | null>;
  /** Signed payments that may still land, oldest first. Throws: Error when it cannot be read. */
  open(limit: number): Promise<OpenPayment[]>;
  /**
   * Key sets of the replicas that share this ledger, newer than the known versions, unchecked. Throws: Error when they
   * cannot be read.
   */
  keySets(known: KnownVersions): Promise<unknown[]>;
  /**
   * Stores a replica's own key set in place of an older one, and deletes those of replicas that are long gone. Throws:
   * Error when it cannot be written.
   */
  putKeySet(set: KeySetRecord): Promise<void>;
  /** Stores the time of the ledger for later processes, where this process keeps it. */
  mark(): void;
  close(): Promise<void>;
}

/**
 * A process among the replicas that share a ledger. Each has a clock of its own, so that names are never shared.
 */
export interface SpendReplica {
  readonly name: string;
  /** The process whose clock this one continues, the last that counted from its directory; null for none. */
  readonly heirOf: string | null;
  /** It has counted, so that the next process continues its clock. */
  noteCounted(): void;
}

/** A kept key set, unchecked; null where it cannot be read: one damaged record hides no other replica's revocations. */
export function keySetOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

/** By replica. */
export type KnownVersions = readonly { readonly replica: string; readonly version: number }[];
