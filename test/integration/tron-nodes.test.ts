/** TRON nodes that lag, lie, limit, prune, lack paths, flap and die: nothing unproven is believed. */
import test from 'ava';
import { ChainUnavailable, MalformedReply } from '../../chains/chain.ts';
import { createClient } from '../../chains/tron/client.ts';
import { tron } from '../../chains/tron/network.ts';
import { createFailoverTransport } from '../../chains/transport/failover.ts';
import { createHttpEndpoint } from '../../chains/transport/http-endpoint.ts';
import type { Knobs } from '../../developer/stand-ins/tron/api.ts';
import { endpointOf, inputsOf, openStage, PAYER, SENDER, SHOP, TRX, type Stage } from '../support/tron-ledger.ts';

const unavailable = { instanceOf: ChainUnavailable } as const;
const head = ({ standIn }: Stage) => standIn.ledger.headHeight();
const pay = ({ standIn }: Stage, amount = 5n) =>
  standIn.send(PAYER, { type: 'TransferContract', to: SENDER.address, amount });
type Answer = (answer: any, body: any) => unknown;
/** A lie about one method. */
const lying =
  (method: string, change: Answer): Knobs['lie'] =>
  (view, asked, body, answer) =>
    view === 'wallet' && asked === method ? change(structuredClone(answer), body) : answer;

test('G14 a node of another network is disabled, by its first block; without any node of ours nothing is done', async (t) => {
  const stage = openStage(),
    foreign = stage.standIn.openNode(),
    client = stage.clientOf([foreign, stage.node]);
  foreign.knobs.genesis = `${'0'.repeat(16)}${'ab'.repeat(24)}`;
  stage.standIn.ledger.mine(1);
  await client.checkIdentity();
  foreign.knobs.lie = lying('getblock', () => {
    throw new Error('asked');
  });
  for (let asked = 0; asked < 4; asked += 1) t.is((await client.getHead()).height, head(stage));
  stage.node.knobs.down = true;
  await t.throwsAsync(() => client.getHead(), { message: /ECONNREFUSED/ }, 'the foreign node is not asked at all');
  foreign.knobs.lie = null;
  await t.throwsAsync(() => stage.clientOf([foreign]).checkIdentity(), { message: /another first block/ });
  const pruned = stage.standIn.openNode();
  pruned.knobs.lie = lying('getblock', () => ({}));
  await t.throwsAsync(() => stage.clientOf([pruned]).checkIdentity(), unavailable);
});

test('T11 G9 C1-1 infos that are fewer, of other transactions, of another height or in another order prove no block', async (t) => {
  const stage = openStage(),
    { knobs } = stage.node;
  pay(stage);
  pay(stage, 6n);
  stage.standIn.ledger.mine(1);
  const lies: [string, Answer][] = [
    ['gettransactioninfobyblocknum', () => []],
    ['gettransactioninfobyblocknum', () => ({})],
    ['gettransactioninfobyblocknum', (infos) => infos.slice(1)],
    ['gettransactioninfobyblocknum', (infos) => infos.reverse()],
    ['gettransactioninfobyblocknum', (infos) => [...infos, infos[0]]],
    ['gettransactioninfobyblocknum', ([first, second]) => [first, { ...second, blockNumber: head(stage) - 1 }]],
    ['getblockbynum', () => ({})],
    ['getblockbynum', (block) => ({ ...block, transactions: undefined })],
    [
      'getblockbynum',
      (block) => ({
        ...block,
        block_header: { raw_data: { ...block.block_header.raw_data, number: head(stage) - 1 } },
        blockID: `${(head(stage) - 1).toString(16).padStart(16, '0')}${block.blockID.slice(16)}`,
      }),
    ],
  ];
  for (const [method, change] of lies) {
    knobs.lie = lying(method, change);
    await t.throwsAsync(() => stage.client.getBlock(head(stage)), unavailable, `${method} ${String(change)}`);
  }
  knobs.lie = null;
  t.is((await stage.client.getBlock(head(stage))).raw.infos.length, 2);
  knobs.keepsInfos = false;
  await t.throwsAsync(
    () => stage.client.getBlock(head(stage)),
    unavailable,
    'a node without the history of its transactions',
  );
});

