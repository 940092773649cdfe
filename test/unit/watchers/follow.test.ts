import test from 'ava';
import type { TickReport } from '../../../chain-watchers/watcher.ts';
import { SimulatedChain, simulatedNetwork } from '../../support/simulated-chain.ts';
import { ACCOUNT, watching, type Watching } from '../../support/watching.ts';

const pay = (txid: string, to = '@a', amount = 5n) => ({ txid, outputIndex: 0, to, amount });
const kinds = (self: Watching) => self.store.inbox(ACCOUNT).map(({ fact }) => fact.kind);

async function ticks(self: Watching, count: number): Promise<TickReport> {
  let report = await self.watcher.tick();
  for (let index = 1; index < count; index += 1) report = await self.watcher.tick();
  await self.watcher.settled();
  return report;
}

test('a new live ledger starts at the head of its first start, or where the settings say, and the start is kept', async (t) => {
  const chain = new SimulatedChain();
  chain.mineEmpty(10);
  const self = watching({ client: chain.client() });
  t.like(await ticks(self, 1), { recorded: 1, cursor: { height: 10 } });
  chain.mineEmpty(3);
  self.restart();
  t.like(await ticks(self, 1), { recorded: 3, cursor: { height: 13 } });
  const earlier = watching({ client: chain.client(), settings: { start: 4 } });
  t.like(await ticks(earlier, 1), { recorded: 1, more: true });
  t.is((await earlier.store.links('eth', 100, 100)).at(-1)!.height, 4);
});

test('a first block that cannot be read is waited for; the start does not drift with the head', async (t) => {
  const chain = new SimulatedChain(5);
  const client = chain.client();
  client.missing.add(5);
  const self = watching({ client });
  t.like(await ticks(self, 1), { recorded: 0, cursor: null });
  chain.mineEmpty(4);
  client.missing.clear();
  await ticks(self, 2);
  t.is((await self.store.links('eth', 100, 100)).at(-1)!.height, 5);
});

test('G7 G12 an outage is caught up block by block in bounded ranges from the last recorded block; nothing is skipped', async (t) => {
  const chain = new SimulatedChain();
  const client = chain.client();
  const self = watching({ client, settings: { blocksPerTick: 8 } });
  self.issue('@a');
  await ticks(self, 1);
  client.down = true;
  for (let height = 1; height <= 30; height += 1) chain.mine(height % 10 === 0 ? [pay(`tx${height}`)] : []);
  t.like(await ticks(self, 1), { recorded: 0, failures: [{ job: 'follow', reason: 'timed out' }] });
  client.down = false;
  t.like(await ticks(self, 1), { recorded: 8, more: true, cursor: { height: 8 } });
  t.like(await ticks(self, 3), { more: false, cursor: { height: 30 } });
  const facts = self.store.facts('eth');
  t.deepEqual(
    facts.map(({ transfer }) => transfer.txid),
    ['tx10', 'tx20', 'tx30'],
  );
});

test('C1-1 C1-14 a payment during an outage is found on recovery; its events follow, whatever the delay', async (t) => {
  const chain = new SimulatedChain();
  const client = chain.client();
  const self = watching({ client });
  self.issue('@a');
  await ticks(self, 1);
  client.down = true;
  chain.mine([pay('late')]);
  self.nowMs += 40 * 60_000;
  chain.mineEmpty(5);
  await ticks(self, 3);
  t.deepEqual(kinds(self), []);
  client.down = false;
  await ticks(self, 1);
  t.deepEqual(kinds(self), ['seen', 'matured']);
  t.deepEqual(self.wakes, [ACCOUNT, ACCOUNT]);
});

test('G10 a lagging endpoint moves nothing, however long it lags', async (t) => {
  const chain = new SimulatedChain();
  const client = chain.client();
  const self = watching({ client });
  chain.mineEmpty(10);
  await ticks(self, 2);
  client.lag = 4;
  self.nowMs += 3_600_000;
  const report = await ticks(self, 2);
  t.regex(report.failures[0]!.reason, /below our cursor/);
  t.is(report.cursor!.height, 10);
  client.lag = 0;
  chain.mine();
  t.like(await ticks(self, 1), { recorded: 1, failures: [], cursor: { height: 11 } });
});

test('C1-12 a feed that stands still without an error shows in the age of the head', async (t) => {
  const chain = new SimulatedChain();
  chain.mineEmpty(5);
  const client = chain.client();
  client.frozenAt = chain.tip;
  const self = watching({ client });
  await ticks(self, 1);
  chain.mineEmpty(450);
  self.nowMs += 900_000;
  await ticks(self, 1);
  t.is(self.recorder.gauges.get('svc_head_age_seconds'), 900);
});

