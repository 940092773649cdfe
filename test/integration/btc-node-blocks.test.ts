/**
 * Payments of every script kind, rewards and reorganisations on a real Core-family node, through client and watcher.
 */
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import { outcomesIn, transfersIn } from '../../chains/btc/transfers.ts';
import { SCRIPT_TYPES } from '../../chains/btc/derive.ts';
import { btc } from '../../chains/btc/index.ts';
import { litecoinRegtest, type BtcNetwork } from '../../chains/btc/network.ts';
import { ChainUnavailable, MalformedReply, type ChainModule, type Transfer } from '../../chains/chain.ts';
import { addressKeyOf } from '../../protocol/node/ids.ts';
import { own, scriptFor } from '../support/btc-inputs.ts';
import { clientOf, coinText, openBtcNode, type BtcNode } from '../support/btc-node.ts';
import { distorted, failing } from '../support/distorted-endpoint.ts';
import { ACCOUNT, watching, type Watching } from '../support/watching.ts';

type Node = BtcNode & { close(): Promise<void> };
const test = anyTest as TestFn<Node>;
const COIN = 100_000_000n;
const unavailable = { instanceOf: ChainUnavailable } as const;
let next = 6_000;

test.before(async (t) => {
  t.context = await openBtcNode();
});
test.after.always((t) => t.context.close());

async function newest({ client, network }: BtcNode): Promise<readonly Transfer[]> {
  const { height } = await client.getHead();
  return transfersIn(network, await client.getBlock(height), new Map()).transfers;
}

test.serial(
  'B1 B7 B8 B10 payments to every script kind, two to one address, and nothing that has no address',
  async (t) => {
    const node = t.context,
      { network } = node;
    const [wsh] = (await node.node.rpc<{ segwit: { addresses: string[] } }>('decodescript', ['5151'])).segwit.addresses;
    const addresses = [...SCRIPT_TYPES.map((type) => own((next += 1), type, network).address), wsh!];
    await node.node.rpc('sendmany', [
      '',
      Object.fromEntries(addresses.map((address, i) => [address, coinText(COIN / 7n + BigInt(i))])),
    ]);
    const twice = own((next += 1), 'p2tr', network).address;
    const funds = await node.node.rpc<{ txid: string; vout: number; amount: number }[]>('listunspent', [101]);
    const raw = await node.node.rpc<string>('createrawtransaction', [
      [{ txid: funds[0]!.txid, vout: funds[0]!.vout }],
      [
        { [twice]: '1.00000001' },
        { [addresses[0]!]: '0.00000777' },
        { data: 'f10c' },
        { [await node.outside()]: '48.99' },
      ],
    ]);
    const { hex } = await node.node.rpc<{ hex: string }>('signrawtransactionwithwallet', [raw]);
    const txid = await node.node.rpc<string>('sendrawtransaction', [hex]);
    const again = await node.pay(twice, 5_000n);
    await node.mine(1);
    const transfers = await newest(node),
      to = (address: string) => transfers.filter((one) => one.to === address).map(({ amount }) => amount);
    t.deepEqual(
      addresses.slice(1).map(to),
      addresses.slice(1).map((_, i) => [COIN / 7n + BigInt(i + 1)]),
    );
    t.deepEqual(to(addresses[0]!).toSorted(), [COIN / 7n, 777n].toSorted());
    t.deepEqual(
      transfers
        .filter((one) => one.to === twice)
        .map((one) => [one.txid, one.amount])
        .toSorted(),
      [
        [txid, 100_000_001n],
        [again, 5_000n],
      ].toSorted(),
    );
    const { height } = await node.client.getHead(),
      block = await node.client.getBlock(height);
    const { ignored } = transfersIn(network, block, new Map());
    t.true(ignored.some((one) => one.txid === txid && one.reason.startsWith('output 2: data output')));
    t.like(outcomesIn(network, block, new Set([txid]))[0], { txid, success: true });
  },
);

test.serial('G7 G9 B3 the head, its parent, its reward', async (t) => {
  const node = t.context,
    miner = own((next += 1), 'p2wpkh', node.network);
  const [hash] = await node.mine(1, miner.address);
  const head = await node.client.getHead(),
    block = await node.client.getBlock(head.height);
  t.is(head.hash, hash!);
  t.like(block, {
    hash,
    height: head.height,
    parentHeight: head.height - 1,
    parentHash: await node.client.getBlockHash(head.height - 1),
  });
  const [reward] = transfersIn(node.network, block, new Map()).transfers;
  t.like(reward, { to: miner.address, amount: 50n * COIN, threshold: 101, outputIndex: 0, from: [] });
  t.deepEqual(await node.client.fetchBalance(miner.address, null), {
    amount: 50n * COIN,
    reserved: 50n * COIN,
    available: 0n,
    decimals: 8,
    accountExists: true,
  });
});

