/** What an account's plan allows. The tables themselves are protocol/plans.ts; sandbox is exempt from all of them. */
import { refuse, type Refusal } from '../../protocol/errors.ts';
import { addressLimitOf, BAND_TERMS, TIER_TERMS, type TierTerms } from '../../protocol/plans.ts';
import { TIERS, type Band, type Tier } from '../../protocol/slugs.ts';
import { accept, type AccountDecision, type Deciding } from '../account/decision.ts';
import type { AccountEvent, PlanSees } from '../../model/account/capabilities.ts';
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

/** Refuses: NO_SUBSCRIPTION for a live account whose subscription lapsed. Spec §3.8. */
export function noSubscription({ environment, plan }: Pick<PlanSees, 'environment' | 'plan'>): Refusal | null {
  return environment === 'live' && plan.subscription === 'lapsed' ? refuse('NO_SUBSCRIPTION') : null;
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

/**
 * Another plan. Spec §3.8:
 *
 *   larger band       at once; a smaller one that was waiting is withdrawn
 *   smaller band      at the end of the period, "refused if active address count exceeds the target band cap"
 *   the present band  withdraws what waits
 *
 * Refuses: ADDRESS_LIMIT_EXCEEDED when the active addresses do not fit.
 */
export function changePlan({ state, command, nowMs }: Deciding<'change_plan'>): AccountDecision<'change_plan'> {
  const plan: Plan = { ...state.plan, ...command.plan };
  const full = tooManyAddresses(state, plan);
  if (full !== null) return full;
  const waiting = state.pendingBand;
  const { band } = plan;
  if (state.environment === 'live' && isSmaller(band, state.plan.band)) {
    const atMs = nextPeriodMs(nowMs),
      before: Plan = { ...plan, band: state.plan.band };
    const events: AccountEvent[] = [{ type: 'band_change_scheduled', band, atMs }];
    if (Object.keys(command.plan).length > 1) events.unshift({ type: 'plan_changed', plan: before });
    return accept({ ...before, pendingBand: { band, atMs } }, events);
  }
  const withdrawn = waiting !== null && command.plan.band !== undefined;
  return accept({ ...plan, pendingBand: withdrawn ? null : waiting }, [
    { type: 'plan_changed', plan },
    ...(withdrawn ? [{ type: 'band_change_ended', reason: 'withdrawn' } as const] : []),
  ]);
}

/**
 * Puts the smaller band into force once its period has begun; asked earlier, or again, it changes nothing. A band that
 * no longer holds the active addresses is given up: no address is taken from a customer.
 */
export function settleBand({ state, nowMs }: Deciding<'settle_band'>): AccountDecision<'settle_band'> {
  const { pendingBand } = state;
  if (pendingBand === null || nowMs < pendingBand.atMs) return accept({ ...state.plan, pendingBand });
  const plan: Plan = { ...state.plan, band: pendingBand.band };
  if (tooManyAddresses(state, plan) !== null) {
    return accept({ ...state.plan, pendingBand: null }, [{ type: 'band_change_ended', reason: 'too_many_addresses' }]);
  }
  return accept({ ...plan, pendingBand: null }, [
    { type: 'plan_changed', plan },
    { type: 'band_change_ended', reason: 'in_force' },
  ]);
}

const isSmaller = (band: Band, than: Band): boolean => BAND_TERMS[band].addresses < BAND_TERMS[than].addresses;

/** Refuses: ADDRESS_LIMIT_EXCEEDED for a smaller plan that does not hold what a live account has. */
function tooManyAddresses(
  { environment, plan: before, activeAddresses: current }: PlanSees,
  plan: Plan,
): Refusal | null {
  const limit = addressLimitOf(plan);
  const smaller = isSmaller(plan.band, before.band) || limit < addressLimitOf(before);
  if (environment !== 'live' || !smaller || current <= limit) return null;
  return refuse('ADDRESS_LIMIT_EXCEEDED', { band: plan.band, limit, current });
}

/** When the calendar month after an instant begins, UTC. */
function nextPeriodMs(atMs: number): number {
  const [year, month] = billingPeriod(atMs).split('-').map(Number) as [number, number];
  return Date.UTC(year, month, 1);
}

/** Switches an account off or on; asked again it changes nothing. */
export function suspend({ state, command }: Deciding<'suspend'>): AccountDecision<'suspend'> {
  const { suspended, byUser, reason } = command;
  if (state.suspended === suspended) return accept({ suspended });
  return accept({ suspended }, [
    { type: 'suspension_changed', suspended, byUser, ...(reason === undefined ? {} : { reason }) },
  ]);
}

/** Calendar month of an instant, UTC: `2026-08`. */
export function billingPeriod(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 7);
}
