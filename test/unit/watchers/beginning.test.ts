import test from 'ava';
import fc from 'fast-check';
import { heightBefore, startOf } from '../../../chain-watchers/follow/beginning.ts';
import { ChainUnavailable } from '../../../chains/chain.ts';
import { SimulatedChain, simulatedNetwork } from '../../support/simulated-chain.ts';
import { ACCOUNT, watching } from '../../support/watching.ts';

const HOUR_MS = 3_600_000;
const pay = (txid: string) => ({ txid, outputIndex: 0, to: '@a', amount: 5n });

test('found F51: the first head is durable before its block can be read, over restarts', async (t) => {
  const chain = new SimulatedChain(),
    client = chain.client();
  const self = watching({ client });
  chain.mineEmpty(3);
  client.contentMissing.add(3);
  await self.watcher.tick();
  t.is(await self.store.cursor('eth'), null);
  t.like(await self.store.chainStart('eth'), { height: 3 });
  self.issue('@a'); // from now on
  chain.mine([pay('early')]);
  self.restart();
  chain.mineEmpty(2);
  client.contentMissing.clear();
  for (let round = 0; round < 2; round += 1) await self.watcher.tick();
  t.deepEqual(
    self.store.inbox(ACCOUNT).map(({ fact }) => 'deposit' in fact && fact.deposit.txid),
    ['early'],
  );
});

test('found F51: where no node answered at first, the ledger begins with the instant since which the chain is run', async (t) => {
  const chain = new SimulatedChain(),
    client = chain.client();
  const self = watching({ client });
  self.nowMs = 10 * HOUR_MS; // block n is of second n
  await self.store.beginChain('eth', self.nowMs);
  await self.store.beginChain('eth', self.nowMs + HOUR_MS);
  self.issue('@a'); // on another EVM network, say: the address is the same
  chain.mine([], { skip: 9 * 3_600 + 3_500 });
  for (let n = 0; n < 200; n += 1) chain.mine(chain.tip.height === 36_000 + 20 ? [pay('meanwhile')] : []);
  client.down = true;
  await t.throwsAsync(
    async () => {
      const { failures } = await self.watcher.tick();
      throw new Error(failures[0]?.reason);
    },
    { message: /timed out/ },
  );
  client.down = false;
  self.nowMs += HOUR_MS;
  for (let round = 0; round < 8; round += 1) await self.watcher.tick();
  t.deepEqual(
    self.store.inbox(ACCOUNT).map(({ fact }) => 'deposit' in fact && `${fact.kind} ${fact.deposit.txid}`),
    ['seen meanwhile', 'matured meanwhile'],
  );
  const { height } = (await self.store.chainStart('eth'))!;
  t.true(height! <= 36_000 && height! > 35_000, `${height}`);
});

test('found F51: a configured height is the beginning without any node, and a lower one wins until a block is recorded', async (t) => {
  const chain = new SimulatedChain(),
    client = chain.client();
  const self = watching({ client, settings: { start: 2 } });
  chain.mineEmpty(5);
  client.contentMissing.add(2);
  await self.watcher.tick();
  t.is((await self.store.chainStart('eth'))!.height, 2);
  t.is(await self.store.noteChainStart('eth', 1), 1);
  t.is(await self.store.noteChainStart('eth', 4), 1);
});

test('the last block at or before an instant is found in O(log n) reads, over skipped heights', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 60 }),
      fc.nat(3_000),
      async (skips, second) => {
        const chain = new SimulatedChain();
        for (const skip of skips) chain.mine([], { skip });
        const client = chain.client(),
          head = chain.tip.height;
        const found = await heightBefore([client], { ...simulatedNetwork, blockTimeMs: 10_000 }, head, second * 1_000);
        const blocks = [...chain.canonical()].map(({ height }) => height).sort((a, b) => a - b);
        const before = blocks.findLast((height) => height <= second) ?? 0;
        // Nothing after the instant lies at or below it, and it is no further back than the last block before, up to
        // empty heights.
        t.false(blocks.some((height) => height <= found && height > second));
        t.true(found >= Math.min(before, head - 1), `${found} ${before}`);
        t.true(
          client.calls.filter((call) => call.startsWith('block')).length <= 2 * Math.ceil(Math.log2(head + 2)) + 2,
        );
      },
    ),
  );
});

