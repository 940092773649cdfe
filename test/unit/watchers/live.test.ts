import { tokensWith } from '../../support/tokens.ts';
import test from 'ava';
import {
  ChainUnavailable,
  type ChainModule,
  type Endpoint,
  type Network,
  type Token,
  type Transport,
} from '../../../chains/chain.ts';
import { evm } from '../../../chains/evm/index.ts';
import { eth } from '../../../chains/evm/network.ts';
import { createFigures } from '../../support/figures.ts';
import { networkWith, openLiveChains, startWatchers, viewOf } from '../../../chain-watchers/live.ts';
import { pauseMsOf } from '../../../chain-watchers/rounds.ts';
import { oneEndpoint } from '../../../chain-watchers/follow/one-endpoint.ts';
import { WHY } from '../../../chain-watchers/follow/quorum.ts';
import { createEndpointWatch, type Finding } from '../../../chains/transport/endpoint-watch.ts';
import { createFailoverTransport } from '../../../chains/transport/failover.ts';
import { createMemoryAuditStore } from '../../../persistence/memory/audit-store.ts';
import { emptyWatchState } from '../../../persistence/memory/watch-state.ts';
import { createMemoryWatchStore } from '../../../persistence/memory/watch-store.ts';
import { addressKeyOf } from '../../../protocol/node/ids.ts';
import { ACCOUNT, Recorder } from '../../support/watching.ts';
import { EndpointFailure } from '../../../chains/transport/http-endpoint.ts';

test('G11 polling: no pause while there is more to read, the poll interval else, longer while the head cannot be followed', (t) => {
  t.is(pauseMsOf(3_000, 0, true), 0);
  t.is(pauseMsOf(3_000, 0, false), 3_000);
  t.deepEqual(
    [1, 2, 3, 30].map((failures) => pauseMsOf(3_000, failures, false)),
    [3_000, 6_000, 10_000, 10_000],
  );
  t.deepEqual(
    [1, 2, 9].map((failures) => pauseMsOf(250, failures, true)),
    [250, 500, 10_000],
  );
});

test("G15 a threshold of the operator's own widens the reorg window to twice its depth", (t) => {
  t.is(networkWith(eth, null), eth);
  t.like(networkWith(eth, 30), { threshold: 30, reorgWindow: 256 });
  t.like(networkWith(eth, 200), { threshold: 200, reorgWindow: 400 });
});

const endpoint = (name: string): Endpoint => ({ name, request: () => Promise.reject(new Error('never asked here')) });

test('G10 G14 a witness speaks for its own endpoint, and shares its health', async (t) => {
  const endpoints = [endpoint('a'), endpoint('b')] as const;
  let nowMs = 0;
  const transport = createFailoverTransport({ chain: 'eth', endpoints, elapsedMs: () => nowMs, random: () => 0.5 });
  const witness = oneEndpoint('eth', transport, endpoints[1]);
  for (let round = 0; round < 4; round += 1) t.is(await witness.attempt(async ({ name }) => name), 'b');
  t.throws(() => witness.pick([endpoints[1]]), { instanceOf: ChainUnavailable });
  for (let round = 0; round < 2; round += 1) {
    await t.throwsAsync(
      witness.attempt(() => Promise.reject(new EndpointFailure('eth', 'no answer'))),
      { instanceOf: EndpointFailure },
    );
  }
  t.is(transport.health()[1]!.state, 'backing_off');
  await t.throwsAsync(
    witness.attempt(async ({ name }) => name),
    { instanceOf: ChainUnavailable },
    'it is left alone, and nobody speaks for it',
  );
  nowMs += 60_000;
  t.is(await witness.attempt(async ({ name }) => name), 'b');
  transport.report(endpoints[1], 'wrong_network');
  await t.throwsAsync(
    witness.attempt(async ({ name }) => name),
    { instanceOf: ChainUnavailable },
  );
  t.is(await oneEndpoint('eth', transport, endpoints[0]).attempt(async ({ name }) => name), 'a');
});

