/**
 * What is owed: overage, proration, projection and the lines of a statement. Whole numbers only: cents and mills (a
 * thousandth of a dollar) as `bigint`. Console B6–B10.
 */
import type { BillingState, Charge, OpenPeriod, Priced, StatementLine } from '../../model/account/billing.ts';
import type { Plan, PlanState } from '../../model/account/plan.ts';
import { isOnBand, monthlyFeeOf, termsOf } from '../../protocol/plans.ts';

const DAY_MS = 86_400_000;
const MILLS_IN_CENT = 10n;

export const pricedOf = (plan: Plan): Priced => ({
  tier: plan.tier,
  band: plan.band,
  feeCents: String(monthlyFeeOf(plan)),
});

/** A quotient, half up: a tie goes towards positive infinity. `divisor` is positive. */
export function halfUp(dividend: bigint, divisor: bigint): bigint {
  const [doubled, twice] = [2n * dividend + divisor, 2n * divisor];
  const quotient = doubled / twice;
  return doubled < 0n && doubled % twice !== 0n ? quotient - 1n : quotient;
}

/** Calendar month of an instant, UTC: `2026-08`. */
export function billingPeriod(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 7);
}

/** The month that counts at an instant: never one that has its statement, also where a node's clock is behind. B4. */
export function countingMonth({ openPeriod }: Pick<BillingState, 'openPeriod'>, atMs: number): string {
  const month = billingPeriod(atMs);
  return openPeriod !== null && openPeriod.month > month ? openPeriod.month : month;
}

/** First and last instant of a month (`2026-08`), UTC: `[startMs, endMs)`. */
export function boundsOf(month: string): { startMs: number; endMs: number } {
  const [year, of] = month.split('-').map(Number) as [number, number];
  return { startMs: Date.UTC(year, of - 1, 1), endMs: Date.UTC(year, of, 1) };
}

/**
 * Transactions that count in a month, B4: those confirmed in it, less those that failed after all in it. An account
 * that has counted none since an older release has the older count.
 */
export function settledIn(
  { settledBy, settled }: Pick<BillingState, 'settledBy'> & Pick<PlanState, 'settled'>,
  month: string,
): number {
  const older = settled.period === month ? settled.count : 0;
  return Math.max(0, settledBy[month] ?? older);
}

/** B8: what a change of plan costs for the rest of its month; null where the fee stays. */
export function prorationOf(from: Plan, to: Plan, month: string, atMs: number): Charge | null {
  const [before, after] = [pricedOf(from), pricedOf(to)];
  const difference = BigInt(after.feeCents) - BigInt(before.feeCents);
  if (difference === 0n) return null;
  const { startMs, endMs } = boundsOf(month);
  const periodMs = endMs - startMs,
    remainingMs = Math.min(periodMs, Math.max(0, endMs - atMs));
  const cents = halfUp(difference * BigInt(remainingMs), BigInt(periodMs)).toString();
  return { kind: 'proration', atMs, from: before, to: after, remainingMs, periodMs, cents };
}

/** Transactions above what earlier bands of the month included. */
function fixedQuantity({ charges }: Pick<OpenPeriod, 'charges'>): number {
  return charges.reduce((sum, charge) => sum + (charge.kind === 'overage' ? charge.quantity : 0), 0);
}

/** What a band includes too little of, beside what earlier ones did. */
function restOf(plan: Plan, settled: number, fixed: number): number {
  return isOnBand(plan) ? Math.max(0, settled - fixed - termsOf(plan).includedTransactions) : 0;
}

/** B7: what is used above a band is fixed at its rate when it is left; null where there is none. */
export function overageOnLeaving(
  plan: Plan,
  period: Pick<OpenPeriod, 'charges'>,
  settled: number,
  atMs: number,
): Charge | null {
  const quantity = restOf(plan, settled, fixedQuantity(period));
  if (quantity === 0) return null;
  const { includedTransactions: included, overageMills } = termsOf(plan);
  return { kind: 'overage', atMs, band: plan.band, quantity, included, rateMills: String(overageMills) };
}

export interface Overage {
  readonly transactions: number;
  readonly mills: bigint;
}

/** B7: what `settled` transactions cost above the fees. */
export function overageOf(plan: Plan, period: Pick<OpenPeriod, 'charges'>, settled: number): Overage {
  const fixed = fixedQuantity(period),
    rest = restOf(plan, settled, fixed);
  const mills = period.charges.reduce(
    (sum, charge) => (charge.kind === 'overage' ? sum + BigInt(charge.quantity) * BigInt(charge.rateMills) : sum),
    BigInt(rest) * BigInt(termsOf(plan).overageMills),
  );
  return { transactions: fixed + rest, mills };
}

/** B9: settled transactions at the end of the month if the rest goes as what has passed, which is a day at least. */
export function projectedOf(settled: number, month: string, nowMs: number): number {
  const { startMs, endMs } = boundsOf(month);
  const elapsed = BigInt(Math.min(endMs - startMs, Math.max(DAY_MS, nowMs - startMs)));
  const straight = (BigInt(settled) * BigInt(endMs - startMs) + elapsed - 1n) / elapsed;
  return Math.max(settled, Number(straight));
}

/** B10: the lines of a month that has ended, each rounded once, and their sum. `plan` is what it ended with. */
export function statementOf(
  { base, charges }: OpenPeriod,
  plan: Plan,
  settled: number,
  endMs: number,
): { lines: StatementLine[]; totalCents: bigint } {
  const last = overageOnLeaving(plan, { charges }, settled, endMs);
  const overages = new Map<string, Extract<StatementLine, { kind: 'overage' }>>();
  for (const charge of last === null ? charges : [...charges, last]) {
    if (charge.kind !== 'overage') continue;
    const { band, included, rateMills } = charge;
    const quantity = (overages.get(rateMills)?.quantity ?? 0) + charge.quantity;
    const cents = halfUp(BigInt(quantity) * BigInt(rateMills), MILLS_IN_CENT).toString();
    overages.set(rateMills, { kind: 'overage', band, quantity, included, rateMills, cents });
  }
  const lines: StatementLine[] = [
    ...(isOnBand(base) ? [{ kind: 'base', tier: base.tier, band: base.band, cents: base.feeCents } as const] : []),
    ...charges.flatMap((charge): StatementLine[] => {
      if (charge.kind !== 'proration') return [];
      const { atMs, ...inputs } = charge;
      return [{ ...inputs, at: new Date(atMs).toISOString() }];
    }),
    ...overages.values(),
  ];
  return { lines, totalCents: lines.reduce((sum, { cents }) => sum + BigInt(cents), 0n) };
}
