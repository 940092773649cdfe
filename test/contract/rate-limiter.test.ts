/** One suite for both counters of requests; and what only the one in Redis does. */
import test, { type ExecutionContext } from 'ava';
import { createClient } from 'redis';
import { createMemoryRateLimiter, WINDOW_MS } from '../../gateway/http/rate-limit.ts';
import type { RateLimiter } from '../../model/ports/rate-limiter.ts';
import { createRedisRateLimiter } from '../../persistence/redis/rate-limit.ts';
import { patiently } from '../support/company.ts';
import { startTestCloud } from '../support/gateway.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';

interface Counted {
  limiter: RateLimiter;
  /** Lets the open windows end. */
  windowsEnd(): Promise<void>;
  nowMs(): number;
}

function inMemory(): Counted {
  let nowMs = 1_000_000;
  return {
    limiter: createMemoryRateLimiter(),
    windowsEnd: async () => {
      nowMs += WINDOW_MS;
    },
    nowMs: () => nowMs,
  };
}

/** A machine that is slow is no Redis that is away. */
const PATIENT_MS = 30_000;

/** A limiter of a node; `changes` are what it was told of its Redis. */
function ofNode(
  t: ExecutionContext,
  url: string,
  changes: string[] = [],
  answerMs = PATIENT_MS,
  gateways = 1,
): RateLimiter {
  const limiter = createRedisRateLimiter({
    url,
    windowMs: WINDOW_MS,
    answerMs,
    gateways: () => gateways,
    onChange: (state) => changes.push(state),
  });
  t.teardown(() => limiter.close());
  return limiter;
}

/** A client of the test's own, of another library than the node's: what the one wrote the other reads and breaks. */
async function controlOf(t: ExecutionContext, url: string) {
  const control = createClient({ url, socket: { reconnectStrategy: false } });
  control.on('error', () => undefined); // that its Redis is killed is no news to it
  await control.connect();
  t.teardown(() => control.destroy());
  return control;
}

/** Connected: nothing was counted by the node alone. */
async function connected(
  t: ExecutionContext,
  { url }: TestRedis,
  changes: string[] = [],
  gateways = 1,
): Promise<RateLimiter> {
  const limiter = ofNode(t, url, changes, PATIENT_MS, gateways);
  const control = await controlOf(t, url);
  await patiently(
    'connected',
    async () => {
      await limiter.take('probe', 1, Date.now());
      return control.exists('flock:rate:probe');
    },
    (found) => found === 1,
  );
  changes.length = 0;
  return limiter;
}

async function inRedis(t: ExecutionContext): Promise<Counted> {
  const redis = await startRedis(t),
    limiter = await connected(t, redis);
  const control = await controlOf(t, redis.url);
  let laterMs = 0;
  return {
    limiter,
    nowMs: () => Date.now() + laterMs,
    // Its windows end by its own clock: what is left of them is taken away.
    async windowsEnd() {
      laterMs += WINDOW_MS;
      for (const key of await control.keys('flock:rate:*')) {
        t.true((await control.pTTL(key)) > 0, 'every window has an end');
        await control.pExpire(key, 0);
      }
    },
  };
}

for (const [name, open] of [
  ['memory', async () => inMemory()],
  ['redis', inRedis],
] as const) {
  test(`§8 ${name}: a window takes its number of requests, says what is left, and the next one begins anew`, async (t) => {
    const { limiter, windowsEnd, nowMs } = await open(t);
    const take = () => limiter.take('org_1_live', 3, nowMs());
    const taken = [await take(), await take(), await take(), await take()];
    t.deepEqual(
      taken.map(({ allowed, remaining }) => [allowed, remaining]),
      [
        [true, 2],
        [true, 1],
        [true, 0],
        [false, 0],
      ],
    );
    for (const { resetSeconds } of taken) t.true(resetSeconds > 0 && resetSeconds <= WINDOW_MS / 1_000);
    t.like(
      await limiter.take('org_2_live', 3, nowMs()),
      { allowed: true, remaining: 2 },
      'an account counts for itself',
    );
    await windowsEnd();
    t.like(await take(), { allowed: true, remaining: 2 });
  });

  test(`§8 ${name}: of many requests at once exactly the limit is taken`, async (t) => {
    const { limiter, nowMs } = await open(t);
    const taken = await Promise.all(Array.from({ length: 200 }, () => limiter.take('org_1_live', 60, nowMs())));
    t.is(taken.filter(({ allowed }) => allowed).length, 60);
  });
}

test('design 4: what another client did to a window is survived: one without an end gets one, one of another type is counted by the node', async (t) => {
  const redis = await startRedis(t),
    limiter = await connected(t, redis),
    control = await controlOf(t, redis.url);
  await control.set('flock:rate:org_1_live', '2');
  t.like(await limiter.take('org_1_live', 4, Date.now()), { allowed: true, remaining: 1 });
  t.true((await control.pTTL('flock:rate:org_1_live')) > 0);
  await control.del('flock:rate:org_1_live');
  await control.hSet('flock:rate:org_1_live', 'count', '9');
  t.like(
    await limiter.take('org_1_live', 4, Date.now()),
    { allowed: true, remaining: 0 },
    'a request is served all the same, and the window does not begin anew',
  );
});

