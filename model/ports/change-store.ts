/** What happened in accounts, for those who listen. Console C13, C14. */
import type { AccountId } from '../../protocol/ids.ts';
import type { AccountEvent } from '../account/capabilities.ts';
import type { AuditAction } from '../rows/audit.ts';

/** How far somebody knows an account. Each number only rises. */
export interface AccountPlace {
  /** Events that the account had. */
  readonly version: number;
  /** How often attempts at its deliveries were recorded. */
  readonly delivery: number;
  /** Length of the audit log of its organization. */
  readonly entry: number;
}

export interface AccountMoves extends AccountPlace {
  readonly accountId: AccountId;
  /** Oldest first. `subject`: the id of what it is about; null where it is about the account. */
  readonly events: readonly (readonly [version: number, type: AccountEvent['type'], subject: string | null])[];
  readonly entries: readonly (readonly [entry: number, action: AuditAction, target: string | null])[];
}

export interface ChangeStore {
  /**
   * Accounts that are no longer where a caller knows them, with the newest `most` events and entries behind that place:
   * where more happened they are not all.
   */
  since(places: ReadonlyMap<AccountId, AccountPlace>, most: number): Promise<AccountMoves[]>;
  /**
   * How payments are, for pages that are open on them, of whatever account: another mark with each change that a
   * payer sees. One that there is none of is left out. payments H7.
   */
  paymentMarks(ids: readonly string[]): Promise<{ id: string; mark: string }[]>;
}
