import test from 'ava';
import { highestPossible, type KnownHead } from '../../../chains/possible-height.ts';
import { seeded } from '../../support/seeded.ts';
import { SimulatedChain, simulatedNetwork } from '../../support/simulated-chain.ts';
import { ACCOUNT, watching, type Watching } from '../../support/watching.ts';

const { blockTimeMs, threshold } = simulatedNetwork;

test('a head may be ten times what the chain mines ahead, and 1,000 blocks; a first one is any safe integer', (t) => {
  const ETH = { blockTimeMs: 12_000 },
    known = { height: 100, sinceMs: 0 };
  for (const [nowMs, bound] of [
    [0, 1_100],
    [-5, 1_100],
    [1_199, 1_100],
    [1_200, 1_101],
    [12_000, 1_110],
    [86_400_000, 73_100],
  ] as const) {
    t.is(highestPossible(known, nowMs, ETH), bound, `after ${nowMs} ms`);
  }
  t.is(highestPossible(null, 0, ETH), Number.MAX_SAFE_INTEGER);
  t.is(highestPossible({ height: Number.MAX_SAFE_INTEGER - 1, sinceMs: 0 }, 0, ETH), Number.MAX_SAFE_INTEGER);
});

/** A payment one block below its depth, before clients of which the first may claim any head. */
async function waiting(count: number) {
  const chain = new SimulatedChain(100),
    clients = Array.from({ length: count }, () => chain.client());
  const self = watching({ client: clients[0]!, witnesses: count === 1 ? [] : clients });
  self.issue('@a');
  await self.watcher.tick();
  chain.mine([{ txid: 'tx', outputIndex: 0, to: '@a', amount: 5n }]);
  await self.watcher.tick();
  return { chain, clients, self };
}
const kinds = (self: Watching) => self.store.inbox(ACCOUNT).map(({ fact }) => fact.kind);

for (const count of [1, 2, 3]) {
  test(`found: the bound of a claimed head, by ${count} endpoint(s): refused, it is not noted, matures nothing, and is shown; the truth counts again at once`, async (t) => {
    for (const elapsedMs of [0, blockTimeMs, 60 * blockTimeMs]) {
      for (const over of [1, 2, 1_000_000_000, Number.MAX_SAFE_INTEGER - 1_000_000]) {
        const { chain, clients, self } = await waiting(count),
          { height } = chain.tip;
        self.nowMs += elapsedMs;
        for (const client of clients)
          client.ahead =
            highestPossible({ height, sinceMs: self.nowMs - elapsedMs }, self.nowMs, simulatedNetwork) - height + over;
        for (let turn = 0; turn < 3; turn += 1) await self.watcher.tick();
        t.deepEqual(kinds(self), ['seen'], `${elapsedMs} ms, ${over} over`);
        t.is((await self.store.coverage('eth')).headHeight, height);
        t.is(self.watcher.conditionOf(0), 'ahead');
        t.is(self.recorder.gauges.get('svc_endpoint_alive'), 0);
        t.is(
          self.recorder.lines.filter(({ message }) => message.includes('cannot be')).length,
          count,
          'one line for the change',
        );
        for (const client of clients) client.ahead = 0;
        chain.mineEmpty(threshold);
        self.nowMs += 5_000;
        for (let turn = 0; turn < 2; turn += 1) await self.watcher.tick();
        t.deepEqual(kinds(self), ['seen', 'matured']);
        t.is(self.watcher.conditionOf(0), 'alive');
      }
    }
  });
}

test('found: a head at the bound is believed: a node that was away may be far on', async (t) => {
  const { chain, clients, self } = await waiting(1),
    { height } = chain.tip;
  clients[0]!.ahead = 1_000;
  await self.watcher.tick();
  t.is((await self.store.coverage('eth')).headHeight, height + 1_000);
});

test('found: one of several that claims what cannot be holds up nobody, whichever place it has', async (t) => {
  for (const place of [0, 1, 2]) {
    const { chain, clients, self } = await waiting(3);
    clients[place]!.ahead = 10 ** 9;
    chain.mineEmpty(threshold);
    self.nowMs += 5_000;
    for (let turn = 0; turn < 2; turn += 1) await self.watcher.tick();
    t.deepEqual(kinds(self), ['seen', 'matured']);
    t.deepEqual(
      [0, 1, 2].map((index) => self.watcher.conditionOf(index)),
      [0, 1, 2].map((index) => (index === place ? 'ahead' : 'alive')),
    );
  }
});

test('found: after a restart the head that was noted is the measure', async (t) => {
  const { chain, clients, self } = await waiting(1),
    { height } = chain.tip;
  clients[0]!.ahead = 10 ** 9;
  self.restart();
  for (let turn = 0; turn < 2; turn += 1) await self.watcher.tick();
  t.is((await self.store.coverage('eth')).headHeight, height);
  t.deepEqual(kinds(self), ['seen']);
});

test('found: no fact matures by a head that was refused, whatever is claimed', async (t) => {
  const random = seeded(7);
  for (let round = 0; round < 30; round += 1) {
    const { chain, clients, self } = await waiting(1 + Math.floor(random() * 2));
    for (let turn = 0; turn < 12; turn += 1) {
      for (const client of clients) client.ahead = random() < 0.5 ? 0 : 10 ** 6 + Math.floor(random() * 10 ** 9);
      if (random() < 0.3) chain.mine();
      if (random() < 0.1) self.restart();
      self.nowMs += Math.floor(random() * 2_000);
      await self.watcher.tick();
      const deep = chain.tip.height - 101 + 1 >= threshold;
      if (kinds(self).includes('matured')) t.true(deep, `round ${round}, turn ${turn}`);
      t.true((await self.store.coverage('eth')).headHeight! <= chain.tip.height);
    }
  }
});

test('a node that syncs tells old heads as new: the time of our newest block says how far the chain may be', async (t) => {
  for (const [age, believed] of [
    [3_600_000, true],
    [0, false],
  ] as const) {
    const { chain, clients, self } = await waiting(1),
      { store } = self;
    const links = store.links.bind(store),
      { height } = chain.tip;
    store.links = async (...asked) => (await links(...asked)).map((link) => ({ ...link, timeMs: self.nowMs - age }));
    clients[0]!.ahead = 1_001 + (10 * 3_600_000) / blockTimeMs - 1;
    await self.watcher.tick();
    t.is((await store.coverage('eth')).headHeight! > height, believed);
  }
});

test('found: what two endpoints support, and what was noted before a restart, is what single reads are measured by', async (t) => {
  const { chain, clients, self } = await waiting(2),
    known: KnownHead[] = [];
  Object.assign(self.parts, { knowHead: (head: KnownHead) => known.push(head) });
  self.restart();
  clients[0]!.ahead = 10 ** 9;
  await self.watcher.tick();
  t.is(known[0]!.height, chain.tip.height, 'before anything was asked');
  chain.mineEmpty(1);
  self.nowMs += 5_000;
  await self.watcher.tick();
  t.deepEqual(known.at(-1), { height: chain.tip.height, sinceMs: self.parts.elapsedMs() });
  t.true(known.every(({ height }) => height <= chain.tip.height));
});
