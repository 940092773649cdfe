/**
 * A second implementation of what an account owes, in exact fractions and from its history alone; shares nothing with
 * the code. Console B7, B8, B10.
 */
export interface Fraction {
  readonly over: bigint;
  readonly under: bigint;
}
const plus = (a: Fraction, b: Fraction): Fraction => ({
  over: a.over * b.under + b.over * a.under,
  under: a.under * b.under,
});
const NOTHING: Fraction = { over: 0n, under: 1n };

/** Half up, ties towards positive infinity, by comparing: the largest whole number not above the value plus a half. */
export function rounded({ over, under }: Fraction): bigint {
  let whole = (over - (((over % under) + under) % under)) / under;
  if ((over - whole * under) * 2n >= under) whole += 1n;
  return whole;
}

interface Terms {
  readonly fee: number;
  readonly included: number;
  readonly mills: number;
}
// Spec §8; US dollars.
export const TABLE: Readonly<Record<string, Terms>> = {
  free: { fee: 0, included: Number.POSITIVE_INFINITY, mills: 0 },
  launch: { fee: 99, included: 1_000, mills: 80 },
  growth: { fee: 499, included: 10_000, mills: 50 },
  scale: { fee: 1_999, included: 100_000, mills: 25 },
  enterprise: { fee: 6_999, included: 750_000, mills: 12 },
};

export type Happening =
  { readonly atMs: number; readonly plan: string } | { readonly atMs: number; readonly settled: number };

export interface Bill {
  /** Base fee, each change, each rate; whole cents. */
  readonly cents: bigint;
  /** The fee by time and what was used above it, unrounded. */
  readonly exact: Fraction;
  readonly changes: number;
  readonly overage: number;
}

/** The bill of a month from everything that happened up to its end, in order; null where Free was all there was. */
export function billOf(history: readonly Happening[], startMs: number, endMs: number): Bill | null {
  let plan = 'free';
  for (const one of history) if ('plan' in one && one.atMs <= startMs) plan = one.plan;
  const whole = BigInt(endMs - startMs);
  let cents = BigInt(TABLE[plan]!.fee) * 100n,
    exact = NOTHING,
    since = startMs,
    settled = 0,
    paidFor = 0,
    changes = 0;
  let wasOnBand = plan !== 'free';
  const byRate = new Map<number, number>();
  const charge = () => {
    const { included, mills } = TABLE[plan]!;
    const more = Math.max(0, settled - paidFor - included);
    paidFor += more;
    if (more > 0) byRate.set(mills, (byRate.get(mills) ?? 0) + more);
  };
  const elapse = (untilMs: number) => {
    exact = plus(exact, { over: BigInt(TABLE[plan]!.fee) * 100n * BigInt(untilMs - since), under: whole });
    since = untilMs;
  };
  for (const one of history) {
    if (one.atMs < startMs || one.atMs >= endMs) continue;
    if ('settled' in one) settled += one.settled;
    else if (one.atMs > startMs || one.plan !== plan) {
      charge();
      elapse(one.atMs);
      const difference = BigInt(TABLE[one.plan]!.fee - TABLE[plan]!.fee) * 100n;
      if (difference !== 0n) changes += 1;
      cents += rounded({ over: difference * BigInt(endMs - one.atMs), under: whole });
      plan = one.plan;
      wasOnBand ||= plan !== 'free';
    }
  }
  charge();
  elapse(endMs);
  for (const [mills, count] of byRate) {
    const cost = { over: BigInt(count) * BigInt(mills), under: 10n };
    cents += rounded(cost);
    exact = plus(exact, cost);
  }
  return wasOnBand ? { cents, exact, changes, overage: paidFor } : null;
}
