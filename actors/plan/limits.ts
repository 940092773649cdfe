/** What an account's plan allows. The tables themselves are protocol/plans.ts; sandbox is exempt from all of them. */
import { refuse, type Refusal } from '../../protocol/errors.ts';
import { addressLimitOf, LAPSE_MS, TIER_TERMS, type TierTerms } from '../../protocol/plans.ts';
import { BANDS, TIERS, type Band, type Tier } from '../../protocol/slugs.ts';
import type { PlanSees } from '../../model/account/capabilities.ts';
import type { Plan } from '../../model/account/plan.ts';

type Counted = 'chains' | 'addresses' | 'settledTransactions' | 'webhooks' | 'edgeSessions';

/** Refuses: TIER_FEATURE_LOCKED once `current` has reached a tier's limit; null means no limit. Spec §8.2. */
export function tierLimit(
  { environment, plan }: Pick<PlanSees, 'environment' | 'plan'>,
  feature: Counted & keyof TierTerms,
  current: number,
  limit: number | null,
): Refusal | null {
  if (environment === 'sandbox' || limit === null || current < limit) return null;
  return refuse('TIER_FEATURE_LOCKED', {
    feature,
    limit,
    current,
    tier: plan.tier,
    requiredTier: tierAbove(plan.tier, feature),
  });
}

function tierAbove(tier: Tier, feature: Counted): Tier | null {
  const limit = TIER_TERMS[tier][feature];
  return (
    TIERS.slice(TIERS.indexOf(tier) + 1).find((above) => {
      const higher = TIER_TERMS[above][feature];
      return limit !== null && (higher === null || higher > limit);
    }) ?? null
  );
}

/** B15: lapsed by an administrator's word, or while a statement is unpaid for 14 days after it was due. */
export function subscriptionOf({ plan, owed }: Pick<PlanSees, 'plan' | 'owed'>, nowMs: number): Plan['subscription'] {
  return Object.values(owed).some(({ dueAtMs }) => nowMs >= dueAtMs + LAPSE_MS) ? 'lapsed' : plan.subscription;
}

/** Refuses: NO_SUBSCRIPTION for a live account whose subscription lapsed. Spec §3.8. */
export function noSubscription(state: Pick<PlanSees, 'environment' | 'plan' | 'owed'>, nowMs: number): Refusal | null {
  return state.environment === 'live' && subscriptionOf(state, nowMs) === 'lapsed' ? refuse('NO_SUBSCRIPTION') : null;
}

/**
 * One more active address. Refuses: TIER_FEATURE_LOCKED (the tier's own limit), ADDRESS_LIMIT_EXCEEDED (the band's).
 * I27.
 */
export function addressLimit(state: Pick<PlanSees, 'environment' | 'plan' | 'activeAddresses'>): Refusal | null {
  const { environment, plan, activeAddresses: current } = state;
  const ofTier = TIER_TERMS[plan.tier].addresses;
  if (ofTier !== null) return tierLimit(state, 'addresses', current, ofTier);
  if (environment === 'sandbox' || current < addressLimitOf(plan)) return null;
  return refuse('ADDRESS_LIMIT_EXCEEDED', { band: plan.band, limit: addressLimitOf(plan), current });
}

/** Bands of a custom agreement are the largest. */
export const isSmallerBand = (band: Band, than: Band): boolean => BANDS.indexOf(band) < BANDS.indexOf(than);

/** Refuses: ADDRESS_LIMIT_EXCEEDED for a smaller plan that does not hold what a live account has. */
export function tooManyAddresses(
  { environment, plan: before, activeAddresses: current }: Pick<PlanSees, 'environment' | 'plan' | 'activeAddresses'>,
  plan: Plan,
): Refusal | null {
  const limit = addressLimitOf(plan);
  const smaller = isSmallerBand(plan.band, before.band) || limit < addressLimitOf(before);
  if (environment !== 'live' || !smaller || current <= limit) return null;
  return refuse('ADDRESS_LIMIT_EXCEEDED', { band: plan.band, limit, current });
}
