/** The watcher on real EVM nodes: reorganisations, endpoints that lag or lie, internal payments without traces. */
import { tokensWith } from '../../support/tokens.ts';
import { setTimeout as pause } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import type { ChainModule, Endpoint, Network } from '../../../chains/chain.ts';
import { createClient } from '../../../chains/evm/client.ts';
import { evm } from '../../../chains/evm/index.ts';
import { addressOfHex } from '../../../chains/evm/address.ts';
import { eth, type EvmNetwork } from '../../../chains/evm/network.ts';
import { addressKeyOf } from '../../../protocol/node/ids.ts';
import { catalogueOf } from '../../../chains/catalogue.ts';
import { createSystem, systemClock } from '../../../actors/kernel/index.ts';
import { createFigures } from '../../support/figures.ts';
import { oneEndpoint } from '../../../chain-watchers/follow/one-endpoint.ts';
import { openLiveChains, startWatchers } from '../../../chain-watchers/live.ts';
import { createFailoverTransport } from '../../../chains/transport/failover.ts';
import { restartPolicy, WORKER_RESTARTS } from '../../../actors/kernel/restart-policy.ts';
import { startAnvil, type Anvil } from '../../support/anvil.ts';
import { lacking, stuckAt, withoutLogs } from '../../support/distorted-endpoint.ts';
import {
  catalogueOfTokens,
  payer,
  payload,
  signedTransfer,
  supply,
  tokenAt,
  transferCall,
} from '../../support/evm-client.ts';
import { FORWARDER_CODE, tokenCode } from '../../support/evm-contracts.ts';
import { createTestDatabase } from '../../support/postgres.ts';
import { addressRow, newOrganization, openStores, write } from '../../support/store-rows.ts';
import { ACCOUNT, Recorder, watching, type Watching } from '../../support/watching.ts';

const address = (number: number) => addressOfHex(number.toString(16).padStart(40, '0'));
const [SHOP, FORWARDER] = [address(0x5a09), address(0xf0f0)];
const COIN = 10n ** 18n;
/** A short threshold, so that every depth around it is tried. */
const network: EvmNetwork = { ...eth, threshold: 4, reorgWindow: 64, blockTimeMs: 1_000 };

interface Watched {
  self: Watching;
  anvil: Anvil;
  told(): string[];
}

async function watched(
  t: ExecutionContext,
  {
    distort = (one) => [one],
    catalogue = new Map(),
    reconcilePerBlock,
  }: {
    distort?: (endpoint: Endpoint) => Endpoint[];
    catalogue?: ReturnType<typeof catalogueOfTokens>;
    reconcilePerBlock?: number;
  } = {},
): Promise<Watched> {
  const anvil = await startAnvil(t, network, { automine: false });
  const endpoints = distort(anvil.endpoint);
  let nowMs = 0;
  const transport = createFailoverTransport({
    chain: 'eth',
    endpoints,
    elapsedMs: () => (nowMs += 60_000),
    random: () => 0.5,
  });
  const client = createClient(network, transport, catalogue);
  const witnesses =
    endpoints.length === 1
      ? []
      : endpoints.map((endpoint) => createClient(network, oneEndpoint('eth', transport, endpoint), catalogue));
  const self = watching({
    client,
    witnesses,
    network,
    module: evm as ChainModule,
    catalogue,
    ...(reconcilePerBlock === undefined ? {} : { reconcilePerBlock }),
  });
  self.issue(SHOP);
  await anvil.fund(payer.address, 1_000n * COIN);
  await self.watcher.tick();
  const told = () =>
    self.store.inbox(ACCOUNT).map(({ fact }) => `${fact.kind} ${'deposit' in fact ? fact.deposit.amount : fact.txid}`);
  return { self, anvil, told };
}

const send = (anvil: Anvil, nonce: number, value: bigint) =>
  signedTransfer(network, nonce, SHOP, value).then(async (raw) => ({
    raw,
    txid: await anvil.rpc<string>('eth_sendRawTransaction', raw),
  }));

