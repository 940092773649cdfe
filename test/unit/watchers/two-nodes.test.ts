/** A ledger that several nodes follow one after the other: what one remembers of before another followed it is void. */
import test from 'ava';
import { createWatcher } from '../../../chain-watchers/watcher.ts';
import { SimulatedChain, simulatedNetwork } from '../../support/simulated-chain.ts';
import { watching } from '../../support/watching.ts';

test('design 5: an address paid in the block of its birth is not missed by a watcher that followed the chain before, and again', async (t) => {
  const chain = new SimulatedChain();
  const self = watching({ client: chain.client(), network: { ...simulatedNetwork, blockTimeMs: 12_000 } });
  const other = createWatcher(self.parts);
  self.issue('@old');
  await self.watcher.tick();
  self.nowMs += 3_000;
  await self.watcher.tick();
  chain.mineEmpty(20);
  chain.mine([{ txid: 'newborn', outputIndex: 0, to: '@new', amount: 5n }]);
  self.nowMs += 240_000;
  await other.tick();
  self.nowMs += 1_000;
  self.issue('@new');
  self.nowMs += 12_000; // the other one is killed, and its lease ends
  t.like(await self.watcher.tick(), { late: 1 });
  self.nowMs += 3_000;
  t.like(await self.watcher.tick(), { late: 0 });
});

test('G17 a chain that a person restarted at another node is followed where it was stopped before', async (t) => {
  const chain = new SimulatedChain();
  const self = watching({ client: chain.client() });
  const other = createWatcher(self.parts);
  await self.watcher.tick();
  chain.mineEmpty(60);
  await self.watcher.tick();
  chain.fork(
    50,
    Array.from({ length: 60 }, () => []),
  );
  await self.watcher.tick();
  self.nowMs += 60_000;
  t.truthy((await self.watcher.tick()).stopped);
  t.truthy((await self.watcher.tick()).stopped, 'by nothing but a person');
  t.like(await other.rebuildAbove(10), { kind: 'reorg' });
  t.like(await self.watcher.tick(), { stopped: null });
  t.is(self.recorder.gauges.get('svc_chain_stopped'), 0);
});

test('4.1-12 an endpoint that was silent before another node followed the chain is waited for as one that was just silent', async (t) => {
  const chain = new SimulatedChain(),
    [one, two] = [chain.client(), chain.client()];
  const self = watching({ client: chain.client(), witnesses: [one, two] });
  const other = createWatcher(self.parts);
  await self.watcher.tick();
  chain.mine();
  two.down = true;
  await self.watcher.tick();
  two.down = false;
  self.nowMs += 600_000;
  chain.mine();
  await other.tick();
  two.down = true;
  chain.mine();
  self.nowMs += 1_000;
  await self.watcher.tick();
  t.is(self.watcher.conditionOf(1), 'alive', 'its last silence was another one');
});
