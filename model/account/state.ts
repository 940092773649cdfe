/** The state that an account begins with. */
import type { AccountId } from '../../protocol/ids.ts';
import type { Environment } from '../../protocol/slugs.ts';
import { type AccountState, STATE_INITIAL } from './capabilities.ts';
import { STATE_FORMAT } from './snapshot.ts';
import type { Plan } from './plan.ts';

/** An account before its first event: what creating an organization stores as the first snapshot. */
export function initialAccount(account: {
  accountId: AccountId;
  organizationId: string;
  environment: Environment;
  plan: Plan;
}): AccountState {
  return { format: STATE_FORMAT, version: 0, ...account, ...structuredClone(STATE_INITIAL) };
}
