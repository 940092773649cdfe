/** Statements of an account. Console B10. */
import type { AccountId } from '../../protocol/ids.ts';
import type { Chain } from '../../protocol/slugs.ts';
import type { StatementRow } from '../account/billing.ts';

export interface Statement extends StatementRow {
  /** `FLK-2026-000001`, without gaps in a year. */
  readonly number: string;
  /** What was paid of it. */
  readonly paidCents: string;
  /** What is asked of a provider for it; null where there is nothing to pay. */
  readonly request: CollectionRequest | null;
}

/** A withdrawal that counts in a month, or one that failed after all and takes one off. Console B4. */
export interface Billed {
  /** Its place: one withdrawal may be counted, taken off and counted again within a month. */
  readonly key: string;
  readonly withdrawalId: string;
  readonly counted: 1 | -1;
  readonly chain: Chain;
  readonly createdAtMs: number;
}

export interface CollectionRequest {
  readonly status: 'due' | 'open' | 'closed';
  readonly provider: string | null;
  readonly reference: string | null;
  readonly page: string | null;
  /** How often something was opened for it. */
  readonly round: number;
  /** What the account took of `reference`, cents; written by the account alone. */
  readonly takenCents: string;
}

/** Which statement something is about. */
export interface StatementRef {
  readonly accountId: AccountId;
  readonly statementId: string;
}

/** Who pays: their name at the provider where it has one. */
export interface Payer {
  readonly name: string;
  readonly email: string;
  readonly reference: string | null;
}

export interface BillingStore {
  /** Newest first: one a month. */
  statements(accountId: AccountId): Promise<Statement[]>;
  statement(accountId: AccountId, id: string): Promise<Statement | null>;
  /** What a month (`2026-08`) was billed for, by withdrawal; `after` is the `key` of the last one before. */
  billedOf(accountId: AccountId, period: string, after: string | null, limit: number): Promise<Billed[]>;
  isCollected(accountId: AccountId, collectionId: string): Promise<boolean>;
  /** Mail to owners about statements that have something left to pay: issued, due, late, lapsed; how many. */
  writeLetters(nowMs: number): Promise<number>;
  /** Statements whose provider is to be asked now; longest waiting first. */
  requestsDue(nowMs: number, limit: number): Promise<StatementRef[]>;
  /** Makes what a provider speaks of due; null where it is nothing of ours, or closed. */
  ringRequest(provider: string, reference: string, nowMs: number): Promise<StatementRef | null>;
  /**
   * False where another node opened something meanwhile, or it is closed. What rang since the look began is due at once
   * all the same.
   */
  writeRequest(
    of: StatementRef,
    roundBefore: number,
    now: CollectionRequest,
    nextMs: number,
    beganMs?: number,
  ): Promise<boolean>;
  /** Null without an owner. */
  payer(accountId: AccountId, provider: string): Promise<Payer | null>;
  /** The name that stays: the first that was kept. */
  keepPayer(accountId: AccountId, provider: string, reference: string): Promise<string>;
  /** Live accounts with a month before this one (`2026-08`) that has no statement yet, by id, after one. */
  accountsWithOpenPeriod(thisMonth: string, after: string, limit: number): Promise<AccountId[]>;
}
