/** Statements of an account. Console B10. */
import type { AccountId } from '../../protocol/ids.ts';
import type { StatementRow } from '../account/billing.ts';

export interface Statement extends StatementRow {
  /** `FLK-2026-000001`, without gaps in a year. */
  readonly number: string;
  /** What was paid of it. */
  readonly paidCents: string;
}

export interface BillingStore {
  /** Newest first: one a month. */
  statements(accountId: AccountId): Promise<Statement[]>;
  statement(accountId: AccountId, id: string): Promise<Statement | null>;
  isCollected(accountId: AccountId, collectionId: string): Promise<boolean>;
  /** Mail to owners about statements that have something left to pay: issued, due, late, lapsed; how many. */
  writeLetters(nowMs: number): Promise<number>;
  /** Live accounts with a month before this one (`2026-08`) that has no statement yet, by id, after one. */
  accountsWithOpenPeriod(thisMonth: string, after: string, limit: number): Promise<AccountId[]>;
}