const spoiled: readonly [name: string, change: (block: Record<string, unknown>) => object][] = [
  ['a transaction is missing', (block) => ({ ...block, tx: (block['tx'] as unknown[]).slice(1) })],
  [
    'a transaction was added',
    (block) => ({
      ...block,
      tx: [...(block['tx'] as object[]), { ...(block['tx'] as object[])[0], txid: 'ab'.repeat(32) }],
    }),
  ],
  ['another time', (block) => ({ ...block, time: Number(block['time']) + 1 })],
  ['another parent', (block) => ({ ...block, previousblockhash: 'cd'.repeat(32) })],
  ['another height', (block) => ({ ...block, height: Number(block['height']) - 1 })],
  ['another name', (block) => ({ ...block, hash: 'ef'.repeat(32) })],
  ['it is stale', (block) => ({ ...block, confirmations: -1 })],
];

for (const [name, change] of spoiled) {
  test.serial(`G8 G9 4.4 a block that does not prove itself is no block: ${name}`, async (t) => {
    const node = t.context,
      { height } = await node.client.getHead();
    const liar = distorted(node.endpoint, 'liar', {
      after: ({ id, method }, { result }) =>
        method === 'getblock' ? { id, result: change(result as Record<string, unknown>) } : undefined,
    });
    await t.throwsAsync(() => clientOf([liar]).getBlock(height), unavailable);
    t.is((await clientOf([liar, node.endpoint]).getBlock(height)).height, height, 'another node proves it');
  });
}

test.serial('G8 null, {} and a list of names are no block', async (t) => {
  const node = t.context,
    { height } = await node.client.getHead();
  for (const result of [
    null,
    {},
    [],
    { ...(await node.node.rpc<object>('getblock', [await node.client.getBlockHash(height), 1])) },
  ]) {
    const odd = distorted(node.endpoint, 'odd', {
      after: ({ id, method }) => (method === 'getblock' ? { id, result } : undefined),
    });
    await t.throwsAsync(() => clientOf([odd]).getBlock(height), { instanceOf: MalformedReply });
  }
  const pruned = failing(node.endpoint, 'pruned', 'getblock', {
    code: -1,
    message: 'Block not available (pruned data)',
  });
  await t.throwsAsync(() => clientOf([pruned]).getBlock(height), { ...unavailable, message: /pruned/ });
});

test.serial('G14 a node of another network is disabled; alone it stops the chain', async (t) => {
  const node = t.context,
    mainnet: BtcNetwork = { ...litecoinRegtest, identity: '0'.repeat(64) };
  await t.throwsAsync(() => clientOf([node.endpoint], mainnet).checkIdentity(), {
    ...unavailable,
    message: /another first block/,
  });
  const foreign = distorted(node.endpoint, 'foreign', {
    after: ({ id, method, params }) =>
      method === 'getblockhash' && params[0] === 0 ? { id, result: '1'.repeat(64) } : undefined,
  });
  const both = clientOf([foreign, node.endpoint]);
  await both.checkIdentity();
  t.true((await both.getHead()).height > 0);
});

test.serial(
  'C1-14 a node that is syncing, by its own word or by headers without blocks, shows no head and no balance',
  async (t) => {
    const node = t.context,
      { address } = own((next += 1), 'p2wpkh', node.network);
    const says = (more: object) =>
      distorted(node.endpoint, 'syncing', {
        after: ({ id, method }, { result }) =>
          method === 'getblockchaininfo' ? { id, result: { ...(result as object), ...more } } : undefined,
      });
    const { height } = await node.client.getHead();
    for (const more of [{ initialblockdownload: true }, { headers: height + 2 }]) {
      const client = clientOf([says(more)]);
      await t.throwsAsync(() => client.getHead(), { ...unavailable, message: /syncing/ });
      await t.throwsAsync(() => client.fetchBalance(address, null), unavailable);
      t.is((await clientOf([says(more), node.endpoint]).getHead()).height, height);
    }
    t.is((await clientOf([says({ headers: height + 1 })]).getHead()).height, height, 'a header comes before its block');
  },
);

