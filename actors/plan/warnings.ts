/**
 * Warnings at 80 % and 100 % of what a plan has, once for each quota, month and threshold: a decision that reaches one
 * brings the event, the letter to owners hangs on its row. Pure. Console B16.
 */
import type { AccountEvent, AccountState, RowWrite } from '../../model/account/capabilities.ts';
import type { Quota, QuotaWarning } from '../../model/account/plan.ts';
import { addressLimitOf, settledIncludedOf, TIER_TERMS } from '../../protocol/plans.ts';
import { accept, type AccountDecision, type Deciding } from '../account/decision.ts';
import { billingPeriod, settledIn } from '../billing/charges.ts';

/** Highest first: what reaches both at once is warned of once. Percent. */
const THRESHOLDS = [100, 80] as const;

type Used = readonly [quota: Quota, used: number, limit: number | null];

/** How many edge sessions are open, as the room of the account counts them. */
export function noteSessions({
  state,
  command: { open },
  nowMs,
}: Deciding<'note_sessions'>): AccountDecision<'note_sessions'> {
  if (state.environment === 'sandbox') return accept({ open });
  const limit = TIER_TERMS[state.plan.tier].edgeSessions;
  const { events, rows } = warningsOf(state, billingPeriod(nowMs), [['edgeSessions', open, limit]]);
  return accept({ open }, events, rows);
}

/** Warnings of a month, as they are shown: nothing of another one. */
export function shownWarnings({ warned }: Pick<AccountState, 'warned'>, period: string): readonly QuotaWarning[] {
  return warned.period === period ? warned.quotas : [];
}

/** What the account itself counts, against its plan. */
export function usedOf(state: AccountState, period: string): readonly Used[] {
  const { plan, webhooks, activeAddresses } = state;
  return [
    ['addresses', activeAddresses, addressLimitOf(plan)],
    ['settledTransactions', settledIn(state, period), settledIncludedOf(plan)],
    ['webhooks', webhooks.length, TIER_TERMS[plan.tier].webhooks],
  ];
}

/** What became due to be warned of. */
export function warningsOf(
  state: Pick<AccountState, 'warned'>,
  period: string,
  all: readonly Used[],
): { events: AccountEvent[]; rows: RowWrite[] } {
  const shown = shownWarnings(state, period);
  const due = all.flatMap(([quota, used, limit]): QuotaWarning[] => {
    if (limit === null || used === 0) return [];
    const threshold = THRESHOLDS.find((percent) => used * 100 >= limit * percent);
    const before = shown.find((one) => one.quota === quota)?.threshold ?? 0;
    return threshold === undefined || threshold <= before ? [] : [{ quota, threshold, used, limit }];
  });
  return {
    events: due.map((warning) => ({ type: 'quota_warned', period, ...warning })),
    rows: due.map((warning) => ({
      table: 'quota_warnings',
      row: { period, quota: warning.quota, threshold: warning.threshold, used: warning.used, of: warning.limit },
      key: `${period}/${warning.quota}/${warning.threshold}`,
    })),
  };
}