test('figures keep the newest gauge of each chain and the sum of each counter', (t) => {
  const observed: number[] = [];
  const figures = createFigures((_chain, seconds) => observed.push(seconds));
  figures.set('svc_blocks_behind', { chain: 'eth' }, 5);
  figures.set('svc_blocks_behind', { chain: 'eth' }, 2);
  figures.set('svc_blocks_behind', { chain: 'bsc' }, 9);
  t.deepEqual(figures.gauge('svc_blocks_behind'), { eth: 2, bsc: 9 });
  t.deepEqual(figures.gauge('svc_head_height'), {});
  figures.add('svc_reorgs_total', { chain: 'eth' });
  figures.add('svc_reorgs_total', { chain: 'eth' }, 2);
  t.deepEqual(figures.counters(), [{ name: 'svc_reorgs_total', labels: { chain: 'eth' }, value: 3 }]);
  figures.observeBlock('eth', 0.25);
  t.deepEqual(observed, [0.25]);
});

test('found F75: an operator finds each endpoint as its requests left it, else as blocks find it', async (t) => {
  const network = { expected: '1', seen: '56' };
  const found = (state: Finding['state']): Finding => ({
    state,
    sinceMs: 5,
    trouble: state === 'up' ? null : 'other',
    reason: state === 'up' ? null : 'why',
    network: state === 'wrong_network' ? network : null,
    next: state === 'up' ? null : 'do it',
  });
  const stateOf = (requests: Finding['state'] | null, condition: Parameters<typeof viewOf>[1]) =>
    viewOf(requests === null ? null : found(requests), condition).state;
  t.is(stateOf(null, 'alive'), 'unknown');
  t.deepEqual(viewOf(found('wrong_network'), 'silent'), {
    state: 'wrong_network',
    reason: 'why',
    next: 'do it',
    network,
    sinceMs: 5,
  });
  t.is(viewOf(found('up'), 'ahead').reason, WHY.ahead, 'what blocks say of it is its reason');
  for (const condition of ['alive', 'silent', 'behind'] as const) {
    t.is(stateOf('down', condition), 'down');
    t.is(stateOf('wrong_network', condition), 'wrong_network');
  }
  t.deepEqual(
    (['alive', 'unheard', 'silent', 'behind', 'stuck', 'unreadable', 'ahead'] as const).map((condition) =>
      stateOf('up', condition),
    ),
    ['up', 'down', 'down', 'behind', 'stuck', 'unreadable', 'ahead'],
  );
});

test('found F75: requests that end because the node stops call no endpoint down', async (t) => {
  const recorder = new Recorder(),
    watch = createEndpointWatch('eth', { log: recorder, metrics: recorder, nowMs: () => 0 });
  const failing = (reason: string) =>
    watch.watched({ name: 'eth-1', request: (_call: unknown) => Promise.reject(new EndpointFailure('eth', reason)) });
  const fail = async (reason: string) => {
    for (let tries = 0; tries < 3; tries += 1) await t.throwsAsync(failing(reason).request({} as never));
  };
  for (const own of ['UND_ERR_DESTROYED', 'UND_ERR_CLOSED']) await fail(`connection failed: ${own}`);
  t.deepEqual([watch.findingOf('eth-1'), recorder.lines.length], [null, 0]);
  await fail('connection failed: UND_ERR_SOCKET');
  t.deepEqual([watch.findingOf('eth-1')?.state, recorder.lines.length], ['down', 1]);
});

