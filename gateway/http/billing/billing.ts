/** Usage of the running month and the band. Spec §2.9, §3.8, §8. Sandbox is free and not metered. */
import type { AccountReplies, AccountState } from '../../../model/account/capabilities.ts';
import { billedPeak, dayOf } from '../../../actors/address/peak.ts';
import { billingPeriod } from '../../../actors/plan/decide.ts';
import { formatAmount } from '../../../protocol/money.ts';
import { addressLimitOf, BAND_TERMS, settledIncludedOf, TIER_TERMS } from '../../../protocol/plans.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { accountOf, claimOf, type Handlers } from '../context.ts';
import { stateOf } from '../account-state.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { instantOf } from '../views.ts';

/** Overage is counted in thousandths of a dollar. */
const MILLS_DECIMALS = 3;

export function billingHandlers(deps: HandlerDeps): Pick<Handlers, 'getUsage' | 'changeBand'> {
  return {
    async getUsage(asked) {
      const accountId = accountOf(asked),
        nowMs = deps.nowMs();
      const period = billingPeriod(nowMs);
      const [state, peak] = await Promise.all([
        stateOf(deps, accountId),
        deps.stores.reads.addressPeak(accountId, period),
      ]);
      return usageOf(state, nowMs, peak);
    },
    changeBand: {
      replay: async (stored) => planView(stored as AccountReplies['change_plan']),
      async handle(asked) {
        const answer = await deps.accounts.ask(accountOf(asked), {
          type: 'change_plan',
          plan: { band: asked.body.band },
          ...claimOf(asked),
        });
        return answer.ok === true ? planView(answer.reply) : answer;
      },
    },
  };
}

/** A plan as it is shown. */
export function planView({
  tier,
  band,
  subscription,
  paymentsActive,
  pendingBand,
}: AccountReplies['change_plan']): ReplyOf<'changeBand'> {
  return {
    tier,
    band,
    subscription,
    paymentsActive,
    pendingBand: pendingBand === null ? null : { band: pendingBand.band, effectiveAt: instantOf(pendingBand.atMs) },
  };
}

/**
 * Counters of the account against its plan. `ofRows` is the highest day of the month that has a row, null before the
 * first. The projection is a straight line through the month so far.
 */
export function usageOf(state: AccountState, nowMs: number, ofRows: number | null): ReplyOf<'getUsage'> {
  const { environment, plan, pendingBand, activeAddresses, settled } = state;
  const period = billingPeriod(nowMs);
  const [year, month] = period.split('-').map(Number) as [number, number];
  const startMs = Date.UTC(year, month - 1, 1),
    endMs = Date.UTC(year, month, 1);
  const metered = environment === 'live';
  const count = settled.period === period ? settled.count : 0;
  const included = settledIncludedOf(plan);
  const projected = Math.ceil((count * (endMs - startMs)) / Math.max(1, nowMs - startMs));
  // A tier with its own count stops there; only a band goes on with overage.
  const goesOver = metered && TIER_TERMS[plan.tier].settledTransactions === null;
  const over = (transactions: number) => (goesOver ? Math.max(0, transactions - included) : 0);
  const price = (transactions: number) =>
    formatAmount(BigInt(transactions) * BigInt(BAND_TERMS[plan.band].overageMills), MILLS_DECIMALS);
  return {
    period: { start: dayOf(startMs), end: dayOf(endMs - 1) },
    plan: planView({ ...plan, pendingBand }),
    activeAddresses: {
      current: activeAddresses,
      billed: billedPeak(state, period, ofRows),
      limit: metered ? addressLimitOf(plan) : null,
    },
    settledTransactions: { count, included: metered ? included : null },
    overage: { transactions: over(count), amount: price(over(count)), currency: 'USD' },
    projected: { transactions: projected, overageAmount: price(over(projected)) },
  };
}
