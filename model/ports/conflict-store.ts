/** Batches whose addresses another account claims, as administrators see them. Migration M-I7. */
import type { AuditRecord } from '../rows/audit.ts';
import type { AccountId } from '../../protocol/ids.ts';
import type { ReviewState } from '../../protocol/migration/words.ts';
import type { Chain } from '../../protocol/slugs.ts';

export interface ImportReview {
  readonly id: string;
  readonly accountId: AccountId;
  readonly projectId: string;
  readonly batchId: string;
  readonly state: ReviewState;
  /** Rows that were claimed when it was opened. */
  readonly conflicts: number;
  /** Rows that the batch would adopt without them. */
  readonly adoptable: number;
  readonly openedAtMs: number;
  readonly decidedAtMs: number | null;
  readonly decidedBy: string | null;
}

/** A row that another account claims, and what that account has. */
export interface ClaimedRow {
  readonly n: number;
  readonly line: number;
  readonly chain: Chain;
  readonly address: string;
  /** Null for a claim that a lever of the sandbox made, and for one that was given up since. */
  readonly claimedBy: AccountId | null;
  readonly claimedAtMs: number | null;
  /** Of an address that was adopted; null for one that was issued. */
  readonly batchId: string | null;
  /** Whether it has received anything there. */
  readonly isUsed: boolean;
}

export interface ConflictStore {
  /** Reviews in a state, behind one, by their ids: the oldest batch first. */
  reviews(state: ReviewState, after: string, limit: number): Promise<ImportReview[]>;
  review(id: string): Promise<ImportReview | null>;
  /** Rows of a review behind one, in the order of the file. */
  claims(id: string, after: number, limit: number): Promise<ClaimedRow[]>;
  /** With its entry of the audit log. False where it is not open, or its batch is no conflict any more. */
  decide(id: string, decision: 'dropped' | 'refused', by: string, audit?: AuditRecord): Promise<boolean>;
  /** The oldest open review of an account with at least `most` reviews since a moment; null otherwise. */
  waiting(accountId: AccountId, sinceMs: number, most: number): Promise<string | null>;
}