test.serial('G10 a lagging node hides neither blocks nor balances', async (t) => {
  const node = t.context,
    shop = own((next += 1), 'p2wpkh', node.network).address,
    stuck = await node.client.getHead();
  await node.pay(shop, COIN);
  await node.mine(4);
  const lagging = distorted(node.endpoint, 'lagging', {
    before: ({ id, method, params }) =>
      method === 'getblockhash' && Number(params[0]) > stuck.height
        ? { id, error: { code: -8, message: 'Block height out of range' } }
        : undefined,
    after: ({ id, method }, { result }) =>
      method === 'getblockchaininfo'
        ? {
            id,
            result: { ...(result as object), blocks: stuck.height, headers: stuck.height, bestblockhash: stuck.hash },
          }
        : undefined,
  });
  const client = clientOf([lagging, node.endpoint]);
  for (let both = 0; both < 2; both += 1) await client.getHead(); // each has said where it is
  for (let round = 0; round < 3; round += 1) {
    t.is((await client.getHead()).height, stuck.height + 4);
    t.is((await client.fetchBalance(shop, null)).amount, COIN);
    t.is(await client.nextHeight(stuck.height), stuck.height + 1);
    t.truthy(await client.getBlockHash(stuck.height + 4));
  }
  const alone = clientOf([lagging]);
  t.is((await alone.getHead()).height, stuck.height);
  t.is(await alone.nextHeight(stuck.height), null);
});

// ── The watcher ──────────────────────────────────────────────────────────────────────────────────────────────────

interface Watched {
  readonly self: Watching;
  readonly address: string;
  told(): string[];
}

async function watched(t: ExecutionContext<Node>): Promise<Watched> {
  const node = t.context,
    network: BtcNetwork = { ...node.network, reorgWindow: 64 };
  const self = watching({
    client: clientOf([node.endpoint], network),
    network,
    module: btc as ChainModule,
    ledger: 'btc',
  });
  const { address } = own((next += 1), 'p2wpkh', network);
  self.store.addAddress(
    {
      addressKey: addressKeyOf('live', 'btc', scriptFor(address, network)),
      addressId: `adr_${address}`,
      accountId: ACCOUNT,
      address,
      purpose: 'deposit',
    },
    'live',
    self.nowMs,
  );
  await self.watcher.tick();
  const told = () =>
    self.store
      .inbox(ACCOUNT)
      .map(
        ({ fact }) =>
          `${fact.kind} ${'deposit' in fact ? `${fact.deposit.amount} ${fact.deposit.confirmations}` : fact.txid}`,
      );
  return { self, address, told };
}

test.serial(
  '4.4 G15 G16 B4 B5 real reorganisations of every depth up to beyond the threshold: one fact, told once, confirmed where it ends',
  async (t) => {
    const node = t.context;
    for (let depth = 1; depth <= node.network.threshold + 4; depth += 1) {
      const { self, address, told } = await watched(t);
      const txid = await node.pay(address, 7_000n),
        [block] = await node.mine(1);
      await self.watcher.tick();
      t.deepEqual(told(), ['seen 7000 1'], `depth ${depth}: nothing before one confirmation (B2)`);
      await node.mine(depth - 1);
      await self.watcher.tick();
      const matured = depth >= node.network.threshold ? [`matured 7000 ${depth}`] : [];
      t.deepEqual(told(), ['seen 7000 1', ...matured], `depth ${depth}`);
      await node.node.rpc('invalidateblock', [block]);
      t.true((await node.node.rpc<string[]>('getrawmempool')).includes(txid));
      for (let left = depth + 1; left > 0; left -= 1) await node.node.rpc('generateblock', [await node.outside(), []]);
      await self.watcher.tick();
      t.deepEqual(
        told()
          .slice(1 + matured.length)
          .map((line) => line.split(' ')[0]),
        ['orphaned'],
        `depth ${depth}: its transaction is back in the pool`,
      );
      await node.mine(node.network.threshold, await node.outside());
      await self.watcher.tick();
      await self.watcher.tick();
      const facts = self.store.facts('btc');
      t.is(facts.length, 1, 'one fact, whatever happened to its block');
      t.like(facts[0], { status: 'matured', transfer: { txid, outputIndex: facts[0]!.transfer.outputIndex } });
      t.not(facts[0]!.transfer.blockHash, block);
    }
  },
);

