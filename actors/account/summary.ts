/** An account as an administrator sees it: counts and states, no key, no address. */
import type { AccountState } from '../../model/account/capabilities.ts';

/** What actor inspection shows of an account. Spec: §5.10, no extended key and no secret. */
export function summariseAccount(state: AccountState): Readonly<Record<string, unknown>> {
  const counters = Object.values(state.counters);
  return {
    environment: state.environment,
    tier: state.plan.tier,
    band: state.plan.band,
    subscription: state.plan.subscription,
    suspended: state.suspended,
    rotationPending: state.rotation !== null,
    enrolledFamilies: Object.keys(state.enrolment?.keys ?? {}),
    leaseEpoch: state.lease.epoch,
    leaseHeld: state.lease.holder !== null,
    edge: state.edge.liveness,
    activeAddresses: state.activeAddresses,
    webhooks: state.webhooks.length,
    openWithdrawals: Object.keys(state.withdrawals).length,
    countersInFlight: counters.reduce((sum, { inFlight }) => sum + Object.keys(inFlight).length, 0),
    pools: Object.fromEntries(
      Object.entries(state.pools).map(([chain, { size, next }]) => [chain, { size, unused: size - next }]),
    ),
  };
}
