/** The wall clock of a node is set, either way, while it works: no span of time is measured by it. Reliability 1.3. */
import test from 'ava';
import { ChainUnavailable } from '../../../chains/chain.ts';
import { createFailoverTransport } from '../../../chains/transport/failover.ts';
import { SimulatedChain } from '../../support/simulated-chain.ts';
import { ACCOUNT, watching } from '../../support/watching.ts';

const HOUR_MS = 3_600_000;
const payment = (txid: string, to: string, amount: bigint) => ({ txid, outputIndex: 0, to, amount });

for (const [way, stepMs] of [
  ['forward', HOUR_MS],
  ['back', -HOUR_MS],
] as const) {
  test(`a clock that is set ${way} puts no endpoint out, and lets none decide alone`, async (t) => {
    const chain = new SimulatedChain(),
      witnesses = [chain.client(), chain.client()],
      self = watching({ client: chain.client(), witnesses });
    const { address } = self.issue('@a');
    await self.watcher.tick();
    chain.mine([payment('one', address, 5n)]);
    self.nowMs += 1_000;
    await self.watcher.tick();
    witnesses[1]!.down = true;
    self.nowMs += 6_000;
    await self.watcher.tick();
    self.wallStepMs = stepMs;
    chain.mine([payment('two', address, 7n)]);
    self.nowMs += 6_000;
    const { failures } = await self.watcher.tick();
    t.is(self.watcher.conditionOf(1), 'alive', 'it has been silent for seconds only');
    t.true(
      failures.length > 0 || self.store.facts('eth').length < 2,
      'nothing is proven by the one endpoint that is left',
    );
    witnesses[1]!.down = false;
    self.nowMs += 1_000;
    await self.watcher.tick();
    self.nowMs += 1_000;
    await self.watcher.tick();
    t.is(self.store.facts('eth').length, 2);
  });

  test(`a clock that is set ${way} changes no retry of a height that is not proven`, async (t) => {
    const chain = new SimulatedChain(),
      client = chain.client(),
      self = watching({ client, settings: { contentTries: 1 } });
    const { address } = self.issue('@a');
    await self.watcher.tick();
    chain.mine([payment('one', address, 5n)]);
    const { height } = chain.tip;
    client.contentMissing.add(height);
    chain.mineEmpty(2);
    for (let tick = 0; tick < 4; tick += 1) {
      self.nowMs += 1_000;
      await self.watcher.tick();
    }
    t.deepEqual(self.store.facts('eth'), []);
    self.wallStepMs = stepMs;
    client.contentMissing.delete(height);
    let ticks = 0;
    for (; self.store.facts('eth').length === 0 && ticks < 40; ticks += 1) {
      self.nowMs += 1_000;
      await self.watcher.tick();
    }
    t.true(ticks < 40, 'it was retried within the delays that it had');
  });

  test(`a clock that is set ${way} ends no waiting of an endpoint before its time, and prolongs none`, async (t) => {
    let elapsedMs = 0;
    const endpoint = { name: 'eth-1', url: '', request: async () => Promise.reject(new Error('unused')) };
    const transport = createFailoverTransport({
      chain: 'eth',
      endpoints: [endpoint],
      elapsedMs: () => elapsedMs,
      random: () => 0,
    });
    transport.report(endpoint, 'failed');
    transport.report(endpoint, 'failed');
    t.throws(() => transport.pick(), { instanceOf: ChainUnavailable });
    elapsedMs += 60_000;
    t.is(transport.pick(), endpoint);
  });
}

test('an address that a clock which was set back dates before the last match is matched with the last blocks too', async (t) => {
  const chain = new SimulatedChain(),
    self = watching({ client: chain.client() });
  await self.watcher.tick();
  chain.mine([payment('one', '@young', 5n)]);
  self.nowMs += 3_000;
  await self.watcher.tick();
  t.deepEqual(self.store.facts('eth'), [], 'nobody has the address yet');
  self.wallStepMs = -HOUR_MS;
  self.issue('@young', ACCOUNT);
  self.nowMs += 3_000;
  await self.watcher.tick();
  t.is(self.store.facts('eth').length, 1);
});
