/** The state that an account begins with. */
import type { AccountId } from '../../protocol/ids.ts';
import type { Environment } from '../../protocol/slugs.ts';
import type { AccountState } from './commands.ts';
import { STATE_FORMAT } from './snapshot.ts';
import type { Plan } from './plan.ts';

/** An account before its first event: what creating an organization stores as the first snapshot. */
export function initialAccount(account: {
  accountId: AccountId;
  organizationId: string;
  environment: Environment;
  plan: Plan;
}): AccountState {
  return {
    format: STATE_FORMAT,
    version: 0,
    ...account,
    pendingBand: null,
    suspended: false,
    enrolment: null,
    rotation: null,
    retired: [],
    keySources: {},
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