test('G8 answers of other shapes are faults with what was recorded, never a block', async (t) => {
  const stage = openStage(),
    { knobs } = stage.node;
  pay(stage);
  stage.standIn.ledger.mine(1);
  for (const change of [
    () => null,
    () => [],
    () => 'ok',
    (block: any) => ({ ...block, blockID: 'ab' }),
    (block: any) => ({ ...block, blockID: `${'0'.repeat(16)}${block.blockID.slice(16)}` }),
    (block: any) => ({ blockID: block.blockID }),
    (block: any) => ({
      ...block,
      block_header: { raw_data: { ...block.block_header.raw_data, parentHash: undefined } },
    }),
  ]) {
    knobs.lie = lying('getblockbynum', change);
    await t.throwsAsync(
      () => stage.clientOf([stage.node]).getBlock(head(stage)),
      { instanceOf: MalformedReply },
      String(change),
    );
  }
});

test('G9 a block that is replaced while it is read is not believed, also where both have the same transactions', async (t) => {
  const stage = openStage(),
    { knobs } = stage.node,
    { ledger } = stage.standIn;
  pay(stage);
  ledger.mine(1);
  knobs.lie = lying('gettransactioninfobyblocknum', (infos) => {
    ledger.reorg(1, 'waiting');
    return infos;
  });
  await t.throwsAsync(() => stage.client.getBlock(head(stage)), { message: /replaced while it was read/ });
  ledger.mine(20);
  await stage.client.getHead();
  const solid = ledger.solidHeight();
  let asked = 0;
  knobs.lie = lying('getblock', (answer) => {
    asked += 1;
    return answer;
  });
  t.is((await stage.client.getBlock(solid)).height, solid);
  t.is(asked, 0, 'what is solidified cannot be replaced');
});

test('G10 G18 a node that is behind is not believed while another is not; a head that all show lower is a rollback', async (t) => {
  const stage = openStage(),
    slow = stage.standIn.openNode(),
    client = stage.clientOf([slow, stage.node]);
  stage.standIn.ledger.mine(5);
  await client.getHead();
  await client.getHead();
  slow.knobs.lagBlocks = 5;
  for (let asked = 0; asked < 4; asked += 1) {
    t.is((await client.getHead()).height, head(stage));
    t.is((await client.getBlock(head(stage))).height, head(stage));
    t.is((await client.fetchBalance(SENDER.address, null)).amount, 100n * TRX);
  }
  await t.throwsAsync(() => client.getBlock(head(stage) + 1), unavailable);
  t.is(await client.nextHeight(head(stage)), null);
  stage.node.knobs.lagBlocks = 5;
  t.is((await client.getHead()).height, head(stage) - 5, 'C1-12');
});

test('G10 a state read of a node that has fallen behind is refused, for balances, inputs and outcomes', async (t) => {
  const stage = openStage(),
    txid = pay(stage);
  stage.standIn.ledger.mine(5);
  await stage.client.getHead();
  stage.node.knobs.lagBlocks = 2;
  t.is((await stage.client.fetchBalance(SENDER.address, null)).amount, 100n * TRX + 5n, 'two blocks are propagation');
  stage.node.knobs.lagBlocks = 3;
  for (const ask of [
    () => stage.client.fetchBalance(SENDER.address, null),
    () => inputsOf(stage.client),
    () => stage.client.getOutcome(txid),
  ])
    await t.throwsAsync(ask, { message: /behind/ });
});

test('6.2 a node without the solidified view gives no finality and no build; its blocks are read all the same', async (t) => {
  const stage = openStage(),
    { knobs } = stage.node;
  stage.standIn.ledger.mine(1);
  for (const method of ['getblock', 'getnowblock']) knobs.missing.add(`walletsolidity/${method}`);
  t.is((await stage.client.getHead()).finalizedHeight, null);
  t.is((await stage.client.getBlock(head(stage))).height, head(stage));
  await t.throwsAsync(() => inputsOf(stage.client), unavailable);
});

test('6.2 an old node without getblock is asked by the paths that it has', async (t) => {
  const stage = openStage(),
    { knobs } = stage.node;
  pay(stage);
  stage.standIn.ledger.mine(2);
  for (const view of ['wallet', 'walletsolidity']) knobs.missing.add(`${view}/getblock`);
  t.like(await stage.client.getHead(), { height: head(stage), finalizedHeight: stage.standIn.ledger.solidHeight() });
  t.is(await stage.client.getBlockHash(head(stage) - 1), stage.standIn.ledger.block(head(stage) - 1)!.id);
  await stage.client.checkIdentity();
  t.is((await stage.client.getBlock(head(stage) - 1)).height, head(stage) - 1);
  knobs.lie = lying('getnowblock', () => ({}));
  await t.throwsAsync(() => stage.client.getHead(), unavailable);
});