test.serial('4.4 reconsiderblock: the old branch wins again, and its payment is where it was', async (t) => {
  const node = t.context,
    { self, address, told } = await watched(t);
  const txid = await node.pay(address, 9_000n),
    [block] = await node.mine(1);
  await self.watcher.tick();
  await node.node.rpc('invalidateblock', [block]);
  for (let left = 2; left > 0; left -= 1) await node.node.rpc('generateblock', [await node.outside(), []]);
  await self.watcher.tick();
  await node.node.rpc('reconsiderblock', [block]);
  await node.node.rpc('invalidateblock', [await node.client.getBlockHash((await node.client.getHead()).height - 1)]);
  await node.mine(4, await node.outside());
  await self.watcher.tick();
  await self.watcher.tick();
  t.deepEqual(
    told()
      .map((line) => line.split(' ')[0])
      .slice(0, 2),
    ['seen', 'orphaned'],
  );
  t.like(self.store.facts('btc')[0], { status: 'matured', transfer: { txid } });
});

test.serial(
  'B4 C3-34 a payment that is replaced before its first confirmation was never told, and its replacement is',
  async (t) => {
    const node = t.context,
      { self, address, told } = await watched(t);
    const first = await node.node.rpc<string>('sendtoaddress', [address, coinText(5_000n), '', '', false, true]);
    await self.watcher.tick();
    t.deepEqual(told(), [], 'B2: nothing while it waits in the pool');
    const { txid } = await node.node.rpc<{ txid: string }>('bumpfee', [first]);
    await node.mine(node.network.threshold);
    await self.watcher.tick();
    t.deepEqual(
      told().map((line) => line.split(' ')[0]),
      ['seen', 'matured'],
    );
    t.deepEqual(
      self.store.facts('btc').map(({ transfer }) => transfer.txid),
      [txid],
    );
  },
);

test.serial('B2 the ladder: one, two and three confirmations', async (t) => {
  const node = t.context,
    { self, address, told } = await watched(t);
  await node.pay(address, 6_000n);
  for (let confirmations = 1; confirmations <= 3; confirmations += 1) {
    await node.mine(1);
    await self.watcher.tick();
    t.deepEqual(told(), confirmations < 3 ? ['seen 6000 1'] : ['seen 6000 1', 'matured 6000 3']);
  }
});

test.serial(
  'C2-17 C2-18 4.6 a payment that is replaced, mined and reorganised is one deposit, and its first form is none',
  async (t) => {
    const node = t.context,
      { self, address } = await watched(t);
    const first = await node.node.rpc<string>('sendtoaddress', [address, coinText(8_000n), '', '', false, true]);
    const { txid } = await node.node.rpc<{ txid: string }>('bumpfee', [first]);
    for (let round = 0; round < 3; round += 1) {
      const [block] = await node.mine(1, await node.outside());
      await self.watcher.tick();
      await node.node.rpc('invalidateblock', [block]);
      await node.mine(2, await node.outside());
      await self.watcher.tick();
      t.deepEqual(
        self.store.facts('btc').map(({ transfer }) => transfer.txid),
        [txid],
        `round ${round}`,
      );
    }
    await node.mine(node.network.threshold);
    await self.watcher.tick();
    t.deepEqual(
      self.store.facts('btc').map(({ transfer, status }) => [transfer.txid, status]),
      [[txid, 'matured']],
    );
    t.is((await node.client.fetchBalance(address, null)).amount, 8_000n, 'the chain holds it once');
  },
);

test.serial('G17 C3-33 a reorganisation deeper than what is kept stops the chain and invents nothing', async (t) => {
  const node = t.context,
    network: BtcNetwork = { ...node.network, reorgWindow: 6 };
  const self = watching({
    client: clientOf([node.endpoint], network),
    network,
    module: btc as ChainModule,
    ledger: 'btc',
  });
  await self.watcher.tick();
  await node.mine(12);
  for (let ticks = 0; ticks < 3; ticks += 1) await self.watcher.tick();
  const { height } = await node.client.getHead(),
    before = self.store.facts('btc').length;
  await node.node.rpc('invalidateblock', [await node.client.getBlockHash(height - 9)]);
  for (let left = 11; left > 0; left -= 1) await node.node.rpc('generateblock', [await node.outside(), []]);
  for (let ticks = 0; ticks < 3; ticks += 1) await self.watcher.tick();
  t.is(self.recorder.gauges.get('svc_chain_stopped'), 1);
  t.is(self.store.facts('btc').length, before);
});
