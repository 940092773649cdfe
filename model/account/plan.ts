/** Plan, billing and suspension of an account. Spec §3.8. */
import type { BandTerms } from '../../protocol/plans.ts';
import type { Band, Tier } from '../../protocol/slugs.ts';
import type { StoredWrite } from '../rows/stored.ts';

export interface Plan {
  tier: Tier;
  band: Band;
  subscription: 'active' | 'lapsed';
  paymentsActive: boolean;
  /** What was agreed on for a custom band. */
  terms?: BandTerms | null;
}

/** A smaller plan that was asked for and begins with the next period; without a tier it stays. Spec §3.8. */
export interface PendingBand {
  band: Band;
  tier?: Tier;
  atMs: number;
}

export type Quota = 'addresses' | 'settledTransactions' | 'webhooks' | 'edgeSessions';

/** A part of a plan that was nearly or wholly used up when it was noted. Console B16. */
export interface QuotaWarning {
  readonly quota: Quota;
  /** Percent. */
  readonly threshold: 80 | 100;
  readonly used: number;
  readonly limit: number;
}

export interface PlanState {
  plan: Plan;
  pendingBand: PendingBand | null;
  suspended: boolean;
  /** Of a sandbox: it is begun anew, and takes nothing new before its rows are gone. */
  resetting: boolean;
  /** Withdrawals and sweeps of the billing month. */
  settled: { period: string; count: number };
  /** The highest warning of each quota in a month. */
  warned: { period: string; quotas: readonly QuotaWarning[] };
}

export interface PlanPreview {
  /** As it would be at `atMs`; null: nothing would change. */
  plan: Plan;
  atMs: number | null;
  /** For the rest of the month, cents of a dollar. */
  prorationCents: string;
  /** What the change fixes of what was used above the present band, thousandths of a dollar. */
  overage: { transactions: number; mills: string };
  refusal: { code: string; details: Readonly<Record<string, unknown>> } | null;
}

export type PlanCommand =
  | { type: 'change_plan'; plan: Partial<Plan> }
  | { type: 'buy_plan'; tier?: Tier | undefined; band?: Band | undefined }
  /** What `buy_plan` would do; changes nothing. */
  | { type: 'preview_plan'; tier?: Tier | undefined; band?: Band | undefined }
  /** Puts a smaller plan into force whose period has begun. */
  | { type: 'settle_band' }
  | { type: 'note_sessions'; open: number }
  /** Of a sandbox: takes nothing new from now on, until its rows are gone and it begins anew. */
  | { type: 'begin_reset' }
  | { type: 'suspend'; suspended: boolean; byUser: string; reason?: string };

export type PlanEvent =
  | ({ type: 'quota_warned'; period: string } & QuotaWarning)
  | { type: 'plan_changed'; plan: Plan }
  | { type: 'sandbox_reset_begun' }
  | { type: 'band_change_scheduled'; band: Band; tier?: Tier; atMs: number }
  | { type: 'band_change_ended'; reason: 'in_force' | 'withdrawn' | 'too_many_addresses' }
  // Events that are older than `byUser` have none.
  | { type: 'suspension_changed'; suspended: boolean; byUser?: string; reason?: string };

export interface PlanReplies {
  change_plan: Plan & { pendingBand: PendingBand | null };
  preview_plan: PlanPreview;
  buy_plan: Plan & { pendingBand: PendingBand | null };
  settle_band: Plan & { pendingBand: PendingBand | null };
  suspend: { suspended: boolean };
  note_sessions: { open: number };
  begin_reset: { begun: true };
}

export type PlanWrite =
  /** Written with its event; the letter to each owner hangs on it. */
  | StoredWrite<'quota_warnings', { period: string; quota: Quota; threshold: number; used: number; of: number }>
  /**
   * The mark of a reset: from now on reset_step deletes deposit addresses, transactions, deliveries, inbox and facts of
   * the account.
   */
  | StoredWrite<'sandbox_resets_begun', object>;

/** `plan` itself comes with the organization. */
export const PLAN_INITIAL: Omit<PlanState, 'plan'> = {
  pendingBand: null,
  suspended: false,
  resetting: false,
  settled: { period: '', count: 0 },
  warned: { period: '', quotas: [] },
};
