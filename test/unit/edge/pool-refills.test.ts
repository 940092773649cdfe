import test from 'ava';
import fc from 'fast-check';
import { PoolRefills, REFILL_MAX, type RefillAsk } from '../../../edge/link/pool-refills.ts';
import type { PushedPool } from '../../../edge/link/pools.ts';
import { refuse, type Refusal } from '../../../protocol/errors.ts';

/** An edge whose derivation is counted, and a cloud that keeps the pool as the account does. */
function stand({ refusal = () => null, size = 1_000 }: { refusal?: () => Refusal | null; size?: number } = {}) {
  const derived: string[] = [],
    pushes: PushedPool[] = [];
  const cloud = { size, pushing: 0, pushingMax: 0, nowMs: 0 };
  const refills = new PoolRefills({
    keystore: {
      addressAt: (chain, path) => {
        derived.push(`${chain} ${path}`);
        return path;
      },
    },
    monotonicMs: () => cloud.nowMs,
    push: async (pool) => {
      cloud.pushing += 1;
      cloud.pushingMax = Math.max(cloud.pushingMax, cloud.pushing);
      await new Promise(setImmediate);
      cloud.pushing -= 1;
      const no = refusal();
      if (no !== null) return no;
      if (pool.addresses[0]!.index > cloud.size) return refuse('INVALID_INPUT', { expectedIndex: cloud.size });
      pushes.push(pool);
      cloud.size = Math.max(cloud.size, pool.addresses.at(-1)!.index + 1);
      return { size: cloud.size };
    },
  });
  const deposits = () => derived.filter((one) => !one.includes("'/1'/"));
  return { refills, cloud, pushes, deposits };
}

test('found pool storm: a hundred frames for one refill derive and push each address once, one push at a time', async (t) => {
  const { refills, cloud, pushes, deposits } = stand();
  const frames = Array.from({ length: 100 }, (_, n): RefillAsk => ({ chain: 'sol', from: 1_000, count: 800 + n * 2 }));
  t.deepEqual(
    await Promise.all(frames.map((ask) => refills.refill(ask))),
    frames.map(() => ({ ok: true })),
  );
  t.is(cloud.size, 1_998);
  t.is(deposits().length, 998);
  t.is(new Set(deposits()).size, 998);
  t.is(cloud.pushingMax, 1);
  t.deepEqual(
    pushes.flatMap(({ addresses }) => addresses.map(({ index }) => index)),
    Array.from({ length: 998 }, (_, n) => 1_000 + n),
  );
  // Frames that were on their way are late; one that comes much later is a cloud that lost them.
  t.deepEqual(await refills.refill(frames[0]!), { ok: true });
  t.is(deposits().length, 998);
  cloud.nowMs = 60_000;
  await refills.refill({ chain: 'sol', from: 1_000, count: 3 });
  t.is(deposits().length, 1_001);
});

test('found pool storm: chains are refilled apart, a frame is bounded, a refusal ends the refill and is told', async (t) => {
  const { refills, cloud, deposits } = stand();
  await Promise.all([
    refills.refill({ chain: 'sol', from: 1_000, count: 5 }),
    refills.refill({ chain: 'xlm', from: 1_000, count: 7 }),
  ]);
  t.is(deposits().length, 12);
  await refills.refill({ chain: 'sol', from: cloud.size, count: 2 ** 31 });
  t.is(deposits().length, 12 + REFILL_MAX);
  const refusing = stand({ refusal: () => refuse('ACCOUNT_SUSPENDED') });
  t.like(await refusing.refills.refill({ chain: 'sol', from: 1_000, count: 10_000 }), {
    ok: false,
    code: 'ACCOUNT_SUSPENDED',
  });
  t.true(refusing.deposits().length < 1_000, 'and nothing more is derived');
  await t.throwsAsync(refills.refill({ chain: 'sol', from: -1, count: 1 }), { instanceOf: RangeError });
  t.deepEqual(
    await refills.refill({ chain: 'sol', from: cloud.size, count: 1 }),
    { ok: true },
    'a fault holds up nobody after it',
  );
});

test('found pool storm: whatever frames come, and when, no index is derived twice while it is under way, and pushes have no hole', async (t) => {
  const frame = fc.record({
    from: fc.integer({ min: 990, max: 1_400 }),
    count: fc.integer({ min: 1, max: 600 }),
    pause: fc.nat(3),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(frame, { minLength: 1, maxLength: 25 }), async (frames) => {
      const { refills, cloud, pushes, deposits } = stand();
      const waiting: Promise<unknown>[] = [];
      for (const { from, count, pause } of frames) {
        waiting.push(refills.refill({ chain: 'sol', from: Math.min(from, cloud.size), count }));
        for (let turn = 0; turn < pause; turn += 1) await new Promise(setImmediate);
      }
      await Promise.all(waiting);
      t.is(cloud.pushingMax, 1);
      for (const { addresses } of pushes)
        t.deepEqual(
          addresses.map(({ index }) => index),
          addresses.map((_, at) => addresses[0]!.index + at),
        );
      // An index comes a second time only when a frame asked from below what was under way.
      const lowest = Math.min(...frames.map(({ from }) => from));
      if (frames.every(({ from }) => from === lowest)) t.is(new Set(deposits()).size, deposits().length);
    }),
    { numRuns: 60 },
  );
});