test('found F51: a chain whose addresses are its own begins at its first head, and asks its nodes for no older block', async (t) => {
  const chain = new SimulatedChain(),
    client = chain.client();
  const { store } = watching({ client });
  chain.mineEmpty(3);
  client.down = true; // nothing is asked
  await store.beginChain('xrp', 10 * HOUR_MS);
  const start = {
    store,
    client,
    settings: { start: 'head' } as never,
    witnesses: [],
    ledger: 'xrp' as never,
    network: { ...simulatedNetwork, slug: 'xrp', family: 'xrp' } as never,
  };
  t.is(await startOf(start, 93_000_000), 93_000_000);
  t.like(await store.chainStart('xrp'), { height: 93_000_000 });
});

test('found F51: a head that one endpoint invents begins no ledger: what is paid below it would be lost', async (t) => {
  for (const [heads, begins] of [
    [[100, 1_000_000], null],
    [[100, 102], 100],
    [[100, 101, 1_000_000], 101],
    [[1, 100, 101], 100],
    [[null, 100], 100],
    [[null, null], null],
    [['hangs', 100], 100],
  ] as const) {
    const chain = new SimulatedChain(),
      { store } = watching({ client: chain.client() });
    await store.beginChain('xrp', HOUR_MS);
    const witnesses = heads.map((height) => ({
      getHead: async () => {
        if (height === 'hangs') return new Promise<never>(() => {});
        if (height === null) throw new ChainUnavailable('xrp', 'timed out');
        return { height };
      },
    }));
    const start = {
      store,
      client: chain.client(),
      settings: { start: 'head' },
      witnesses,
      ledger: 'xrp',
      network: { ...simulatedNetwork, slug: 'xrp', family: 'xrp' },
    };
    const told = Math.max(...heads.map((height) => (typeof height === 'number' ? height : 0))),
      named = heads.join();
    if (begins === null)
      await t.throwsAsync(startOf(start as never, told, 20), { instanceOf: ChainUnavailable }, named);
    else t.is(await startOf(start as never, told, 20), begins, named);
    t.is((await store.chainStart('xrp'))!.height, begins, named);
  }
});

test('found: of two endpoints one alone dates no block: a false time begins no ledger', async (t) => {
  const chain = new SimulatedChain();
  chain.mineEmpty(2_000);
  const network = { ...simulatedNetwork, blockTimeMs: 1_000 },
    honest = () => chain.client();
  const dated = (timeMs: number | null | 'mute') => {
    const client = chain.client(),
      getBlock = client.getBlock.bind(client);
    if (timeMs === 'mute') client.down = true;
    else client.getBlock = async (height) => ({ ...(await getBlock(height)), timeMs });
    return client;
  };
  const truth = await heightBefore([honest()], network, 2_000, 1_000_000);
  t.is(truth, 1_000);
  const found = (...clients: ReturnType<typeof dated>[]) => heightBefore(clients, network, 2_000, 1_000_000);
  for (const lie of [0, 10 ** 15, null]) {
    for (const clients of [
      [dated(lie), honest(), honest()],
      [honest(), dated(lie), honest()],
      [honest(), honest(), dated(lie)],
    ])
      t.is(await found(...clients), truth, `${lie}`);
    for (const clients of [
      [dated(lie), honest()],
      [honest(), dated(lie)],
      [dated('mute'), dated(lie), honest()],
    ]) {
      await t.throwsAsync(found(...clients), { instanceOf: ChainUnavailable, message: /different times/ }, `${lie}`);
    }
  }
  for (const clients of [
    [dated('mute'), honest()],
    [honest(), dated('mute')],
  ])
    t.is(await found(...clients), truth);
  await t.throwsAsync(found(dated('mute'), dated('mute')), { instanceOf: ChainUnavailable });
});