test('found F74 F75: a chain none of whose nodes may be asked is looked at all the same: coverage says that both are down', async (t) => {
  const recorder = new Recorder(),
    state = emptyWatchState();
  let nowMs = 0;
  const away = async (): Promise<never> => {
    throw new ChainUnavailable('eth', 'connection failed');
  };
  const module = { ...evm, createClient: () => ({ checkIdentity: away, getHead: away }) } as unknown as ChainModule;
  const live = await openLiveChains({
    chains: {
      eth: {
        rpcUrls: ['http://127.0.0.1:9', 'http://127.0.0.1:10'],
        confirmations: null,
        pollMs: null,
        startHeight: null,
      },
    },
    networkOf: () => eth,
    isEnabled: () => true,
    loadModule: async () => module,
    tokens: tokensWith(() => new Map()),
    watch: createMemoryWatchStore(() => 0, state),
    audit: createMemoryAuditStore(state),
    accounts: { wake: async () => undefined, ask: async () => ({ ok: 'duplicate' }) },
    nowMs: () => nowMs,
    elapsedMs: () => nowMs,
    random: () => 0,
    log: recorder,
    metrics: recorder,
  });
  t.teardown(() => live.close());
  const workers: Worker[] = [];
  startWatchers(
    live,
    { spawnWorker: ((worker: Worker) => workers.push(worker)) as never },
    { elapsedMs: () => nowMs, log: recorder },
  );
  const chain = live.chains.get('eth')!,
    watcher = workers.find(({ path }) => path === 'watchers/eth')!;
  t.deepEqual(
    chain.endpointViews().map(({ state: view }) => view),
    ['unknown', 'unknown'],
  );
  for (const at of [0, 5_000, 10_000]) {
    nowMs = at;
    await watcher.receive(
      { type: 'tick' },
      { timers: { after: () => undefined }, sendSelf: () => undefined, signal: new AbortController().signal },
    );
  }
  t.deepEqual(
    chain.endpointViews().map(({ endpoint: name, state: view, reason }) => [name, view, reason]),
    [
      ['eth-1', 'down', WHY.unheard],
      ['eth-2', 'down', WHY.unheard],
    ],
  );
});

interface Worker {
  path: string;
  receive(message: object, by: object): Promise<void>;
}

test('K4 what the chain contradicts is out of the catalogue by which blocks are read, balances asked and payments built', async (t) => {
  const contract = '0xdAC17F958D2ee523a2206206994597C13D831ec7',
    recorder = new Recorder();
  const token: Token = { chain: 'eth', contract, symbol: 'USDT', decimals: 6 } as Token;
  const module = {
    ...evm,
    createClient: (...given: Parameters<typeof evm.createClient>) => ({
      ...evm.createClient(...given),
      fetchTokenFacts: async () => ({ symbol: 'USDT', name: '', decimals: 18 }),
    }),
  } as unknown as ChainModule;
  const state = emptyWatchState();
  const live = await openLiveChains({
    chains: { eth: { rpcUrls: ['http://127.0.0.1:9'], confirmations: null, pollMs: null, startHeight: null } },
    networkOf: () => eth,
    isEnabled: () => true,
    loadModule: async () => module,
    tokens: tokensWith(() => new Map([[contract, token]])),
    watch: createMemoryWatchStore(() => 0, state),
    audit: createMemoryAuditStore(state),
    accounts: { wake: async () => undefined, ask: async () => ({ ok: 'duplicate' }) },
    nowMs: () => 0,
    random: () => 0,
    log: recorder,
    metrics: recorder,
  });
  t.teardown(() => live.close());
  const chain = live.chains.get('eth')!;
  t.is(chain.catalogue.size, 1);
  t.is(await chain.checkTokens(), 0);
  t.is(chain.catalogue.size, 0);
});

