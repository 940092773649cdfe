/** What the account is composed of. A new capability is a folder and a line in each of these lists. */
import type { AccountCommand } from '../../model/account/capabilities.ts';
import { refuse } from '../../protocol/errors.ts';
import { address } from '../address/capability.ts';
import { billing } from '../billing/capability.ts';
import { edgeLink } from '../edge-link/capability.ts';
import { keySource } from '../key-source/capability.ts';
import { payment } from '../payment/capability.ts';
import { migration } from '../migration/capability.ts';
import { plan } from '../plan/capability.ts';
import { sweep } from '../sweep/capability.ts';
import { treasury } from '../treasury/capability.ts';
import { webhook } from '../webhook/capability.ts';
import { wipe } from '../wipe/capability.ts';
import { outgoing } from '../outgoing/capability.ts';
import { accept, type AccountDecision, type Deciding } from './decision.ts';
import { applyFacts } from './facts.ts';

export const CAPABILITIES = {
  edgeLink,
  keySource,
  address,
  outgoing,
  webhook,
  plan,
  billing,
  treasury,
  sweep,
  payment,
  migration,
  wipe,
} as const;

type Decisions = { readonly [T in AccountCommand['type']]: (deciding: Deciding<T>) => AccountDecision<T> };

export const DECISIONS: Decisions = {
  ...edgeLink.decide,
  ...keySource.decide,
  ...address.decide,
  ...outgoing.decide,
  ...webhook.decide,
  ...treasury.decide,
  ...sweep.decide,
  ...plan.decide,
  ...billing.decide,
  ...payment.decide,
  ...migration.decide,
  ...wipe.decide,
  apply_facts: applyFacts,
  inspect: ({ state }) => accept(state),
  reset_sandbox: resetSandbox,
};

/**
 * Begins anew, once its rows are gone: who comes second finds it done. Refuses: SANDBOX_ONLY; the store: while steps
 * are left.
 */
function resetSandbox({ state }: Deciding<'reset_sandbox'>): AccountDecision<'reset_sandbox'> {
  if (state.environment !== 'sandbox') return refuse('SANDBOX_ONLY');
  if (!state.resetting) return accept({ reset: true });
  return accept({ reset: true }, [{ type: 'sandbox_reset' }], [{ table: 'sandbox_reset' }]);
}
