/**
 * found: one lying or hanging endpoint of two decided what customers were told, and what their payments were built on.
 */
import test from 'ava';
import {
  ChainUnavailable,
  type Balance,
  type BuildInputs,
  type ChainClient,
  type Token,
} from '../../../chains/chain.ts';
import { evm } from '../../../chains/evm/index.ts';
import type { EvmInputs } from '../../../chains/evm/fee.ts';
import { eth } from '../../../chains/evm/network.ts';
import { balanceOf } from '../../../chains/evm/balance.ts';
import { EndpointsContradict, HEDGE_MS, withSecondOpinion } from '../../../chain-watchers/second-opinion.ts';
import { EndpointFailure } from '../../../chains/transport/http-endpoint.ts';
import { HandTimer } from '../../support/hand-timer.ts';
import { inputsOf, intentOf } from '../../support/evm-inputs.ts';
import { Recorder } from '../../support/watching.ts';

type Voice = Partial<Pick<ChainClient, 'fetchBalance' | 'fetchBalanceAt' | 'fetchBuildInputs' | 'upholds'>> & {
  height?: number;
};
const balance = (amount: bigint): Balance => balanceOf(amount, 18);
const says = (amount: bigint): Voice => ({ fetchBalance: async () => balance(amount) });
const builds = (more: Partial<EvmInputs> = {}): Voice => ({ fetchBuildInputs: async () => inputsOf(more) });
const hangs = () => new Promise<never>(() => undefined);
const fails = () => Promise.reject(new EndpointFailure('eth', 'connection failed'));

function heard(voices: readonly Voice[], counts: (index: number) => boolean = () => true) {
  const clock = new HandTimer(),
    recorder = new Recorder(),
    asked = voices.map(() => 0);
  const witnesses = voices.map(({ height = 100, ...voice }, index) => {
    const counted =
      <Args extends unknown[], T>(read: ((...args: Args) => Promise<T>) | undefined) =>
      (...args: Args): Promise<T> => {
        asked[index]! += 1;
        return read!(...args);
      };
    return {
      ...voice,
      getHead: async () => ({ height, hash: '', finalizedHeight: null }),
      fetchBalance: counted(voice.fetchBalance),
      fetchBuildInputs: counted(voice.fetchBuildInputs),
    } as unknown as ChainClient;
  });
  const client = withSecondOpinion({
    network: eth,
    module: { agreeInputs: evm.agreeInputs as never },
    client: {} as ChainClient,
    witnesses,
    counts,
    timer: clock.timer,
    hedgeMs: HEDGE_MS,
    log: recorder,
    metrics: recorder,
  });
  const read = () => clock.until(client.fetchBalance('@a', null));
  const build = () => clock.until(client.fetchBuildInputs(intentOf())) as Promise<BuildInputs & EvmInputs>;
  return { client, clock, recorder, asked, read, build };
}

test('found: a balance that one endpoint of two invents, or denies, is answered by nobody: 503 names the contradiction', async (t) => {
  for (const [a, b] of [
    [1_000n, 7n],
    [0n, 7n],
    [7n, 0n],
    [7n, 8n],
  ] as const) {
    const { read, recorder, clock } = heard([says(a), says(b)]);
    for (let round = 0; round < 2; round += 1) {
      const error = await t.throwsAsync(read(), { instanceOf: EndpointsContradict });
      t.regex((error as EndpointsContradict).reason, /contradict each other about balance/);
    }
    t.true(clock.nowMs <= 2 * 2_000, 'within 2 s each');
    t.deepEqual(
      recorder.lines.map(({ level, fields }) => [level, (fields as { endpoints: string[] }).endpoints]),
      [['error', ['eth-1', 'eth-2']]],
      'one line for both',
    );
    t.is(recorder.counters.get('svc_reads_contradicted_total'), 2);
  }
});

test('two that agree are asked once each; of three the one that lies is outvoted, whichever it is', async (t) => {
  const { read, asked } = heard([says(7n), says(7n)]);
  t.is((await read()).amount, 7n);
  t.deepEqual(asked, [1, 1]);
  for (let liar = 0; liar < 3; liar += 1) {
    const three = heard([0, 1, 2].map((index) => says(index === liar ? 0n : 7n)));
    for (let turn = 0; turn < 3; turn += 1) t.is((await three.read()).amount, 7n);
    t.is(three.clock.nowMs, 0);
  }
});

test('heads that differ for a moment: asked at the lower one where nodes can, else asked again; a head far below is no common height', async (t) => {
  const history = (height: number): Voice => ({
    height,
    fetchBalance: async () => balance(BigInt(height)),
    fetchBalanceAt: async (_a: string, _t: Token | null, at: number) => balance(BigInt(at)),
  });
  t.is((await heard([history(100), history(98)]).read()).amount, 98n);
  await t.throwsAsync(
    heard([history(100), history(0)]).read(),
    { instanceOf: EndpointsContradict },
    'at block 0 everybody has nothing',
  );
  await t.throwsAsync(heard([history(100), { ...history(98), fetchBalanceAt: async () => balance(5n) }]).read(), {
    instanceOf: EndpointsContradict,
  });
  let late = 3n;
  const catchesUp: Voice = { fetchBalance: async () => balance(late++ >= 4n ? 7n : 6n) };
  const { read, clock } = heard([says(7n), catchesUp]);
  t.is((await read()).amount, 7n);
  t.true(clock.nowMs > 0 && clock.nowMs < 4_000);
});

