/** How the running month and its counts change. */
import type { BillingState } from '../../model/account/billing.ts';
import type { PlanState } from '../../model/account/plan.ts';
import type { Folds } from '../account/decision.ts';

type Counted = BillingState & Pick<PlanState, 'settled'>;

export const billingFolds: Folds<Counted, BillingState> = {
  period_opened: (_, { month, base }) => ({ openPeriod: { month, base, charges: [] } }),
  charge_made: ({ openPeriod }, { charge }) =>
    openPeriod === null ? {} : { openPeriod: { ...openPeriod, charges: [...openPeriod.charges, charge] } },
  period_closed: ({ owed, settledBy }, { month, owed: more }) => ({
    openPeriod: null,
    ...(more === undefined
      ? {}
      : { owed: { ...owed, [more.statementId]: { cents: more.cents, dueAtMs: more.dueAtMs } } }),
    settledBy: Object.fromEntries(Object.entries(settledBy).filter(([of]) => of > month)),
  }),
  collection_recorded: ({ owed }, { statementId, cents }) => {
    const { [statementId]: paid, ...others } = owed;
    const left = BigInt(paid?.cents ?? 0) - BigInt(cents);
    return { owed: left > 0n ? { ...others, [statementId]: { ...paid!, cents: String(left) } } : others };
  },
  withdrawal_confirmed: (state, { period }) => (period === null ? {} : counted(state, period, 1)),
  withdrawal_failed: (state, { uncounted }) => (uncounted === undefined ? {} : counted(state, uncounted, -1)),
  sandbox_reset: () => ({ settledBy: {} }),
};

/** Months that have ended without a statement to come are forgotten with the first count of a later one. */
function counted(
  { openPeriod, settledBy, settled }: Counted,
  month: string,
  more: number,
): Pick<BillingState, 'settledBy'> {
  const before = settledBy[month] ?? (settled.period === month ? settled.count : 0);
  const first = openPeriod?.month ?? month;
  const kept = Object.entries(settledBy).filter(([of]) => of >= first);
  return { settledBy: { ...Object.fromEntries(kept), [month]: before + more } };
}