test('design 4: nodes count together in Redis; while it is away each goes on from what it knew, and they find it again', async (t) => {
  const redis = await startRedis(t),
    changes: string[] = [];
  const [one, other] = [await connected(t, redis, changes), await connected(t, redis)];
  const take = async (limiter: RateLimiter) => (await limiter.take('org_1_live', 4, Date.now())).remaining;
  t.deepEqual([await take(one), await take(other), await take(one)], [3, 2, 1]);
  await redis.kill();
  t.deepEqual(
    [await take(one), await take(one), await take(other)],
    [0, 0, 1],
    'what each of them last knew was 3 and 2',
  );
  t.deepEqual(changes, ['lost']);
  await redis.restart();
  await patiently(
    'back',
    async () => {
      await take(one);
      return changes.at(-1);
    },
    (state) => state === 'back',
  );
});

const LIMIT = 100;

/** How many of a flood a window of two nodes lets through, in turns; `meanwhile` comes before a request. */
async function passed(nodes: readonly RateLimiter[], meanwhile: (n: number) => Promise<unknown> = async () => {}) {
  const nowMs = Date.now(); // one window of the nodes' own clock
  let allowed = 0;
  for (let n = 0; n < 3 * LIMIT; n += 1) {
    await meanwhile(n);
    if ((await nodes[n % nodes.length]!.take('org_2_live', LIMIT, nowMs)).allowed) allowed += 1;
  }
  return allowed;
}
const isWithin = (t: ExecutionContext, allowed: number, name: string) =>
  t.true(allowed >= 0.5 * LIMIT && allowed <= 1.1 * LIMIT, `${name}: ${allowed}`);

test('console B20: two nodes let through 0.5 to 1.1 of a window without Redis, also where one of them gets all requests', async (t) => {
  const nodes = [createMemoryRateLimiter(() => 2), createMemoryRateLimiter(() => 2)];
  isWithin(t, await passed(nodes), 'two');
  isWithin(t, await passed([createMemoryRateLimiter(() => 2)]), 'one of two');
  t.is((await createMemoryRateLimiter(() => 1_000).take('k', 3, 1)).allowed, true, 'never nobody');
});

for (const [name, at, harm] of [
  ['with', -1, async () => undefined],
  ['from the beginning without', 0, (redis) => redis.kill()],
  ['while it loses', LIMIT / 2, (redis) => redis.kill()],
  ['at the limit losing', LIMIT, (redis) => redis.kill()],
  ['after a flush of', LIMIT / 2, (redis) => redis.flush()],
  [
    'while it loses and finds',
    LIMIT / 2,
    async (redis) => {
      await redis.kill();
      await redis.restart();
    },
  ],
] as [string, number, (redis: TestRedis) => Promise<unknown>][])
  test(`console B20: two nodes let through 0.5 to 1.1 of a window ${name} Redis`, async (t) => {
    const redis = await startRedis(t);
    const nodes = [await connected(t, redis, [], 2), await connected(t, redis, [], 2)];
    isWithin(t, await passed(nodes, async (n) => (n === at ? harm(redis) : undefined)), name);
    const alone = await connected(t, await startRedis(t), [], 2);
    isWithin(t, await passed([alone]), 'one of two, counted in Redis');
  });

test('design 4: a Redis that is frozen is given up: requests wait for it no more, and nothing is kept for it', async (t) => {
  const answerMs = 300,
    redis = await startRedis(t),
    changes: string[] = [];
  const limiter = ofNode(t, redis.url, changes, answerMs);
  await patiently(
    'connected',
    async () => {
      await limiter.take('a', 4, Date.now());
      return changes.at(-1);
    },
    (state) => state === 'back',
  );
  redis.freeze();
  const waited = async () => {
    const began = performance.now();
    await Promise.all(Array.from({ length: 20 }, () => limiter.take('a', 4, Date.now())));
    return performance.now() - began;
  };
  // While the connection is kept each of them waits for its whole time, and what was sent is kept.
  await t.notThrowsAsync(patiently('given up', waited, (ms) => ms < answerMs / 2));
});

test('design 4: a node with REDIS_URL counts there, and serves when Redis is gone', async (t) => {
  const redis = await startRedis(t);
  const cloud = await startTestCloud({ REDIS_URL: redis.url });
  t.teardown(() => cloud.stop());
  const { live } = await cloud.organization();
  const upOf = async () => /^svc_redis_up (\d)$/m.exec(await (await fetch(`${cloud.url}/metrics`)).text())?.[1];
  t.is(await upOf(), '0', 'it has not counted yet');
  const control = await controlOf(t, redis.url);
  await patiently(
    'counted',
    async () => {
      await live.client.must('listWebhooks');
      return control.get(`flock:rate:${live.accountId}`);
    },
    (count) => Number(count) > 0,
  );
  await patiently(
    'up',
    async () => {
      await live.client.must('listWebhooks');
      return upOf();
    },
    (up) => up === '1',
  );
  await redis.kill();
  await live.client.must('listWebhooks');
  t.is(await upOf(), '0');
});

test('found F80: what costs more than one takes as much, and the first of a window is taken whatever it costs', async (t) => {
  const redis = await startRedis(t);
  for (const [name, limiter] of [
    ['memory', createMemoryRateLimiter()],
    ['Redis', await connected(t, redis)],
  ] as const) {
    const take = async (key: string, cost: number) => {
      const { allowed, remaining } = await limiter.take(key, 10, Date.now(), WINDOW_MS, cost);
      return [allowed, remaining];
    };
    t.deepEqual(await take('a', 4), [true, 6], name);
    t.deepEqual(await take('a', 6), [true, 0], name);
    t.deepEqual(await take('a', 1), [false, 0], name);
    t.deepEqual(await take('b', 11), [true, 0], name);
    t.deepEqual(await take('b', 1), [false, 0], name);
  }
});
