/** The second match of the last blocks, across restarts: who followed a block and died matches nothing again. */
import test from 'ava';
import type { WatchStore } from '../../../model/ports/watch-store.ts';
import { SimulatedChain, simulatedNetwork } from '../../support/simulated-chain.ts';
import { watching } from '../../support/watching.ts';

const network = { ...simulatedNetwork, blockTimeMs: 12_000 };
const HOUR_MS = 3_600_000;
const pay = (txid: string, to: string) => ({ txid, outputIndex: 0, to, amount: 5n });

/** A watcher that followed a block which pays `@new`, was killed before `@new` was committed, and was away. */
async function killed(awayMs: number, wrap?: (store: WatchStore) => WatchStore) {
  const chain = new SimulatedChain(),
    client = chain.client();
  const self = watching({ client, network, ...(wrap === undefined ? {} : { wrap }) });
  await self.watcher.tick();
  chain.mineEmpty(40);
  chain.mine([pay('newborn', '@new')]);
  while ((await self.watcher.tick()).more);
  self.issue('@new');
  self.nowMs += awayMs;
  self.restart();
  return { chain, client, self };
}

test('design 5: an address issued while its block was followed is not missed by a process that starts a day later', async (t) => {
  const { self } = await killed(24 * HOUR_MS);
  t.like(await self.watcher.tick(), { late: 1 });
  self.nowMs += 3_000;
  t.like(await self.watcher.tick(), { late: 0 });
});

test('design 5: nor where the chain went on for longer than the blocks that are kept', async (t) => {
  const { chain, self } = await killed(HOUR_MS);
  chain.mineEmpty(300);
  let late = 0;
  for (let ticks = 0; ticks < 10; ticks += 1) {
    late += (await self.watcher.tick()).late;
    self.nowMs += 3_000;
  }
  t.is(late, 1);
});

test('design 5: nor where the first read after the start fails, and the process is killed once more', async (t) => {
  const { client, self } = await killed(HOUR_MS);
  client.down = true;
  await self.watcher.tick();
  self.nowMs += HOUR_MS;
  self.restart();
  client.down = false;
  client.missing.add(41);
  t.like(await self.watcher.tick(), { late: 0 });
  client.missing.clear();
  self.nowMs += 3_000;
  t.like(await self.watcher.tick(), { late: 1 });
});

test('found F54: of many young addresses those are looked for that the last blocks pay', async (t) => {
  const asked: string[] = [];
  const { self } = await killed(HOUR_MS, (store) => ({
    ...store,
    async addressesSince(environment, sinceMs, ask) {
      const young = await store.addressesSince(environment, sinceMs, ask);
      asked.push('most' in ask ? `most ${ask.most}` : `keys ${ask.keys.length}`);
      return young;
    },
  }));
  for (let n = 0; n < 5_000; n += 1) self.issue(`@other-${n}`);
  asked.length = 0;
  t.like(await self.watcher.tick(), { late: 1 });
  t.deepEqual(asked, ['most 2000', 'keys 1']);
});

test('a start reads no block of before again where nobody was issued an address since', async (t) => {
  const chain = new SimulatedChain(7_000_000),
    client = chain.client();
  const self = watching({ client, network });
  self.nowMs = 7_000_000 * 1_000; // as the simulated blocks are dated
  self.issue('@old');
  self.nowMs += HOUR_MS;
  chain.mineEmpty(Math.ceil(HOUR_MS / 1_000));
  while ((await self.watcher.tick()).more);
  self.restart();
  client.calls.length = 0;
  t.like(await self.watcher.tick(), { late: 0 });
  t.deepEqual(
    client.calls.filter((call) => call.startsWith('block ')),
    [],
  );
});
