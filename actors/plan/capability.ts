/** Plan, billing and suspension. */
import type { PlanCommand, PlanState } from '../../model/account/plan.ts';
import type { Capability } from '../account/decision.ts';
import { changePlan, settleBand, suspend } from './decide.ts';
import { planFolds } from './evolve.ts';

export const plan: Capability<PlanCommand, PlanState, PlanState> = {
  owns: ['plan', 'pendingBand', 'suspended', 'settled'],
  decide: { change_plan: changePlan, settle_band: settleBand, suspend },
  folds: planFolds,
};
