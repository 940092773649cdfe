import test from 'ava';
import { ChainUnavailable } from '../../../chains/chain.ts';
import { fitClient } from '../../../chain-watchers/node-health.ts';
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
