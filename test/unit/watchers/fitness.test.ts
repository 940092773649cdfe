import test from 'ava';
import { ChainUnavailable } from '../../../chains/chain.ts';
import { createDoubts, fitClient } from '../../../chain-watchers/node-health.ts';
import { SimulatedChain, simulatedNetwork } from '../../support/simulated-chain.ts';
import { watching } from '../../support/watching.ts';

async function started() {
  const chain = new SimulatedChain(),
    client = chain.client(),
    self = watching({ client });
  await self.watcher.tick();
  chain.mineEmpty(simulatedNetwork.reorgWindow + 4);
  await self.watcher.tick();
  return { client, self, fit: fitClient(self.parts, 300_000) };
}

test('§1.7 G10 a node a little behind the ledger tells balances; one further behind than any reorg goes tells none', async (t) => {
  const { client, self, fit } = await started();
  client.lag = simulatedNetwork.reorgWindow;
  t.like(await fit.fetchBalance('@a', null), { amount: 0n });
  client.lag += 1;
  const again = fitClient(self.parts, 300_000);
  await t.throwsAsync(again.fetchBalance('@a', null), { instanceOf: ChainUnavailable, message: /far behind/ });
  await t.throwsAsync(again.fetchBuildInputs(undefined as never), { instanceOf: ChainUnavailable });
  client.lag = 0;
  t.like(await again.fetchBalance('@a', null), { amount: 0n });
});

test('§1.7 G14 that a node is fit holds for a while and is found out again after it; many questions look once', async (t) => {
  const { client, self, fit } = await started();
  client.calls = [];
  await Promise.all([fit.fetchBalance('@a', null), fit.fetchBalance('@b', null)]);
  t.is(client.calls.filter((call) => call === 'identity').length, 1);
  client.wrongNetwork = true;
  self.nowMs += 299_999;
  await t.notThrowsAsync(fit.fetchBalance('@a', null));
  self.nowMs += 1;
  await t.throwsAsync(fit.fetchBalance('@a', null), { instanceOf: ChainUnavailable, message: /another network/ });
});

test('migration M-D5: a node that is not fit says of no address that it was never used', async (t) => {
  const { client, self } = await started();
  const use = { used: [false], evidence: 'state', height: 1, requests: 1 } as const;
  t.is(fitClient(self.parts, 300_000).fetchUse, undefined, 'where a chain has none');
  Object.assign(client, { fetchUse: async () => use });
  const ask = { addresses: ['@a'], tokens: [] };
  t.deepEqual(await fitClient(self.parts, 300_000).fetchUse!(ask), use);
  client.lag = simulatedNetwork.reorgWindow + 1;
  await t.throwsAsync(fitClient(self.parts, 300_000).fetchUse!(ask), { message: /far behind/ });
  client.lag = 0;
  client.wrongNetwork = true;
  await t.throwsAsync(fitClient(self.parts, 300_000).fetchUse!(ask), { message: /another network/ });
});

test('found F75 G14: what may be an answer of another network is looked at before its time, once for each doubt', async (t) => {
  const { client, self } = await started(),
    doubts = createDoubts(),
    fit = fitClient(self.parts, 300_000, doubts);
  await fit.fetchBalance('@a', null);
  client.wrongNetwork = true;
  await t.notThrowsAsync(fit.fetchBalance('@a', null));
  doubts.raise();
  await t.throwsAsync(fit.fetchBalance('@a', null), { instanceOf: ChainUnavailable, message: /another network/ });
  client.wrongNetwork = false;
  await fit.fetchBalance('@a', null);
  client.calls = [];
  await fit.fetchBalance('@a', null);
  t.false(client.calls.includes('identity'));
});

test('found F75 G14: endpoints that contradict each other are doubted once for a block, not at each tick', async (t) => {
  const chain = new SimulatedChain(),
    witnesses = [chain.client(), chain.client()];
  const self = watching({ client: chain.client(), witnesses });
  self.issue('@a');
  let doubted = 0;
  self.parts.doubtNetwork = () => void (doubted += 1);
  self.restart();
  await self.watcher.tick();
  Object.assign(witnesses[1]!, { alters: (payment: object) => ({ ...payment, amount: 0n }) });
  chain.mine([{ txid: 'tx', outputIndex: 0, to: '@a', amount: 5n }]);
  for (let round = 0; round < 8; round += 1) {
    self.nowMs += 1_001;
    await self.watcher.tick();
  }
  t.true(self.recorder.counters.get('svc_blocks_contradicted_total')! > 1);
  t.is(doubted, 1);
});

test('found: no balance and no inputs of a build by an only node while it claims a head that cannot be', async (t) => {
  const chain = new SimulatedChain(100),
    client = chain.client(),
    self = watching({ client });
  const fit = fitClient({ ...self.parts, isAhead: () => self.watcher.conditionOf(0) === 'ahead' }, 300_000);
  await self.watcher.tick();
  t.like(await fit.fetchBalance('@a', null), { amount: 0n });
  client.ahead = 10 ** 9;
  await self.watcher.tick();
  await t.throwsAsync(fit.fetchBalance('@a', null), { instanceOf: ChainUnavailable, message: /cannot be/ });
  await t.throwsAsync(fit.fetchBuildInputs(undefined as never), { instanceOf: ChainUnavailable });
  client.ahead = 0;
  await self.watcher.tick();
  t.like(await fit.fetchBalance('@a', null), { amount: 0n });
});
