import test from 'ava';
import fc from 'fast-check';
import { backoffMs } from '../../../protocol/backoff.ts';

test('house 4: a pause doubles from its first to its most, is shortened by at most its jitter, and stays a number', (t) => {
  const pauses = { firstMs: 250, mostMs: 15_000 };
  t.deepEqual(
    [-1, 0, 1, 2, 5, 6, 1_000_000].map((doublings) => backoffMs(doublings, pauses)),
    [250, 250, 500, 1_000, 8_000, 15_000, 15_000],
  );
  fc.assert(
    fc.property(
      fc.integer({ min: -5, max: 100_000 }),
      fc.nat(100_000),
      fc.nat(1_000_000),
      fc.nat(100),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (doublings, firstMs, mostMs, jitterPercent, random) => {
        const fullMs = backoffMs(doublings, { firstMs, mostMs });
        const ms = backoffMs(doublings, { firstMs, mostMs, jitterPercent }, random);
        const next = backoffMs(doublings + 1, { firstMs, mostMs });
        return (
          Number.isInteger(ms) &&
          ms <= fullMs &&
          ms >= Math.floor(fullMs * (1 - jitterPercent / 100)) &&
          next >= fullMs &&
          fullMs <= mostMs
        );
      },
    ),
  );
});