test('found: with one endpoint hanging balance and build answer in under 4 s, later ones at once; the slow one is noted and counts again when it answers', async (t) => {
  for (const hanging of [0, 1]) {
    let isHanging = true;
    const voice = (index: number): Voice => ({
      fetchBalance: () => (isHanging && index === hanging ? hangs() : Promise.resolve(balance(7n))),
      fetchBuildInputs: () => (isHanging && index === hanging ? hangs() : Promise.resolve(inputsOf())),
    });
    const { read, build, clock, recorder, asked } = heard([voice(0), voice(1)]);
    t.is((await read()).amount, 7n);
    t.is(clock.nowMs, HEDGE_MS);
    for (let turn = 0; turn < 20; turn += 1) t.is((await build()).counter, 'one_word');
    t.is(clock.nowMs, HEDGE_MS, 'nobody waits for it again');
    t.true(asked[hanging]! <= 3, 'one question at a time is tried beside the others');
    isHanging = false;
    t.deepEqual(
      recorder.lines.map(({ level }) => level),
      ['warn'],
    );
  }
});

test('an endpoint that is out and answers in time counts again', async (t) => {
  let isDown = true;
  const { read, recorder } = heard([
    says(7n),
    { fetchBalance: () => (isDown ? fails() : Promise.resolve(balance(8n))) },
  ]);
  t.is((await read()).amount, 7n);
  isDown = false;
  t.is((await read()).amount, 7n, 'tried beside the other one');
  await t.throwsAsync(read(), { instanceOf: EndpointsContradict });
  t.deepEqual(
    recorder.lines.map(({ level }) => level),
    ['warn', 'info', 'error'],
  );
});

test('a failure of a moment gives the other one not the only word; one that goes on does', async (t) => {
  let failures = 1;
  const flaky: Voice = { fetchBalance: () => (failures-- > 0 ? fails() : Promise.resolve(balance(7n))) };
  await t.throwsAsync(heard([says(1_000n), flaky]).read(), { instanceOf: EndpointsContradict });
  const { read, clock } = heard([says(7n), { fetchBalance: fails }]);
  t.is((await read()).amount, 7n);
  t.true(clock.nowMs < 1_000);
});

test('who does not count as alive is not asked while another one does; without any answer there is none', async (t) => {
  const { read, asked } = heard([says(1_000n), says(7n)], (index) => index === 1);
  t.is((await read()).amount, 7n);
  t.deepEqual(asked, [0, 1]);
  t.is((await heard([says(7n), says(7n)], () => false).read()).amount, 7n);
  await t.throwsAsync(heard([{ fetchBalance: fails }, { fetchBalance: fails }]).read(), {
    instanceOf: ChainUnavailable,
    message: /connection failed/,
  });
});

test('found: a counter that one endpoint of two invents is not built with: the lower one, marked, whichever lies', async (t) => {
  for (const [a, b] of [
    [11, 30],
    [30, 11],
    [11, 0],
    [0, 11],
  ] as const) {
    const built = await heard([
      builds({ nonceLatest: a, noncePending: a }),
      builds({ nonceLatest: b, noncePending: b }),
    ]).build();
    t.like(built, { nonceLatest: Math.min(a, b), counter: 'disputed' });
  }
  t.is((await heard([builds(), builds()]).build()).counter, undefined);
});

test("found: what decides whether a payment lands is two endpoints' word: 503 with its name; fees differ within bounds", async (t) => {
  const gwei = 1_000_000_000n;
  for (const [more, about] of [
    [{ nativeBalance: '0' }, 'feeBalance'],
    [{ gas: { kind: 'reverted', reason: 'no' } as const }, 'destination'],
    [{ gas: { kind: 'estimated', units: '100000' } as const }, 'destination'],
    [{ baseFeePerGas: (100n * gwei).toString() }, 'fee'],
    [{ baseFeePerGas: '1', tipPerGas: '1' }, 'fee'],
  ] as const) {
    for (const voices of [
      [builds(), builds(more)],
      [builds(more), builds()],
    ]) {
      const error = await t.throwsAsync(heard(voices).build(), { instanceOf: EndpointsContradict });
      t.true((error as EndpointsContradict).about.includes(about), about);
    }
  }
  const dearer = { baseFeePerGas: (20n * gwei).toString() };
  t.like(await heard([builds(), builds(dearer)]).build(), dearer, 'a payment that pays too little waits for ever');
  t.like(
    await heard([builds(dearer), builds({ nativeBalance: (10n ** 19n).toString() })]).build(),
    dearer,
    'more than enough is enough',
  );
});

test('a block that a payment refers to must be on the chain of the other endpoint', async (t) => {
  const lacks: Voice = { ...builds(), upholds: async () => false };
  const error = await t.throwsAsync(heard([builds(), lacks]).build(), { instanceOf: EndpointsContradict });
  t.deepEqual((error as EndpointsContradict).about, ['reference block']);
  t.is((await heard([builds(), { ...builds(), upholds: async () => true }]).build()).nonceLatest, 7);
});
