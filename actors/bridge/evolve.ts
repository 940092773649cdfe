/** Which bridge policies an account has, and what of each is on its way. */
import type { BridgeState } from '../../model/account/bridge.ts';
import type { Folds } from '../account/decision.ts';

export const bridgeFolds: Folds<BridgeState, BridgeState> = {
  bridge_policy_set: ({ bridgePolicies }, { policy }) => ({
    bridgePolicies: bridgePolicies.some(({ id }) => id === policy.id)
      ? bridgePolicies.map((known) => (known.id === policy.id ? policy : known))
      : [...bridgePolicies, policy],
  }),
  bridge_policy_deleted: ({ bridgePolicies }, deleted) => ({
    bridgePolicies: bridgePolicies.filter(({ id }) => id !== deleted.id),
  }),
  account_wiped: () => ({ bridgePolicies: [] }),
  // Transfers are rows, which go with the reset; policies stay.
  sandbox_reset: ({ bridgePolicies }) => ({
    bridgePolicies: bridgePolicies.map((policy) => ({ ...policy, inFlightCount: 0, inFlightValue: '0' })),
  }),
};