test('G8 errors of the node, limits, empty answers and text that is no JSON are no answers', async (t) => {
  const stage = openStage(),
    endpoint = endpointOf(stage.node),
    { knobs } = stage.node;
  knobs.limited = 403;
  await t.throwsAsync(() => stage.client.fetchBalance(SENDER.address, null), {
    message: /exceeds the frequency limit/,
  });
  knobs.limited = 429;
  await t.throwsAsync(() => stage.client.fetchBalance(SENDER.address, null), { message: /rate limited/ });
  knobs.limited = null;
  knobs.lie = lying('getaccount', () => ({ Error: 'class java.lang.Exception : see https://node.example/SECRET' }));
  const error = await t.throwsAsync(() => stage.client.fetchBalance(SENDER.address, null), unavailable);
  t.notRegex(error!.message, /SECRET/, 'X2');
  for (const [status, text, instanceOf] of [
    [200, '', ChainUnavailable],
    [200, '<html>', MalformedReply],
    [500, '<html>', ChainUnavailable],
    [500, '{}', ChainUnavailable],
  ] as const) {
    const client = createClient(
      tron,
      createFailoverTransport({
        chain: 'tron',
        elapsedMs: () => 0,
        random: () => 0,
        endpoints: [
          {
            name: 'odd',
            request: async (call) =>
              call.path.endsWith('getaccount') ? { status, headers: {}, text } : endpoint.request(call),
          },
        ],
      }),
      new Map(),
    );
    await t.throwsAsync(() => client.fetchBalance(SENDER.address, null), { instanceOf }, `${status} ${text}`);
  }
});

test('C1-1 C1-14 a node that flaps: every block is read once it answers again, in order, none is skipped', async (t) => {
  const stage = openStage(),
    read: number[] = [];
  stage.standIn.ledger.mine(1);
  let cursor = head(stage) - 1,
    nowMs = 0;
  const transport = createFailoverTransport({
    chain: 'tron',
    endpoints: [endpointOf(stage.node)],
    elapsedMs: () => nowMs,
    random: () => 0.5,
  });
  const client = createClient(tron, transport, new Map());
  pay(stage);
  stage.standIn.ledger.mine(6);
  for (let turn = 0; cursor < head(stage) && turn < 100; turn += 1) {
    stage.node.knobs.down = turn % 3 !== 0;
    nowMs += 60_000;
    try {
      const next = await client.nextHeight(cursor);
      cursor = (await client.getBlock(next!)).height;
      read.push(cursor);
    } catch (error) {
      t.true(error instanceof ChainUnavailable);
    }
  }
  t.deepEqual(
    read,
    Array.from({ length: 7 }, (_, index) => head(stage) - 6 + index),
  );
});

test("G8 the chain's parameters, resources and accounts of a build must be there", async (t) => {
  const stage = openStage(),
    { knobs } = stage.node;
  for (const [method, change] of [
    ['getchainparameters', () => ({})],
    ['getchainparameters', () => ({ chainParameter: [] })],
    ['getchainparameters', () => ({ chainParameter: [{ key: 'getEnergyFee', value: 'x' }] })],
    ['getaccountresource', () => null],
    ['getaccountresource', () => ({ NetLimit: 'many' })],
    ['getaccount', () => []],
  ] as [string, Answer][]) {
    knobs.lie = lying(method, change);
    await t.throwsAsync(() => inputsOf(stage.client), undefined, `${method} ${String(change)}`);
  }
  knobs.lie = lying('getchainparameters', ({ chainParameter }) => ({
    chainParameter: chainParameter.filter(({ key }: { key: string }) => key !== 'getTransactionFee'),
  }));
  t.is((await inputsOf(stage.client)).prices.bandwidthSun, '0', 'a parameter that is not named is 0');
});

test('the same over HTTP, with the endpoint that a cloud node has: answers, limits, a dead node', async (t) => {
  const stage = openStage(),
    url = await stage.node.listen();
  const endpoint = createHttpEndpoint({ chain: 'tron', name: 'tron-1', url });
  t.teardown(async () => {
    await endpoint.close();
    await stage.standIn.close();
  });
  const client = createClient(
    tron,
    createFailoverTransport({
      chain: 'tron',
      endpoints: [endpoint],
      elapsedMs: () => performance.now(),
      random: () => 0.5,
    }),
    new Map(),
  );
  pay(stage);
  stage.standIn.ledger.mine(1);
  await client.checkIdentity();
  t.is((await client.getHead()).height, head(stage));
  t.is((await client.getBlock(head(stage))).raw.infos.length, 1);
  t.is((await client.fetchBalance(SHOP, null)).amount, 1n);
  stage.node.knobs.down = true;
  await t.throwsAsync(() => client.getHead(), unavailable);
});