test('C1-12 a lower head on another branch that persists is a rollback', async (t) => {
  const chain = new SimulatedChain();
  const client = chain.client();
  const self = watching({ client });
  self.issue('@a');
  await ticks(self, 1);
  chain.mineEmpty(4);
  chain.mine([pay('gone')]);
  await ticks(self, 1);
  chain.fork(4, [[], []]); // head 3 on another branch; ours was 5
  await ticks(self, 2);
  t.is((await self.store.cursor('eth'))!.height, 5, 'not before it persisted');
  self.nowMs += 30_000;
  t.like(await ticks(self, 1), { reorgDepth: 4, cursor: { height: 3, hash: chain.tip.hash } });
  t.deepEqual(kinds(self), ['seen', 'orphaned']);
});

test('C1-6 G8 a height that is not there yet is no empty block: nothing is recorded until it is proven', async (t) => {
  const chain = new SimulatedChain();
  const client = chain.client();
  const self = watching({ client });
  self.issue('@a');
  await ticks(self, 1);
  chain.mine([pay('tx')]);
  client.missing.add(1);
  const report = await ticks(self, 10);
  t.like(report, { recorded: 0, cursor: { height: 0 } });
  client.missing.clear();
  await ticks(self, 1);
  t.deepEqual(kinds(self), ['seen']);
});

test('decisions 5, V24, C1-4 a height whose content is unproven stays unresolved, stops no later height, and is retried for ever', async (t) => {
  const chain = new SimulatedChain();
  const client = chain.client();
  const self = watching({ client });
  self.issue('@a');
  await ticks(self, 1);
  chain.mineEmpty(1);
  chain.mine([pay('hidden')]);
  chain.mine([pay('plain')]);
  client.contentMissing.add(2);
  t.like(await ticks(self, 2), { cursor: { height: 1 } }, 'a first failed read may pass');
  t.like(await ticks(self, 1), { cursor: { height: 3 } });
  t.deepEqual(
    self.store.facts('eth').map(({ transfer }) => transfer.txid),
    ['plain'],
  );
  t.like(await self.store.coverage('eth'), {
    completeHeight: 1,
    unresolved: [{ height: 2, reason: 'receipts of 2 are missing' }],
  });
  t.is(self.recorder.gauges.get('svc_blocks_unresolved'), 1);
  for (let round = 0; round < 50; round += 1) {
    self.nowMs += 60_000;
    await self.watcher.tick();
  }
  t.true((await self.store.unresolvedHeights('eth', 1))[0]!.tries > 40, 'no number of tries drops a height');
  client.contentMissing.clear();
  self.nowMs += 60_000;
  chain.mineEmpty(4);
  t.like(await ticks(self, 1), { resolved: 1 });
  t.deepEqual(
    self.store.facts('eth').map(({ transfer, status }) => [transfer.txid, status]),
    [
      ['plain', 'matured'],
      ['hidden', 'matured'],
    ],
  );
  t.is((await self.store.coverage('eth')).completeHeight, 7);
});

test('C1-8 C1-9 an unread height is neither skipped nor empty, whatever the code: refused thrice, a block the fourth time', async (t) => {
  const chain = new SimulatedChain();
  const client = chain.client();
  const self = watching({ client, settings: { contentTries: 100 } });
  self.issue('@a');
  await ticks(self, 1);
  chain.mine([pay('tx')]);
  client.contentMissing.add(1);
  t.like(await ticks(self, 3), { cursor: { height: 0 } });
  client.contentMissing.clear();
  t.like(await ticks(self, 1), { cursor: { height: 1 } });
  t.deepEqual(kinds(self), ['seen']);
});

test('L19 skipped heights are followed by their parent link', async (t) => {
  const chain = new SimulatedChain();
  const self = watching({ client: chain.client() });
  await ticks(self, 1);
  chain.mine([], { skip: 3 });
  chain.mine();
  t.like(await ticks(self, 1), { recorded: 2, cursor: { height: 5 } });
});

test('design 5: two watchers of one chain record each block once', async (t) => {
  const chain = new SimulatedChain();
  const self = watching({ client: chain.client() });
  self.issue('@a');
  const { watcher: first } = self;
  self.restart();
  await first.tick();
  for (let round = 0; round < 20; round += 1) {
    chain.mine([pay(`tx${round}`)]);
    await Promise.all([first.tick(), self.watcher.tick()]);
  }
  await ticks(self, 1);
  const seen = self.store.inbox(ACCOUNT).filter(({ fact }) => fact.kind === 'seen');
  t.is(seen.length, 20);
  t.is(self.store.facts('eth').length, 20);
});

