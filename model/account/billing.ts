/** What a live account owes: the running month, its charges, and the statements that close it. Console B1–B10. */
import type { Band, Tier } from '../../protocol/slugs.ts';
import type { StoredWrite } from '../rows/stored.ts';

/** What is paid for at an instant; the fee is in US cents, as decimal text. Free costs nothing. */
export interface Priced {
  tier: Tier;
  band: Band;
  feeCents: string;
}

/**
 * A charge as it arose, with what it was computed from; it is never computed again. Money is decimal text: `cents` of a
 * US dollar, `rateMills` thousandths of one.
 */
export type Charge =
  | { kind: 'proration'; atMs: number; from: Priced; to: Priced; remainingMs: number; periodMs: number; cents: string }
  /** What a band that was left included too little of, at the rate that it had. */
  | { kind: 'overage'; atMs: number; band: Band; quantity: number; included: number; rateMills: string };

/** A month without a statement. `base` is what was bought when it began. */
export interface OpenPeriod {
  month: string;
  base: Priced;
  charges: Charge[];
}

export interface Owed {
  /** What is left, cents of a dollar. */
  cents: string;
  /** The subscription lapses `LAPSE_MS` later. */
  dueAtMs: number;
  /** How often a part of it was recorded; absent: never, or by a release that did not count. */
  parts?: number;
  /** What was taken of it so far from a provider of payments, cents by the provider's reference. */
  taken?: Record<string, string>;
}

/** What a customer paid of a statement, as an administrator or a provider of payments has it. Never changed. */
export interface CollectionRow {
  id: string;
  statementId: string;
  amountCents: string;
  /** An administrator's id, or the name of a provider. */
  byUser: string;
  reason: string;
  collectedAtMs: number;
}

export interface BillingState {
  /** Null until a live account is first on a band. */
  openPeriod: OpenPeriod | null;
  /** Statements with something left to pay, by id. Console B15. */
  owed: Record<string, Owed>;
  /** Settled transactions less those that failed after all, by month, of months without a statement. */
  settledBy: Record<string, number>;
}

export type StatementLine =
  | { kind: 'base'; tier: Tier; band: Band; cents: string }
  | { kind: 'proration'; at: string; from: Priced; to: Priced; remainingMs: number; periodMs: number; cents: string }
  | { kind: 'overage'; band: Band; quantity: number; included: number; rateMills: string; cents: string };

/** A statement; its number is given as it is stored. */
export interface StatementRow {
  id: string;
  /** The month that it closes. */
  period: string;
  lines: readonly StatementLine[];
  totalCents: string;
  settled: number;
  issuedAtMs: number;
}

export type BillingCommand =
  /** Closes the months that have ended. */
  | { type: 'close_periods' }
  | { type: 'record_collection'; id: string; statementId: string; cents: string; byUser: string; reason: string }
  /** All that a provider took for one reference, cents, however often it says so and in whatever order. */
  | { type: 'take_payment'; statementId: string; provider: string; reference: string; paidCents: string };

export type BillingEvent =
  | { type: 'period_opened'; month: string; base: Priced }
  | { type: 'charge_made'; charge: Charge }
  /** `owed` where its statement has something to pay. */
  | { type: 'period_closed'; month: string; owed?: Owed & { statementId: string } }
  /** `reference` where a provider took it. */
  | { type: 'collection_recorded'; statementId: string; cents: string; byUser: string; reference?: string };

export interface BillingReplies {
  close_periods: { closed: string[] };
  record_collection: { left: string };
  take_payment: { left: string };
}

export type BillingWrite = StoredWrite<'statements', StatementRow> | StoredWrite<'collections', CollectionRow>;

export const BILLING_INITIAL: BillingState = { openPeriod: null, owed: {}, settledBy: {} };
