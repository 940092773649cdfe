/** How the running month and its counts change. */
import type { BillingState, Owed } from '../../model/account/billing.ts';
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
  collection_recorded: ({ owed }, { statementId, cents, reference }) => {
    const { [statementId]: before, ...others } = owed;
    const left = BigInt(before?.cents ?? 0) - BigInt(cents);
    if (before === undefined || left <= 0n) return { owed: others };
    const more = reference === undefined ? {} : { taken: takenOf(before, reference, cents) };
    const parts = (before.parts ?? 0) + 1;
    return { owed: { ...others, [statementId]: { ...before, parts, cents: String(left), ...more } } };
  },
  withdrawal_confirmed: (state, { period }) => (period === null ? {} : counted(state, period, 1)),
  withdrawal_failed: (state, { uncounted }) => (uncounted === undefined ? {} : counted(state, uncounted, -1)),
  sandbox_reset: () => ({ settledBy: {} }),
};

const takenOf = ({ taken = {} }: Owed, reference: string, cents: string): NonNullable<Owed['taken']> => ({
  ...taken,
  [reference]: String(BigInt(taken[reference] ?? 0) + BigInt(cents)),
});

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
