/** actors/kernel/restart-policy.ts (style.md 2(c)): backoff doubles with jitter to a cap; too many faults give up. */
import test from 'ava';
import fc from 'fast-check';
import { backoffMs } from '../../../protocol/backoff.ts';
import {
  ENTITY_RESTARTS,
  restartPolicy,
  WORKER_RESTARTS,
  type RestartSettings,
} from '../../../actors/kernel/restart-policy.ts';

const SETTINGS: RestartSettings = {
  firstMs: 100,
  mostMs: 1_500,
  jitterPercent: 50,
  restartsMax: 3,
  windowMs: 10_000,
  retryAfterMs: 7_000,
};

test('backoff doubles from the first pause to the cap', (t) => {
  const pausesMs = [1, 2, 3, 4, 5, 6, 60].map((attempt) => backoffMs(attempt - 1, SETTINGS, 0));
  t.deepEqual(pausesMs, [100, 200, 400, 800, 1_500, 1_500, 1_500]);
});

test('jitter shortens a pause by at most its share, and never lengthens it', (t) => {
  const uniform = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2_000 }), uniform, (attempt, random) => {
      const fullMs = backoffMs(attempt - 1, SETTINGS, 0);
      const delayMs = backoffMs(attempt - 1, SETTINGS, random);
      return Number.isInteger(delayMs) && delayMs <= fullMs && delayMs >= fullMs / 2;
    }),
  );
  t.is(backoffMs(0, SETTINGS, 0.5), 75);
});

test('the fault after the allowed restarts of a window gives up; an old fault does not count', (t) => {
  const policy = restartPolicy(SETTINGS);
  let faultsMs: readonly number[] = [];
  const verdicts = [0, 1_000, 2_000, 3_000].map((atMs) => {
    const verdict = policy(faultsMs, atMs, 0);
    ({ faultsMs } = verdict);
    return verdict.kind === 'restart' ? verdict.delayMs : verdict.retryAfterMs;
  });
  t.deepEqual(verdicts, [100, 200, 400, 7_000]);
  t.like(policy(faultsMs, 9_000, 0), { kind: 'give_up' }, 'the chance after giving up is one chance');
  t.like(policy(faultsMs, 40_000, 0), { kind: 'restart', delayMs: 100, faultsMs: [40_000] });
});

test('the window is [now − window, now): its length is exact', (t) => {
  const policy = restartPolicy(SETTINGS);
  t.deepEqual(policy([0], 9_999, 0).faultsMs, [0, 9_999]);
  t.deepEqual(policy([0], 10_000, 0).faultsMs, [10_000]);
});

test('no run of faults restarts more often than allowed in any window, and the history stays short', (t) => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 200 }), (gaps) => {
      const policy = restartPolicy(SETTINGS);
      let atMs = 0,
        faultsMs: readonly number[] = [];
      const restartedMs: number[] = [];
      for (const gapMs of gaps) {
        atMs += gapMs;
        const verdict = policy(faultsMs, atMs, 0.3);
        ({ faultsMs } = verdict);
        if (verdict.kind === 'restart') restartedMs.push(atMs);
        if (faultsMs.length > SETTINGS.restartsMax + 1) return false;
      }
      return restartedMs.every(
        (startMs) =>
          restartedMs.filter((otherMs) => otherMs >= startMs && otherMs < startMs + SETTINGS.windowMs).length <=
          SETTINGS.restartsMax,
      );
    }),
  );
  t.pass();
});

test('an outage of a minute needs no operator: the shipped settings give up for a bounded time only', (t) => {
  for (const settings of [ENTITY_RESTARTS, WORKER_RESTARTS]) {
    t.true(settings.retryAfterMs !== null && settings.retryAfterMs <= 60_000);
    t.true(settings.mostMs <= 30_000);
  }
});
