/** Usage of the running month, plans and statements. Spec §2.9, §3.8, §8; console part 3. Sandbox is free. */
import { billedPeak, dayOf } from '../../../actors/address/peak.ts';
import { billingPeriod, boundsOf, overageOf, projectedOf, settledIn } from '../../../actors/billing/charges.ts';
import { shownWarnings } from '../../../actors/plan/warnings.ts';
import { subscriptionOf } from '../../../actors/plan/limits.ts';
import type { Priced, StatementLine } from '../../../model/account/billing.ts';
import type { AccountReplies, AccountState } from '../../../model/account/capabilities.ts';
import type { Statement } from '../../../model/ports/billing-store.ts';
import type { DayPeak } from '../../../model/ports/read-store.ts';
import { cursorText, pageAskOf } from '../../../protocol/cursor.ts';
import type { BillingProvider } from '../../../model/ports/billing-provider.ts';
import { isRefusal, notFound } from '../../../protocol/errors.ts';
import { organizationOf } from '../../../protocol/ids.ts';
import { formatAmount } from '../../../protocol/money.ts';
import {
  addressLimitOf,
  BAND_TERMS,
  DUE_MS,
  isOnBand,
  monthlyFeeOf,
  settledIncludedOf,
  termsOf,
  TIER_TERMS,
  type BandTerms,
} from '../../../protocol/plans.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { BANDS, TIERS } from '../../../protocol/slugs.ts';
import { stateOf } from '../account-state.ts';
import { statementCsv, statementHtml } from './document.ts';
import { accountOf, claimOf, type Asked, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { instantOf, instantOrNull, wholePage } from '../views.ts';

const CENTS_DECIMALS = 2;
const MILLS_DECIMALS = 3;

type Area =
  | 'getUsage'
  | 'getPlans'
  | 'previewPlan'
  | 'changeBand'
  | 'changePlan'
  | 'listStatements'
  | 'getStatement'
  | 'listBilled'
  | 'exportStatement';

export function billingHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const { billing, reads } = deps.stores;
  const replay = async (stored: unknown) => planView(stored as AccountReplies['buy_plan']);
  const buy = async (asked: Asked<'changeBand'> | Asked<'changePlan'>) => {
    const answer = await deps.accounts.ask(accountOf(asked), { type: 'buy_plan', ...asked.body, ...claimOf(asked) });
    return answer.ok === true ? planView(answer.reply) : answer;
  };
  return {
    async getUsage(asked) {
      const accountId = accountOf(asked),
        nowMs = deps.nowMs();
      const [state, peaks] = await Promise.all([
        stateOf(deps, accountId),
        reads.addressPeaks(accountId, billingPeriod(nowMs)),
      ]);
      return usageOf(state, nowMs, peaks);
    },
    getPlans: async () => plansView(),
    async previewPlan(asked) {
      const accountId = accountOf(asked);
      const answer = await deps.accounts.ask(accountId, { type: 'preview_plan', ...asked.query });
      if (answer.ok !== true) return answer;
      const { plan } = await stateOf(deps, accountId);
      const isEnd = plan.tier !== 'free' && answer.reply.plan.tier === 'free';
      const hasSso = isEnd && (await deps.stores.sso.connectionOf(organizationOf(accountId))) !== null;
      return previewView(answer.reply, hasSso ? ['sso'] : []);
    },
    changeBand: { replay, handle: buy },
    changePlan: { replay, handle: buy },
    async listStatements(asked) {
      const rows = await billing.statements(accountOf(asked));
      return wholePage(
        'statements',
        rows.map((row) => statementView(row, deps.provider)),
        asked.query,
        ({ period }) => period,
        'newest',
      );
    },
    async getStatement(asked) {
      const { id } = asked.params;
      const found = await billing.statement(accountOf(asked), id);
      return found === null ? notFound('statement', id) : statementView(found, deps.provider);
    },
    async listBilled(asked) {
      const { id } = asked.params,
        accountId = accountOf(asked);
      const ask = pageAskOf('billed', asked.query);
      if (isRefusal(ask)) return ask;
      const found = await billing.statement(accountId, id);
      if (found === null) return notFound('statement', id);
      const after = 'after' in ask ? ask.after : null;
      const { size } = asked.query;
      const rows = await billing.billedOf(accountId, found.period, after?.key ?? null, size + 1);
      const shown = rows.slice(0, size),
        last = shown.at(-1);
      return {
        content: shown.map(({ withdrawalId, counted, chain, createdAtMs }) => ({
          transactionId: withdrawalId,
          counted,
          chain,
          createdAt: instantOf(createdAtMs),
        })),
        next:
          rows.length <= size || last === undefined
            ? null
            : cursorText('billed', { page: (after?.page ?? 0) + 1, key: last.key }),
      };
    },
    async exportStatement(asked) {
      const { id } = asked.params,
        accountId = accountOf(asked);
      const found = await billing.statement(accountId, id);
      if (found === null) return notFound('statement', id);
      const statement = statementView(found, deps.provider),
        isCsv = asked.query.format === 'csv';
      asked.setHeader('content-disposition', `attachment; filename="${found.number}.${asked.query.format}"`);
      asked.setHeader('content-type', `text/${asked.query.format}; charset=utf-8`);
      if (isCsv) return statementCsv(statement) as never;
      const organizationId = organizationOf(accountId);
      const organization = await deps.stores.identity.organization(organizationId);
      const here = `${deps.config.publicUrl}/console/o/${organizationId}/live/billing?statement=${id}&show=transactions`;
      return statementHtml(statement, organization?.name ?? organizationId, here) as never;
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
}: AccountReplies['buy_plan']): ReplyOf<'changeBand'> {
  const pending =
    pendingBand === null
      ? null
      : { tier: pendingBand.tier ?? tier, band: pendingBand.band, effectiveAt: instantOf(pendingBand.atMs) };
  return { tier, band, subscription, paymentsActive, pendingBand: pending };
}

/**
 * Counters of the account against its plan. `peaks` are the days of the month that have a row, in turn. The projection
 * is a straight line through the month so far.
 */
export function usageOf(state: AccountState, nowMs: number, peaks: readonly DayPeak[]): ReplyOf<'getUsage'> {
  const { environment, plan, pendingBand, activeAddresses, openPeriod } = state;
  const period = billingPeriod(nowMs);
  const { startMs, endMs } = boundsOf(period);
  const metered = environment === 'live';
  const count = settledIn(state, period),
    projected = projectedOf(count, period, nowMs);
  const charged = { charges: openPeriod?.month === period ? openPeriod.charges : [] };
  const over = (settled: number) => (metered ? overageOf(plan, charged, settled) : { transactions: 0, mills: 0n });
  return {
    period: { start: dayOf(startMs), end: dayOf(endMs - 1) },
    plan: planView({ ...plan, subscription: subscriptionOf(state, nowMs), pendingBand }),
    activeAddresses: {
      current: activeAddresses,
      billed: billedPeak(state, period, peaks.length === 0 ? null : Math.max(...peaks.map(({ active }) => active))),
      days: daysOf(peaks, state.peak, period),
      limit: metered ? addressLimitOf(plan) : null,
    },
    settledTransactions: { count, included: metered ? settledIncludedOf(plan) : null },
    overage: {
      transactions: over(count).transactions,
      amount: mills(over(count).mills),
      currency: 'USD',
    },
    warnings: shownWarnings(state, period).map(({ quota, threshold, used, limit }) => ({
      quota,
      threshold,
      used,
      limit,
    })),
    projected: { transactions: projected, overageAmount: mills(over(projected).mills) },
  };
}

/** Each day with its highest count; of the day that is running more may be known than its row says. */
function daysOf(
  peaks: readonly DayPeak[],
  running: AccountState['peak'],
  month: string,
): ReplyOf<'getUsage'>['activeAddresses']['days'] {
  const highest = new Map(peaks.map(({ day, active }) => [day, active]));
  if (running.day.startsWith(month)) highest.set(running.day, Math.max(running.active, highest.get(running.day) ?? 0));
  return [...highest].map(([day, active]) => ({ day, highest: active }));
}

const fixed = (amount: bigint, decimals: number): string => {
  const [whole, fraction = ''] = formatAmount(amount, decimals).split('.');
  return `${whole}.${fraction.padEnd(decimals, '0')}`;
};
const cents = (amount: string | number): string => fixed(BigInt(amount), CENTS_DECIMALS);
const mills = (amount: bigint | string | number): string => fixed(BigInt(amount), MILLS_DECIMALS);

const termsView = (terms: BandTerms) => ({
  addresses: terms.addresses,
  monthlyFee: cents(terms.monthlyFeeCents),
  includedTransactions: terms.includedTransactions,
  overageRate: mills(terms.overageMills),
  requestsPerMinute: terms.requestsPerMinute,
});

function plansView(): ReplyOf<'getPlans'> {
  return {
    tiers: TIERS.map((tier) => ({ tier, ...TIER_TERMS[tier] })),
    bands: BANDS.map((band) => ({ band, ...termsView(BAND_TERMS[band]) })),
    currency: 'USD',
  };
}

function previewView(
  preview: AccountReplies['preview_plan'],
  loses: ReplyOf<'previewPlan'>['loses'],
): ReplyOf<'previewPlan'> {
  const { plan, atMs, prorationCents, overage, refusal } = preview;
  return {
    plan: planView({ ...plan, pendingBand: null }),
    effectiveAt: instantOrNull(atMs),
    proration: cents(prorationCents),
    overage: { transactions: overage.transactions, amount: mills(overage.mills) },
    monthlyFee: cents(monthlyFeeOf(plan)),
    terms: isOnBand(plan) ? termsView(termsOf(plan)) : null,
    loses,
    refusal: refusal === null ? null : { code: refusal.code, details: { ...refusal.details } },
    currency: 'USD',
  };
}

const boughtView = ({ tier, band, feeCents }: Priced) => ({ tier, band, monthlyFee: cents(feeCents) });

export function lineView(line: StatementLine): ReplyOf<'getStatement'>['lines'][number] {
  const amount = cents(line.cents);
  if (line.kind === 'base') return { kind: 'base', tier: line.tier, band: line.band, amount };
  if (line.kind === 'overage') {
    const { band, quantity, included } = line;
    return { kind: 'overage', band, quantity, included, rate: mills(line.rateMills), amount };
  }
  const { at, remainingMs, periodMs } = line;
  return { kind: 'proration', at, from: boughtView(line.from), to: boughtView(line.to), remainingMs, periodMs, amount };
}

const leftOf = ({ totalCents, paidCents }: Statement): bigint =>
  BigInt(totalCents) > BigInt(paidCents) ? BigInt(totalCents) - BigInt(paidCents) : 0n;

export function statementView(row: Statement, provider: BillingProvider): ReplyOf<'getStatement'> {
  const { request } = row,
    isOpen = request?.status === 'open' && request.provider === provider.collector?.name;
  return {
    id: row.id,
    number: row.number,
    period: row.period,
    lines: row.lines.map(lineView),
    total: cents(row.totalCents),
    currency: 'USD',
    settledTransactions: row.settled,
    issuedAt: instantOf(row.issuedAtMs),
    dueAt: instantOf(row.issuedAtMs + DUE_MS),
    paid: cents(row.paidCents),
    left: cents(String(leftOf(row))),
    payment: { provider: provider.name, page: isOpen ? request.page : null, bankDetails: provider.bankDetails },
  };
}
