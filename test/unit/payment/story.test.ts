/** The decisions of payments against a model of them: payments B1. */
import test from 'ava';
import fc from 'fast-check';
import type { Planted } from '../../support/checkout-rows.ts';
import { CheckoutStory, ops, type LinkShape } from '../../support/checkout-story.ts';

const SHAPES: Record<string, LinkShape> = {
  fixed: { mode: 'fixed', addressMode: 'per_payer', minAmount: null, thresholdAmount: null, toleranceBps: 0 },
  tolerant: { mode: 'fixed', addressMode: 'per_payer', minAmount: null, thresholdAmount: null, toleranceBps: 100 },
  donation: { mode: 'donation', addressMode: 'per_payer', minAmount: null, thresholdAmount: 150n, toleranceBps: 0 },
  minimum: { mode: 'donation', addressMode: 'per_payer', minAmount: 70n, thresholdAmount: 300n, toleranceBps: 0 },
  shared: { mode: 'donation', addressMode: 'shared', minAmount: 50n, thresholdAmount: 200n, toleranceBps: 0 },
};

function run(shape: LinkShape, planted: Planted | null, seed: number, numRuns: number) {
  return fc.check(
    fc.property(fc.array(ops(fc), { maxLength: 40, size: 'max' }), (steps) => {
      const story = new CheckoutStory(shape, planted);
      for (const step of steps) story.step(step);
    }),
    { seed, numRuns, endOnFailure: planted !== null },
  );
}

for (const [name, shape] of Object.entries(SHAPES))
  test(`payments M4, M5, M6, M7, M8, M10, S6, S8, S9, V4, I1, I7: whatever happens to a ${name} link, sums, status, events, counters and invoices are the model's`, (t) => {
    const found = run(shape, null, 20_261_129, 40);
    t.false(found.failed, fc.defaultReportMessage(found) ?? '');
  });

const PLANTED: readonly [Planted, LinkShape][] = [
  ['counted_twice', SHAPES['fixed']!],
  ['late_counted', SHAPES['donation']!],
  ['detected_expired', SHAPES['tolerant']!],
  ['reversal_lost', SHAPES['donation']!],
  ['number_reused', SHAPES['donation']!],
];
for (const [planted, shape] of PLANTED)
  test(`payments B1: the model notices a planted fault: ${planted}`, (t) => {
    t.true(run(shape, planted, 7, 300).failed);
  });