test('C1-4 V6 an endpoint that traces no more is a figure and an error line; what the operator requires reaches the client', async (t) => {
  const recorder = new Recorder(),
    given: { network: Network; transport: Transport }[] = [];
  const module = {
    ...evm,
    createClient: (...[network, transport, catalogue]: Parameters<typeof evm.createClient>) => {
      given.push({ network, transport });
      return evm.createClient(network, transport, catalogue);
    },
  } as unknown as ChainModule;
  const state = emptyWatchState(),
    one = { rpcUrls: ['http://127.0.0.1:9'], confirmations: null, pollMs: null, startHeight: null };
  for (const settings of [one, { ...one, confirmations: 20, tracesRequired: true }]) {
    const live = await openLiveChains({
      chains: { eth: settings },
      networkOf: () => eth,
      isEnabled: () => true,
      loadModule: async () => module,
      tokens: tokensWith(() => new Map()),
      watch: createMemoryWatchStore(() => 0, state),
      audit: createMemoryAuditStore(state),
      accounts: { wake: async () => undefined, ask: async () => ({ ok: 'duplicate' }) },
      nowMs: () => 0,
      random: () => 0,
      log: recorder,
      metrics: recorder,
    });
    t.teardown(() => live.close());
  }
  t.deepEqual(
    given.map(({ network }) => [network.tracesRequired === true, network.threshold]),
    [
      [false, 12],
      [true, 20],
    ],
  );
  const { transport } = given[0]!,
    endpoint = transport.endpoints[0]!;
  transport.reportTraces!(endpoint, false);
  t.is(recorder.gauges.get('svc_traces_lost'), 1);
  t.like(recorder.lines.at(-1), { level: 'error', fields: { chain: 'eth', endpoint: 'eth-1' } });
  transport.reportTraces!(endpoint, true);
  t.is(recorder.gauges.get('svc_traces_lost'), 0);
  t.like(recorder.lines.at(-1), { level: 'info', fields: { chain: 'eth', endpoint: 'eth-1' } });
});

test("found: the audit takes two endpoints' word where there are two: what they contradict each other about is not read", async (t) => {
  const recorder = new Recorder(),
    state = emptyWatchState(),
    watch = createMemoryWatchStore(() => 0, state),
    link = { height: 5, hash: 'b5', parentHash: 'b4', parentHeight: 4, timeMs: null };
  const says = new Map([
    ['eth-1', 7n],
    ['eth-2', 7n],
  ]);
  const module = {
    ...evm,
    createClient: (_: Network, transport: Transport) => ({
      checkIdentity: async () => undefined,
      getHead: async () => ({ height: 5, hash: 'b5', finalizedHeight: null }),
      fetchBalance: async () => ({
        amount: says.get(transport.pick().name)!,
        reserved: 0n,
        available: 0n,
        decimals: 18,
        accountExists: true,
      }),
    }),
  } as unknown as ChainModule;
  const live = await openLiveChains({
    chains: {
      eth: {
        rpcUrls: ['http://127.0.0.1:9', 'http://127.0.0.1:9'],
        confirmations: null,
        pollMs: null,
        startHeight: null,
      },
    },
    networkOf: () => eth,
    isEnabled: () => true,
    loadModule: async () => module,
    tokens: tokensWith(() => new Map()),
    watch,
    audit: createMemoryAuditStore(state),
    accounts: { wake: async () => undefined, ask: async () => ({ ok: 'duplicate' }) },
    nowMs: () => 0,
    random: () => 0,
    log: recorder,
    metrics: recorder,
  });
  t.teardown(() => live.close());
  watch.addAddress(
    {
      addressKey: addressKeyOf('live', 'evm', Buffer.from('a')),
      addressId: 'adr_a',
      accountId: ACCOUNT,
      address: '@a',
      purpose: 'deposit',
    },
    'live',
    0,
  );
  await watch.recordBlock('eth', { link, previous: null, transfers: [], withdrawals: [], unresolved: null });
  const { audit } = live.chains.get('eth')!;
  t.like(await audit.round(10), { compared: 1, unread: 0 });
  for (const liar of ['eth-1', 'eth-2']) {
    says.set(liar, 1_000n);
    t.like(await audit.round(10), { compared: 0, unread: 1 }, liar);
    says.set(liar, 7n);
  }
});
