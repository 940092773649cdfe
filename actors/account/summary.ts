/** An account for the admin endpoints: what it owns, without keys, secrets or customers' references. */
import type { AccountState } from './messages.ts';

/** JSON; extended keys are only counted. Spec §2.8: "Rendered extended keys show only the first eight and last four characters". */
export function summariseAccount(state: AccountState): Readonly<Record<string, unknown>> {
  const { plan, suspended, enrolment, rotation, lease, edge, indexes, activeAddresses, settled, pools, counters } = state;
  return {
    plan: `${plan.tier}/${plan.band}/${plan.subscription}`, suspended,
    enrolled: enrolment !== null, families: Object.keys(enrolment?.keys ?? {}), rotationPending: rotation !== null,
    liveness: edge.liveness, leaseEpoch: lease.epoch, leaseHeld: lease.holder !== null,
    indexes, activeAddresses, settled,
    pools: Object.fromEntries(Object.entries(pools).map(([chain, pool]) => [chain, { size: pool.size, unused: pool.size - pool.next }])),
    withdrawalsOpen: Object.keys(state.withdrawals).length,
    countersInUse: Object.keys(counters).length, webhooks: state.webhooks.length,
  };
}
