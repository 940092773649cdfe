import test from 'ava';
import { SimulatedChain } from '../../support/simulated-chain.ts';
import { ACCOUNT, watching, type Watching } from '../../support/watching.ts';

const pay = (txid: string) => ({ txid, outputIndex: 0, to: '@a', amount: 5n });
const told = (self: Watching) =>
  self.store.inbox(ACCOUNT).map(({ fact }) => `${fact.kind} ${'deposit' in fact ? fact.deposit.txid : fact.txid}`);

async function started() {
  const chain = new SimulatedChain();
  const client = chain.client();
  const self = watching({ client });
  self.issue('@a');
  await self.watcher.tick();
  return { chain, client, self };
}

test('G7 G10 a block without content on another branch is not taken onto ours by its hash: the branch is followed', async (t) => {
  const { chain, client, self } = await started();
  chain.mine([pay('goes')]);
  await self.watcher.tick();
  chain.fork(1, [[pay('stays')], []]);
  client.contentMissing.add(2);
  for (let round = 0; round < 8; round += 1) await self.watcher.tick();
  t.deepEqual(told(self), ['seen goes', 'seen stays', 'orphaned goes']);
  t.is((await self.store.cursor('eth'))!.hash, chain.tip.hash);
});

test('G7 G15 hashes of two endpoints that joined two branches are found out by the content, whatever was recorded above', async (t) => {
  const { chain, client, self } = await started();
  chain.mine([pay('goes')]);
  await self.watcher.tick();
  const old = chain.tip;
  chain.fork(1, [[pay('stays')], [pay('above')]]);
  client.contentMissing.add(2);
  const hashOf = client.getBlockHash.bind(client);
  // An endpoint that has not come to the new branch yet is asked about our block, another one about the next.
  client.getBlockHash = async (height) => (height === old.height ? old.hash : hashOf(height));
  for (let round = 0; round < 4; round += 1) await self.watcher.tick();
  t.is((await self.store.cursor('eth'))!.hash, chain.tip.hash, 'joined by hashes alone');
  client.getBlockHash = hashOf;
  chain.mine();
  for (let round = 0; round < 4; round += 1) await self.watcher.tick();
  client.contentMissing.clear();
  for (let round = 0; round < 6; round += 1) {
    self.nowMs += 60_000;
    await self.watcher.tick();
  }
  chain.mineEmpty(4);
  await self.watcher.tick();
  t.deepEqual(told(self).toSorted(), [
    'matured above',
    'matured stays',
    'orphaned goes',
    'seen above',
    'seen goes',
    'seen stays',
  ]);
  t.deepEqual((await self.store.coverage('eth')).unresolved, []);
});
