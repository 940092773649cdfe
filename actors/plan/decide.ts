/**
 * Another plan. Spec §3.8; console B7, B8, B13, B14:
 *
 *   larger band or tier    at once, at a charge for the rest of the month; a smaller one that waited is withdrawn
 *   smaller band or tier   at the end of the period; refused now, and given up then, if what there is does not fit
 *   the present plan       withdraws what waits
 *
 * Each decision first ends the months that are over (`turnOfMonth`), so that its charges belong to the running one.
 */
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import { addressLimitOf, isOnBand, TIER_TERMS } from '../../protocol/plans.ts';
import { TIERS, type Tier } from '../../protocol/slugs.ts';
import { billingPeriod, boundsOf } from '../billing/charges.ts';
import { chargesOf, turnOfMonth, type Turn } from '../billing/period.ts';
import { accept, firstRefusal, type AccountDecision, type Deciding } from '../account/decision.ts';
import type { AccountEvent, PlanSees, RowWrite } from '../../model/account/capabilities.ts';
import type { PendingBand, Plan } from '../../model/account/plan.ts';
import { isSmallerBand, noSubscription, tooManyAddresses } from './limits.ts';

/** What came by agreement is changed by agreement. */
const BY_AGREEMENT = refuse('FORBIDDEN', { reason: 'by_agreement' });

/**
 * What an administrator sets. Only a smaller band waits for the end of the period.
 * Refuses: ADDRESS_LIMIT_EXCEEDED, CONFLICT (too many changes in one month).
 */
export function changePlan({ state, command, nowMs }: Deciding<'change_plan'>): AccountDecision<'change_plan'> {
  const turn = turnOfMonth(state, nowMs);
  const plan: Plan = { ...turn.plan, ...command.plan };
  const full = tooManyAddresses(turn, plan);
  if (full !== null) return full;
  if (state.environment !== 'live' || !isSmallerBand(plan.band, turn.plan.band)) {
    return changeNow(turn, plan, command.plan.band !== undefined, nowMs);
  }
  const now: Plan = { ...plan, band: turn.plan.band };
  const changed =
    Object.keys(command.plan).length > 1 ? changeNow(turn, now, false, nowMs) : accept(now, turn.events, turn.rows);
  if (changed.ok !== true) return changed;
  const pendingBand: PendingBand = { band: plan.band, atMs: endOfPeriod(nowMs) };
  return accept({ ...now, pendingBand }, [...changed.events, scheduled(pendingBand)], changed.rows);
}

/**
 * What an owner buys.
 * Refuses: NO_SUBSCRIPTION, FORBIDDEN (by agreement), TIER_FEATURE_LOCKED (a band on Free; what Free does not hold),
 * INVALID_INPUT (no band for a tier that has one), ADDRESS_LIMIT_EXCEEDED, CONFLICT (too many changes in one month).
 */
export function buyPlan({ state, command, nowMs }: Deciding<'buy_plan'>): AccountDecision<'buy_plan'> {
  const turn = turnOfMonth(state, nowMs);
  const { tier = turn.plan.tier, band = turn.plan.band } = command;
  const plan: Plan = { ...turn.plan, tier, band };
  const smaller = isLower(tier, turn.plan.tier) || (tier === turn.plan.tier && isSmallerBand(band, turn.plan.band));
  const no = firstRefusal(
    noSubscription(turn, nowMs),
    byAgreement(turn.plan, plan),
    bandOf(turn.plan, command, tier),
    smaller ? doesNotFit(turn, plan) : null,
  );
  if (no !== null) return no;
  if (!smaller || state.environment !== 'live') return changeNow(turn, plan, true, nowMs);
  const pendingBand: PendingBand = { band, atMs: endOfPeriod(nowMs), ...(tier === turn.plan.tier ? {} : { tier }) };
  return accept({ ...turn.plan, pendingBand }, [...turn.events, scheduled(pendingBand)], turn.rows);
}

/** B12: what the same command would do within the same second. It refuses nothing: what would is part of the answer. */
export function previewPlan(deciding: Deciding<'preview_plan'>): AccountDecision<'preview_plan'> {
  const { state, command, nowMs } = deciding;
  const decision = buyPlan({ ...deciding, command: { ...command, type: 'buy_plan' } });
  const turn = turnOfMonth(state, nowMs);
  const plan: Plan = { ...turn.plan, tier: command.tier ?? turn.plan.tier, band: command.band ?? turn.plan.band };
  const nothing = { plan, atMs: null, prorationCents: '0', overage: { transactions: 0, mills: '0' } };
  if (isRefusal(decision)) return accept({ ...nothing, refusal: { code: decision.code, details: decision.details } });
  const { pendingBand } = decision.reply;
  const waits = pendingBand !== null && pendingBand !== turn.pendingBand;
  if (!waits && plan.tier === turn.plan.tier && plan.band === turn.plan.band)
    return accept({ ...nothing, refusal: null });
  const charges = decision.events.flatMap((event) => (event.type === 'charge_made' ? [event.charge] : []));
  const proration = charges.find((charge) => charge.kind === 'proration'),
    overage = charges.find((charge) => charge.kind === 'overage');
  return accept({
    plan,
    atMs: waits ? pendingBand.atMs : nowMs,
    prorationCents: proration?.cents ?? '0',
    overage: {
      transactions: overage?.quantity ?? 0,
      mills: String(BigInt(overage?.quantity ?? 0) * BigInt(overage?.rateMills ?? 0)),
    },
    refusal: null,
  });
}

