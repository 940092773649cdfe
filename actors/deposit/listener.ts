/**
 * Who is concerned by what a deposit becomes: decided in the same decision, after the deposit, and written in the same
 * append. House 2.2.
 */
import type { RowWrite } from '../../model/account/capabilities.ts';
import type { DepositRow } from '../../model/rows/deposit.ts';
import type { DepositStatus } from '../../protocol/slugs.ts';

/** What a deposit is for, as its own events say it; null on an ordinary one. */
export interface DepositPurpose {
  readonly paymentId: string | null;
  readonly linkId: string | null;
}

export const NO_PURPOSE: DepositPurpose = { paymentId: null, linkId: null };

export interface DepositChange {
  /** As it is now. */
  readonly deposit: DepositRow;
  /** What it was; null for a new one, and for another movement under its key. */
  readonly before: DepositStatus | null;
  /** At the fact that is decided. */
  readonly confirmations: number;
}

export interface DepositListener {
  /**
   * A deposit appears, or the same movement comes back (`before` is `reversed`); asked before its event is made.
   * `newId` is the id that a new deposit gets, unused by any other fact.
   */
  appears(change: DepositChange, newId: string): void;
  purposeOf(deposit: DepositRow): DepositPurpose;
  /** After the deposit's own rows of this change: what follows from it. `newId` as above. */
  changed(change: DepositChange, newId: string): readonly RowWrite[];
}