test('G15 G16 reliability 4.1-15 -16: real reorganisations of every depth up to beyond the threshold', async (t) => {
  for (let depth = 1; depth <= network.threshold + 3; depth += 1) {
    const { self, anvil, told } = await watched(t);
    const { raw } = await send(anvil, 0, 7n);
    await anvil.mine(depth);
    await self.watcher.tick();
    const matured = depth >= network.threshold ? ['matured 7'] : [];
    t.deepEqual(told(), ['seen 7', ...matured], `depth ${depth}`);
    await anvil.rpc('anvil_reorg', depth, []);
    await anvil.rpc('anvil_dropAllTransactions');
    await self.watcher.tick();
    t.deepEqual(told(), ['seen 7', ...matured, 'orphaned 7'], `depth ${depth}`);
    await anvil.rpc('eth_sendRawTransaction', raw);
    await anvil.mine(network.threshold + 1);
    await self.watcher.tick();
    await self.watcher.tick();
    const facts = self.store.facts('eth');
    t.is(facts.length, 1, 'one fact, whatever happened to its block');
    t.is(facts[0]!.status, 'matured', `depth ${depth}`);
    t.like(await anvil.rpc('eth_getTransactionReceipt', facts[0]!.transfer.txid), {
      blockHash: facts[0]!.transfer.blockHash,
    });
  }
});

test('C1-6 V23 G10 found F73: a second endpoint that stands still loses no payment, and nothing is announced before it has seen it too', async (t) => {
  let stuck = 0;
  const { self, anvil, told } = await watched(t, {
    distort: (endpoint) => [stuckAt(endpoint, 'stuck', () => stuck), endpoint],
  });
  for (let round = 1; round <= 12; round += 1) {
    await send(anvil, round - 1, BigInt(round));
    await anvil.mine();
    if (round % 4 === 0) stuck = round - 3;
    for (let ticks = 0; ticks < 3; ticks += 1) await self.watcher.tick();
  }
  const seen = (count: number) => Array.from({ length: count }, (_, index) => `seen ${index + 1}`);
  t.deepEqual(
    told().filter((line) => line.startsWith('seen')),
    seen(9),
  );
  t.false(told().some((line) => line.startsWith('orphaned')));
  t.true(told().filter((line) => line.startsWith('matured')).length <= 6, 'two endpoints must be deep enough');
  stuck = 12;
  for (let ticks = 0; ticks < 5; ticks += 1) await self.watcher.tick();
  t.is(told().filter((line) => line.startsWith('matured')).length, 9);
  t.deepEqual(
    told().filter((line) => line.startsWith('seen')),
    seen(12),
  );
});

test('C1-4 V5 V25: an endpoint that lies with empty logs makes no empty block; the other one tells', async (t) => {
  const token = tokenAt(eth, 0x70c0, { decimals: 6 }),
    catalogue = catalogueOfTokens(token);
  const { self, anvil, told } = await watched(t, {
    distort: (endpoint) => [withoutLogs(endpoint, 'liar', 'kept'), endpoint],
    catalogue,
  });
  await anvil.setCode(token.contract, tokenCode({ decimals: 6 }));
  await supply(anvil, FORWARDER, token, 1_000n);
  await anvil.mine();
  for (let round = 0; round < 6; round += 1) {
    await anvil.send({ from: FORWARDER, to: token.contract, data: transferCall(SHOP, 70n) });
    await anvil.mine();
    await self.watcher.tick();
  }
  for (let ticks = 0; ticks < 6; ticks += 1) {
    self.nowMs += 60_000;
    await self.watcher.tick();
  }
  t.is(told().filter((line) => line === 'seen 70').length, 6);
});

test('V7 G24 an internal payment that no endpoint traces is found by reconciliation and named, not credited', async (t) => {
  const { self, anvil, told } = await watched(t, {
    distort: (endpoint) => [lacking(endpoint, 'untraced', 'debug_traceBlockByHash', 'trace_block')],
    reconcilePerBlock: 10,
  });
  await anvil.setCode(FORWARDER, FORWARDER_CODE);
  await send(anvil, 0, 3n);
  await anvil.send({ from: payer.address, to: FORWARDER, value: 5n, data: payload(SHOP) });
  for (let round = 0; round < network.threshold + 3; round += 1) {
    await anvil.mine();
    await self.watcher.tick();
  }
  t.deepEqual(told(), ['seen 3', 'matured 3']);
  t.like((await self.audit.discrepancies('eth', 5))[0], {
    kind: 'unattributed',
    amount: 5n,
    address: SHOP,
    expected: 3n,
    found: 8n,
  });
});