/** Puts a smaller plan into force whose period has begun; asked earlier, or again, it changes nothing. */
export function settleBand({ state, nowMs }: Deciding<'settle_band'>): AccountDecision<'settle_band'> {
  const { plan, pendingBand, events, rows } = turnOfMonth(state, nowMs);
  return accept({ ...plan, pendingBand }, events, rows);
}

/** Switches an account off or on; asked again it changes nothing. */
export function suspend({ state, command }: Deciding<'suspend'>): AccountDecision<'suspend'> {
  const { suspended, byUser, reason } = command;
  if (state.suspended === suspended) return accept({ suspended });
  return accept({ suspended }, [
    { type: 'suspension_changed', suspended, byUser, ...(reason === undefined ? {} : { reason }) },
  ]);
}

function changeNow(
  turn: Turn,
  plan: Plan,
  withdraws: boolean,
  nowMs: number,
): AccountDecision<'change_plan' | 'buy_plan'> {
  const charges = chargesOf(turn, plan, nowMs);
  if (!Array.isArray(charges)) return charges as Refusal;
  const withdrawn = withdraws && turn.pendingBand !== null;
  return accept(
    { ...plan, pendingBand: withdrawn ? null : turn.pendingBand },
    [
      ...turn.events,
      ...charges,
      { type: 'plan_changed', plan },
      ...(withdrawn ? [{ type: 'band_change_ended', reason: 'withdrawn' } as const] : []),
    ],
    turn.rows,
  );
}

const scheduled = ({ band, tier, atMs }: PendingBand): AccountEvent => ({
  type: 'band_change_scheduled',
  band,
  atMs,
  ...(tier === undefined ? {} : { tier }),
});

const endOfPeriod = (nowMs: number): number => boundsOf(billingPeriod(nowMs)).endMs;
const isLower = (tier: Tier, than: Tier): boolean => TIERS.indexOf(tier) < TIERS.indexOf(than);

/** B13: a custom band and the highest tier are agreed on, into them and out of them. */
function byAgreement(before: Plan, after: Plan): Refusal | null {
  const agreed = ({ tier, band }: Plan) => [tier === 'ultimate', isOnBand({ tier }) && band === 'custom'];
  const [was, is] = [agreed(before), agreed(after)];
  return was.some((one, at) => one !== is[at]) ? BY_AGREEMENT : null;
}

/** A tier that has bands is bought with one; Free has none. */
function bandOf(before: Plan, { band }: { band?: unknown }, tier: Tier): Refusal | null {
  if (!isOnBand({ tier })) {
    return band === undefined
      ? null
      : refuse('TIER_FEATURE_LOCKED', { feature: 'band', tier, requiredTier: 'premium' });
  }
  if (isOnBand(before) || band !== undefined) return null;
  return refuse('INVALID_INPUT', { field: 'band', expected: 'one of the bands, with which this tier is bought' });
}

/** B14: what a smaller plan does not hold of what there is. */
function doesNotFit(state: PlanSees, plan: Plan): Refusal | null {
  if (state.environment !== 'live') return null;
  if (plan.tier === state.plan.tier) return tooManyAddresses(state, plan);
  const terms = TIER_TERMS[plan.tier];
  const exceeded = (
    [
      ['chains', terms.chains, state.chains.length],
      ['addresses', addressLimitOf(plan), state.activeAddresses],
      ['webhooks', terms.webhooks, state.webhooks.length],
    ] as const
  ).flatMap(([feature, limit, current]) => (limit !== null && current > limit ? [{ feature, limit, current }] : []));
  if (exceeded.length === 0) return null;
  return refuse('TIER_FEATURE_LOCKED', { tier: plan.tier, exceeded });
}

/** Its rows are deleted from now on; a live account has no such thing. Refuses: SANDBOX_ONLY. Spec §4.7. */
export function beginReset({ state }: Deciding<'begin_reset'>): AccountDecision<'begin_reset'> {
  if (state.environment !== 'sandbox') return refuse('SANDBOX_ONLY');
  if (state.resetting) return accept({ begun: true });
  return accept({ begun: true }, [{ type: 'sandbox_reset_begun' }], [MARK]);
}
const MARK: RowWrite = { table: 'sandbox_resets_begun', row: {}, key: '' };
