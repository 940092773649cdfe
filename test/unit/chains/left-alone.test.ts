/** A down endpoint is asked with growing pauses up to a minute, whichever way questions go, until it is back. */
import test from 'ava';
import { oneEndpoint } from '../../../chain-watchers/follow/one-endpoint.ts';
import { ChainUnavailable, type Endpoint } from '../../../chains/chain.ts';
import { identifyEach } from '../../../chains/each-endpoint.ts';
import { createFailoverTransport, type FailoverTransport } from '../../../chains/transport/failover.ts';
import { EndpointFailure } from '../../../chains/transport/http-endpoint.ts';
import { leftAlone } from '../../../chains/transport/left-alone.ts';
import { seeded } from '../../support/seeded.ts';

const BLOCK_MS = 450;
const MOST_MS = 60_000;
const CALL = { method: 'POST', path: '' } as const;

/** Endpoints of which some are down; the instants at which each was really asked. */
function world(count: number, seed: number) {
  const clock = { elapsedMs: 5_000 },
    down = new Set<string>(),
    asked = new Map<string, number[]>();
  const endpoints = Array.from({ length: count }, (_, index): Endpoint => {
    const name = `e${index}`;
    asked.set(name, []);
    const bare: Endpoint = {
      name,
      async request() {
        asked.get(name)!.push(clock.elapsedMs);
        if (down.has(name)) throw new EndpointFailure('bsc', 'connection failed: ECONNREFUSED');
        return { status: 200, headers: {}, text: '{}' };
      },
    };
    return leftAlone('bsc', bare, () => transport);
  });
  const transport: FailoverTransport = createFailoverTransport({
    chain: 'bsc',
    endpoints,
    elapsedMs: () => clock.elapsedMs,
    random: seeded(seed),
    blockTimeMs: BLOCK_MS,
  });
  return { clock, down, asked, endpoints, transport };
}
type World = ReturnType<typeof world>;

const silent = (error: unknown): void => {
  if (!(error instanceof ChainUnavailable)) throw error;
};

/** What a tick, a customer and a proof ask: of one in turn, at once, of each alone, of each for its network. */
async function everyQuestion({ transport, endpoints }: World): Promise<void> {
  const ask = (endpoint: Endpoint) => endpoint.request(CALL);
  await transport.attempt(ask).catch(silent);
  await Promise.all(Array.from({ length: 8 }, () => transport.attempt(ask).catch(silent)));
  for (const endpoint of endpoints)
    await oneEndpoint('bsc', transport, endpoint)
      .attempt(async (one) => {
        await ask(one);
        transport.report(one, 'ok');
      })
      .catch(silent);
  await identifyEach('bsc', transport, async (one) => void (await ask(one))).catch(silent);
  for (const endpoint of endpoints) await ask(endpoint).catch(silent);
}

for (const count of [1, 2, 3])
  test(`found: of ${count} endpoint(s) one that is down is asked ever more rarely, at least each minute, and is back within it`, async (t) => {
    for (const seed of [1, 2, 3]) {
      const self = world(count, seed),
        { clock, asked, down } = self;
      await everyQuestion(self);
      down.add('e0');
      const fromMs = clock.elapsedMs,
        own = asked.get('e0')!;
      const healthyBefore = asked.get(`e${count - 1}`)!.length;
      own.length = 0;
      while (clock.elapsedMs - fromMs < 15 * 60_000) {
        await everyQuestion(self);
        clock.elapsedMs += BLOCK_MS;
      }
      t.true(own.length < 60, `seed ${seed}: ${own.length} requests in 2,000 blocks`);
      const pauses = own.map((at, index) => at - (own[index - 1] ?? fromMs));
      t.true(Math.max(...pauses) <= MOST_MS + BLOCK_MS, `longest ${Math.max(...pauses)}`);
      const late = pauses.slice(-5);
      t.true(Math.min(...late) >= MOST_MS / 2 - BLOCK_MS, `shortest of the last ${Math.min(...late)}`);
      t.true(new Set(late).size > 1, 'with jitter');
      if (count > 1) t.true(asked.get(`e${count - 1}`)!.length - healthyBefore > 2_000, 'the others are asked as ever');
      down.delete('e0');
      const backMs = clock.elapsedMs;
      while (self.transport.health()[0]!.failures > 0 && clock.elapsedMs - backMs <= 2 * MOST_MS) {
        await everyQuestion(self);
        clock.elapsedMs += BLOCK_MS;
      }
      t.true(clock.elapsedMs - backMs <= MOST_MS + BLOCK_MS, `back after ${clock.elapsedMs - backMs} ms`);
    }
  });

test('found: requests that were under way when the first of them failed are one outage: the endpoint is asked again at once', async (t) => {
  const { transport, endpoints, clock } = world(1, 1);
  const fail: (() => void)[] = [];
  const reads = Array.from({ length: 16 }, () =>
    transport.attempt(
      () => new Promise<never>((_, reject) => void fail.push(() => reject(new EndpointFailure('bsc', 'reset')))),
    ),
  );
  clock.elapsedMs += 20;
  for (const one of fail) {
    one();
    clock.elapsedMs += 1;
  }
  await Promise.allSettled(reads);
  t.is(transport.health()[0]!.failures, 1);
  t.is(await transport.attempt(async ({ name }) => name), 'e0');
  t.is(endpoints.length, 1);
});

test('found: a failure counts once, also where two report it, and a wait that the node asks for holds for every way', async (t) => {
  const { transport, endpoints, asked, clock } = world(2, 1),
    failure = new EndpointFailure('bsc', 'rate limited', 30_000);
  for (let turn = 0; turn < 3; turn += 1) transport.failed(endpoints[0]!, failure, clock.elapsedMs);
  t.is(transport.health()[0]!.failures, 1);
  await t.throwsAsync(endpoints[0]!.request(CALL), { instanceOf: ChainUnavailable, message: /asked again in 30 s/ });
  clock.elapsedMs += 29_999;
  await t.throwsAsync(endpoints[0]!.request(CALL), { instanceOf: ChainUnavailable });
  t.deepEqual(asked.get('e0'), []);
  clock.elapsedMs += 1;
  t.is((await endpoints[0]!.request(CALL)).status, 200);
});
