/** What an account's plan allows. The tables themselves are protocol/plans.ts; sandbox is exempt from all of them. */
import { refuse, type Refusal } from '../../protocol/errors.ts';
import { addressLimitOf, BAND_TERMS, TIER_TERMS, type TierTerms } from '../../protocol/plans.ts';
import { TIERS, type Tier } from '../../protocol/slugs.ts';
import { accept, type AccountDecision, type Deciding } from './decision.ts';
import type { AccountState, Plan } from './messages.ts';

type Counted = 'chains' | 'addresses' | 'settledTransactions' | 'webhooks' | 'edgeSessions';

/** Refuses: TIER_FEATURE_LOCKED once `current` has reached a tier's limit; a null limit is none. Spec §8.2. */
export function tierLimit(
  { environment, plan }: AccountState, feature: Counted & keyof TierTerms, current: number, limit: number | null,
): Refusal | null {
  if (environment === 'sandbox' || limit === null || current < limit) return null;
  return refuse(
    'TIER_FEATURE_LOCKED', { feature, limit, current, tier: plan.tier, requiredTier: tierAbove(plan.tier, feature) },
  );
}

function tierAbove(tier: Tier, feature: Counted): Tier | null {
  const limit = TIER_TERMS[tier][feature];
  return TIERS.slice(TIERS.indexOf(tier) + 1).find((above) => {
    const higher = TIER_TERMS[above][feature];
    return limit !== null && (higher === null || higher > limit);
  }) ?? null;
}

/** Refuses: NO_SUBSCRIPTION for a live account whose subscription lapsed. Spec §3.8. */
export function noSubscription({ environment, plan }: AccountState): Refusal | null {
  return environment === 'live' && plan.subscription === 'lapsed' ? refuse('NO_SUBSCRIPTION') : null;
}

/**
 * One more active address. Refuses: TIER_FEATURE_LOCKED (the tier's own limit), ADDRESS_LIMIT_EXCEEDED (the band's).
 * I27.
 */
export function addressLimit(state: AccountState): Refusal | null {
  const { environment, plan, activeAddresses: current } = state;
  const ofTier = TIER_TERMS[plan.tier].addresses;
  if (ofTier !== null) return tierLimit(state, 'addresses', current, ofTier);
  if (environment === 'sandbox' || current < addressLimitOf(plan)) return null;
  return refuse('ADDRESS_LIMIT_EXCEEDED', { band: plan.band, limit: addressLimitOf(plan), current });
}

/**
 * Another plan. Refuses: ADDRESS_LIMIT_EXCEEDED when the active addresses do not fit. Spec §3.8: "refused if active
 * address count exceeds the target band cap".
 */
export function changePlan({ state, command }: Deciding<'change_plan'>): AccountDecision<'change_plan'> {
  const plan: Plan = { ...state.plan, ...command.plan };
  const limit = addressLimitOf(plan), current = state.activeAddresses;
  const smallerBand = BAND_TERMS[plan.band].addresses < BAND_TERMS[state.plan.band].addresses;
  const smaller = smallerBand || limit < addressLimitOf(state.plan);
  if (state.environment === 'live' && smaller && current > limit) {
    return refuse('ADDRESS_LIMIT_EXCEEDED', { band: plan.band, limit, current });
  }
  return accept(plan, [{ type: 'plan_changed', plan }]);
}

/** Switches an account off or on. */
export function suspend({ state, command }: Deciding<'suspend'>): AccountDecision<'suspend'> {
  const { suspended } = command;
  return accept({ suspended }, state.suspended === suspended ? [] : [{ type: 'suspension_changed', suspended }]);
}

/** Calendar month of an instant, UTC: `2026-08`. */
export function billingPeriod(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 7);
}