test('design 5: an address paid in the block of its birth is not missed, also by a watcher that restarted in between', async (t) => {
  const chain = new SimulatedChain();
  const self = watching({ client: chain.client(), network: { ...simulatedNetwork, blockTimeMs: 12_000 } });
  await ticks(self, 1);
  chain.mine([pay('newborn', '@new'), pay('stranger', '@nobody')]);
  await ticks(self, 1);
  self.nowMs += 3_000;
  self.issue('@new');
  t.like(await ticks(self, 1), { late: 1 });
  chain.mine([pay('second', '@other')]);
  await ticks(self, 1);
  self.restart();
  self.nowMs += 3_000;
  self.issue('@other');
  t.like(await ticks(self, 1), { late: 1 });
  t.deepEqual(
    self.store.facts('eth').map(({ transfer }) => transfer.txid),
    ['newborn', 'second'],
  );
  self.nowMs += 3_000;
  t.like(await ticks(self, 1), { late: 0 });
});

test('design 5: after a restart an address is matched with the blocks of its birth, however long they cannot be read again', async (t) => {
  const chain = new SimulatedChain(),
    client = chain.client();
  const self = watching({ client, network: { ...simulatedNetwork, blockTimeMs: 12_000 } });
  await ticks(self, 1);
  chain.mine([pay('newborn', '@new')]);
  await ticks(self, 1);
  self.restart();
  self.issue('@new');
  client.contentMissing.add(1);
  for (let round = 0; round < 10; round += 1) {
    chain.mine();
    t.like(await ticks(self, 1), { late: 0 });
    self.nowMs += 12_000;
  }
  client.contentMissing.clear();
  t.like(await ticks(self, 1), { late: 1 });
  t.deepEqual(kinds(self), ['seen']);
  client.calls = [];
  self.nowMs += 12_000;
  t.like(await ticks(self, 1), { late: 0 });
  t.false(client.calls.includes('block 1'), 'once they were read they are kept');
});

test('found F50: after a restart a block that cannot be read again keeps no other from being matched with the young', async (t) => {
  const chain = new SimulatedChain(),
    client = chain.client();
  const self = watching({ client });
  await ticks(self, 1);
  chain.mine([pay('newborn', '@new')]);
  chain.mineEmpty(2);
  await ticks(self, 1);
  self.restart();
  self.issue('@new');
  client.contentMissing.add(2);
  t.like(await ticks(self, 1), { late: 1 });
  client.contentMissing.clear();
  self.nowMs += 3_000;
  t.like(await ticks(self, 1), { late: 0 });
  t.deepEqual(kinds(self), ['seen']);
});

test('design 5: an address whose birth is committed later than its clock says is not missed either', async (t) => {
  const chain = new SimulatedChain();
  const self = watching({ client: chain.client() });
  await ticks(self, 1);
  chain.mine([pay('newborn', '@new')]);
  await ticks(self, 1);
  const bornAtMs = self.nowMs;
  self.nowMs += 3_000;
  await ticks(self, 1); // the young were matched, and this one was not visible yet
  const nowMs = self.nowMs;
  self.nowMs = bornAtMs;
  self.issue('@new');
  self.nowMs = nowMs + 3_000;
  t.like(await ticks(self, 1), { late: 1 });
  t.deepEqual(kinds(self), ['seen']);
});

test('C2-21 a node that tells every payment twice makes one fact of each', async (t) => {
  const chain = new SimulatedChain();
  const client = chain.client();
  client.duplicates = true;
  const self = watching({ client });
  self.issue('@a');
  await ticks(self, 1);
  chain.mine([pay('tx'), { ...pay('tx'), outputIndex: 1 }]);
  await ticks(self, 1);
  t.deepEqual(kinds(self), ['seen', 'seen']);
});

test('chains.md 10.6 a chain that hangs delays no other chain', async (t) => {
  const chain = new SimulatedChain();
  const stuck = chain.client();
  stuck.getHead = () => new Promise(() => undefined);
  const slow = watching({ client: stuck });
  const quick = watching({ client: chain.client(), ledger: 'base' });
  void slow.watcher.tick();
  t.like(await ticks(quick, 1), { recorded: 1 });
});

test('a fault that is no chain failure is not swallowed', async (t) => {
  const chain = new SimulatedChain();
  const self = watching({
    client: chain.client(),
    wrap: (store) => ({ ...store, cursor: () => Promise.reject(new TypeError('broken')) }),
  });
  await t.throwsAsync(self.watcher.tick(), { instanceOf: TypeError });
});
