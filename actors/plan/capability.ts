/** Plan, billing and suspension. */
import type { PlanSees } from '../../model/account/capabilities.ts';
import type { PlanCommand, PlanState } from '../../model/account/plan.ts';
import type { Capability } from '../account/decision.ts';
import { beginReset, buyPlan, changePlan, previewPlan, settleBand, suspend } from './decide.ts';
import { noteSessions } from './warnings.ts';
import { planFolds } from './evolve.ts';

export const plan: Capability<PlanCommand, PlanSees, PlanState> = {
  owns: ['plan', 'pendingBand', 'suspended', 'resetting', 'settled', 'warned'],
  decide: {
    change_plan: changePlan,
    buy_plan: buyPlan,
    preview_plan: previewPlan,
    settle_band: settleBand,
    suspend,
    begin_reset: beginReset,
    note_sessions: noteSessions,
  },
  folds: planFolds,
};
