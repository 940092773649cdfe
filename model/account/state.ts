/** The state that an account begins with, and what a sandbox reset leaves of one. */
import type { AccountId } from '../../protocol/ids.ts';
import { POOLED_CHAINS, type Environment } from '../../protocol/slugs.ts';
import type { AccountState, Plan, Pool, RetiredIdentity } from './commands.ts';

/** An account before its first event: what creating an organization stores as the first snapshot. */
export function initialAccount(
  account: { accountId: AccountId; organizationId: string; environment: Environment; plan: Plan },
): AccountState {
  return {
    version: 0,
    ...account,
    pendingBand: null,
    suspended: false,
    enrolment: null,
    rotation: null,
    pools: {},
    indexes: {},
    chains: [],
    activeAddresses: 0,
    peak: { day: '', active: 0 },
    settled: { period: '', count: 0 },
    webhooks: [],
    webhookSeals: {},
    lease: { epoch: 0, holder: null },
    edge: { liveness: 'never_connected' },
    counters: {},
    withdrawals: {},
    reopened: [],
  };
}

/** Without addresses and transactions; enrolment, key sources, webhooks, lease and plan stay. Spec: §4.7. */
export function withoutTransactions(state: AccountState): AccountState {
  const pools = Object.fromEntries(Object.entries(state.pools).map(([chain, pool]) => [chain, rewound(pool)]));
  return {
    ...state, ...withoutSourceAddresses(state), pools, indexes: {}, chains: [], activeAddresses: 0, counters: {}, withdrawals: {}, reopened: [],
    settled: { period: '', count: 0 }, ...withoutRetiredIndexes(state),
  };
}

// Indexes begin again, so none is a retired identity's any more; those of a pool go on (`base`).
function withoutRetiredIndexes({ retired }: AccountState): Pick<AccountState, 'retired'> {
  if (retired === undefined) return {};
  const pooledOnly = (next: RetiredIdentity['next']) =>
    Object.fromEntries(Object.entries(next).filter(([family]) => (POOLED_CHAINS as readonly string[]).includes(family)));
  return { retired: retired.map((identity) => ({ ...identity, next: pooledOnly(identity.next) })) };
}

function withoutSourceAddresses({ keySources }: AccountState): Pick<AccountState, 'keySources'> {
  if (keySources === undefined) return {};
  return { keySources: Object.fromEntries(Object.entries(keySources).map(([id, source]) => [id, { ...source, addresses: 0 }])) };
}

/** Back to the first address of the present identity: what lies below it belongs to one that was rotated away. */
function rewound(pool: Pool): Pool {
  const { base = 0, size } = pool;
  return { ...pool, next: base, capacity: size - base, lowAnnounced: false };
}
