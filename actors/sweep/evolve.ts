/** Which sweep policies an account has. */
import type { SweepState } from '../../model/account/sweep.ts';
import type { Folds } from '../account/decision.ts';
import { NO_CYCLE } from './firing.ts';

export const sweepFolds: Folds<SweepState, SweepState> = {
  sweep_policy_set: ({ sweepPolicies }, { policy }) => ({
    sweepPolicies: sweepPolicies.some(({ id }) => id === policy.id)
      ? sweepPolicies.map((known) => (known.id === policy.id ? policy : known))
      : [...sweepPolicies, policy],
  }),
  sweep_policy_deleted: ({ sweepPolicies }, deleted) => ({
    sweepPolicies: sweepPolicies.filter(({ id }) => id !== deleted.id),
  }),
  account_wiped: () => ({ sweepPolicies: [] }),
  // Jobs are rows, which go with the reset; policies stay.
  sandbox_reset: ({ sweepPolicies }) => ({
    sweepPolicies: sweepPolicies.map((policy) => ({ ...policy, ...NO_CYCLE })),
  }),
};
