/** How plan, suspension and the month's count change. */
import type { PlanState } from '../../model/account/plan.ts';
import type { Folds } from '../account/decision.ts';

const of = (settled: PlanState['settled'], period: string): number => (settled.period === period ? settled.count : 0);

export const planFolds: Folds<PlanState, PlanState> = {
  plan_changed: (_, { plan }) => ({ plan }),
  band_change_scheduled: (_, { band, tier, atMs }) => ({
    pendingBand: { band, atMs, ...(tier === undefined ? {} : { tier }) },
  }),
  band_change_ended: () => ({ pendingBand: null }),
  quota_warned: ({ warned }, { period, quota, threshold, used, limit }) => ({
    warned: {
      period,
      quotas: [
        ...(warned.period === period ? warned.quotas : []).filter((one) => one.quota !== quota),
        { quota, threshold, used, limit },
      ],
    },
  }),
  suspension_changed: (_, { suspended }) => ({ suspended }),
  withdrawal_confirmed: ({ settled }, { period }) =>
    period === null ? {} : { settled: { period, count: of(settled, period) + 1 } },
  withdrawal_failed: ({ settled }, { uncounted }) =>
    uncounted === undefined ? {} : { settled: { period: uncounted, count: of(settled, uncounted) - 1 } },
  sandbox_reset_begun: () => ({ resetting: true }),
  sandbox_reset: () => ({ resetting: false, settled: { period: '', count: 0 } }),
};
