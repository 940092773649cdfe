/** Plan, billing and suspension of an account. Spec §3.8. */
import type { Band, Tier } from '../../protocol/slugs.ts';

export interface Plan {
  tier: Tier;
  band: Band;
  subscription: 'active' | 'lapsed';
  paymentsActive: boolean;
}

/** A smaller band that was asked for and begins with the next period. Spec §3.8. */
export interface PendingBand {
  band: Band;
  atMs: number;
}

export interface PlanState {
  plan: Plan;
  pendingBand: PendingBand | null;
  suspended: boolean;
  /** Withdrawals and sweeps of the billing month. */
  settled: { period: string; count: number };
}

export type PlanCommand =
  | { type: 'change_plan'; plan: Partial<Plan> }
  /** Puts a smaller band into force whose period has begun. */
  | { type: 'settle_band' }
  | { type: 'suspend'; suspended: boolean; byUser: string; reason?: string };

export type PlanEvent =
  | { type: 'plan_changed'; plan: Plan }
  | { type: 'band_change_scheduled'; band: Band; atMs: number }
  | { type: 'band_change_ended'; reason: 'in_force' | 'withdrawn' | 'too_many_addresses' }
  // Events that are older than `byUser` have none.
  | { type: 'suspension_changed'; suspended: boolean; byUser?: string; reason?: string };

export interface PlanReplies {
  change_plan: Plan & { pendingBand: PendingBand | null };
  settle_band: Plan & { pendingBand: PendingBand | null };
  suspend: { suspended: boolean };
}

/** `plan` itself comes with the organization. */
export const PLAN_INITIAL: Omit<PlanState, 'plan'> = {
  pendingBand: null,
  suspended: false,
  settled: { period: '', count: 0 },
};
