/** Whether an organization has single sign-on: premium and above. Console A35. */
import { refuse, type Refusal } from '../../../protocol/errors.ts';
import { accountIdOf } from '../../../protocol/ids.ts';
import { stateOf } from '../account-state.ts';
import type { HandlerDeps } from '../surroundings.ts';

/** Null where it has. Refuses: TIER_FEATURE_LOCKED. */
export async function lockedByTier(deps: HandlerDeps, organizationId: string): Promise<Refusal | null> {
  const { plan } = await stateOf(deps, accountIdOf(organizationId, 'live'));
  return plan.tier === 'free'
    ? refuse('TIER_FEATURE_LOCKED', { feature: 'sso', tier: plan.tier, requiredTier: 'premium' })
    : null;
}
