import test from 'ava';
import fc from 'fast-check';
import { LADDER, nextStep, type Ladder } from '../../../actors/webhook/ladder.ts';

const NOW = 1_700_000_000_000;
const MINUTE = 60_000;
const failed = (attempt: number, statusCode: number | null = 500, retryAfterSeconds: number | null = null) => ({
  attempt,
  statusCode,
  retryAfterSeconds,
});

test('§6 the ladder: at once, 2, 5, 30 minutes, then the dead-letter queue', (t) => {
  const pauses = [1, 2, 3].map((attempt) => nextStep(LADDER, failed(attempt), NOW, 0));
  t.deepEqual(
    pauses.map(({ status, nextAttemptAtMs }) => [status, (nextAttemptAtMs! - NOW) / MINUTE]),
    [
      ['failed', 2],
      ['failed', 5],
      ['failed', 30],
    ],
  );
  t.deepEqual(nextStep(LADDER, failed(4), NOW, 0), {
    status: 'dead_lettered',
    nextAttemptAtMs: null,
    disableEndpoint: false,
  });
});

test('decisions 4: 2xx is success, everything else is not, 3xx and no answer too', (t) => {
  for (const statusCode of [200, 201, 204, 299])
    t.is(nextStep(LADDER, failed(1, statusCode), NOW, 0).status, 'delivered');
  for (const statusCode of [199, 300, 302, 307, 400, 404, 429, 500, 503, null]) {
    t.is(nextStep(LADDER, failed(1, statusCode), NOW, 0).status, 'failed');
  }
  t.is(nextStep(LADDER, failed(4, 200), NOW, 0).status, 'delivered');
});

test('decisions 4: 410 disables the endpoint and ends the delivery at once', (t) => {
  t.deepEqual(nextStep(LADDER, failed(1, 410), NOW, 0), {
    status: 'dead_lettered',
    nextAttemptAtMs: null,
    disableEndpoint: true,
  });
  t.false(nextStep(LADDER, failed(1, 404), NOW, 0).disableEndpoint);
});

test('decisions 4: Retry-After is honoured where it is later than the rung, up to a day, and gives no further attempt', (t) => {
  const waits = [600, 30, 90_000].map(
    (seconds) => nextStep(LADDER, failed(1, 429, seconds), NOW, 0).nextAttemptAtMs! - NOW,
  );
  t.deepEqual(waits, [600_000, 2 * MINUTE, 86_400_000]);
  t.is(nextStep(LADDER, failed(4, 503, 60), NOW, 0).status, 'dead_lettered');
});

test('decisions 4: further rungs can be configured', (t) => {
  const longer: Ladder = { ...LADDER, pausesMs: [...LADDER.pausesMs, 120 * MINUTE] };
  t.is(nextStep(longer, failed(4), NOW, 0).nextAttemptAtMs! - NOW, 120 * MINUTE);
  t.is(nextStep(longer, failed(5), NOW, 0).status, 'dead_lettered');
});

test('§6 "up to 37 minutes behind": jitter only shortens a pause, by at most its part', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (attempt, random) => {
          const pauseMs = nextStep(LADDER, failed(attempt), NOW, random).nextAttemptAtMs! - NOW;
          const rungMs = LADDER.pausesMs[attempt - 1]!;
          return Number.isInteger(pauseMs) && pauseMs <= rungMs && pauseMs >= rungMs * 0.95;
        },
      ),
    ),
  );
});