/** Resolves with the value when it is what is wanted. Throws: Error with the last value after 20 s. */
async function eventually<T>(what: string, read: () => Promise<T>, wanted: (value: T) => boolean): Promise<T> {
  const deadline = performance.now() + 20_000;
  for (;;) {
    const value = await read();
    if (wanted(value)) return value;
    if (performance.now() > deadline) throw new Error(`waited in vain until ${what}: ${JSON.stringify(value)}`);
    await pause(20);
  }
}

test('V26 G11 live chains on kernel workers, polled: a payment is found, confirmed, reversed by a reorg, caught up after an outage', async (t) => {
  const database = await createTestDatabase();
  t.teardown(() => database.close());
  const stores = await openStores(database);
  const { live: accountId } = await newOrganization(stores);
  const bytes = Buffer.from(SHOP.slice(2), 'hex');
  await write(stores, accountId, [
    { table: 'address', row: addressRow(accountId, { address: SHOP, addressKey: addressKeyOf('live', 'evm', bytes) }) },
  ]);
  const anvil = await startAnvil(t, eth, { automine: false });
  await anvil.fund(payer.address, 1_000n * COIN);
  await anvil.mine(3);
  const log = new Recorder(),
    figures = createFigures();
  const kernelLog = {
    ...log,
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: () => undefined,
    fatal: () => undefined,
  };
  const system = createSystem({
    log: kernelLog as never,
    clock: systemClock,
    random: Math.random,
    policies: { entity: restartPolicy(WORKER_RESTARTS), worker: restartPolicy(WORKER_RESTARTS) },
  });
  const woken: string[] = [];
  const deps = {
    chains: {
      eth: { rpcUrls: [anvil.url, anvil.url], confirmations: 4, pollMs: 30, startHeight: null, secondReadMs: 100 },
      btc: { rpcUrls: ['http://127.0.0.1:9'], confirmations: null, pollMs: null, startHeight: null },
    },
    networkOf: (): Network => eth,
    isEnabled: (chain: string) => chain === 'eth',
    loadModule: async () => evm as ChainModule,
    tokens: tokensWith(catalogueOf),
    watch: stores.watch,
    audit: stores.audit,
    nowMs: Date.now,
    random: Math.random,
    log,
    metrics: figures,
    accounts: {
      wake: async (id: string) => {
        woken.push(id);
      },
      ask: async () => ({ ok: 'duplicate' as const }),
    },
  };
  const live = await openLiveChains(deps);
  t.teardown(() => live.close());
  t.deepEqual([...live.chains.keys()], ['eth']);
  t.deepEqual(live.unsupported, ['btc']);
  startWatchers(live, system, deps);
  t.teardown(async () => {
    await system.stop(5_000);
  });
  await eventually(
    'the ledger starts at the head',
    () => stores.watch.cursor('eth'),
    (cursor) => cursor?.height === 3,
  );
  const inbox = async () =>
    (await stores.inbox.inboxOf(accountId, 100)).inbox.map(
      ({ fact }) => `${fact.kind} ${'deposit' in fact ? fact.deposit.amount : ''}`,
    );
  const { raw } = await send(anvil, 0, 7n);
  await anvil.mine();
  await eventually('the payment is seen', inbox, (facts) => facts.join() === 'seen 7');
  await anvil.mine(3);
  await eventually('it matures', inbox, (facts) => facts.join() === 'seen 7,matured 7');
  await anvil.rpc('anvil_reorg', 4, []);
  await anvil.rpc('anvil_dropAllTransactions');
  await anvil.mine();
  await eventually('it is orphaned', inbox, (facts) => facts.join() === 'seen 7,matured 7,orphaned 7');
  await anvil.rpc('eth_sendRawTransaction', raw);
  await anvil.mine(5);
  await eventually('it is back', inbox, (facts) => facts.join() === 'seen 7,matured 7,orphaned 7,seen 7,matured 7');
  t.true(woken.length >= 4 && woken.every((id) => id === accountId));
  t.true(figures.gauge('svc_head_height')['eth']! >= 13);
  t.truthy(system.inspect('watchers/eth'));
  t.true(system.restart('watchers/eth'));
  await send(anvil, 1, 9n);
  await anvil.mine(200);
  await eventually(
    'it catches up after a restart',
    () => stores.watch.coverage('eth'),
    ({ completeHeight }) => completeHeight === 213,
  );
  t.true((await inbox()).includes('matured 9'));
});
