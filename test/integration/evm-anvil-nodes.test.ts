/** Nodes that are behind, lie, lack methods or belong to another network, beside a good one and alone. */
import test from 'ava';
import { addressOfHex } from '../../chains/evm/address.ts';
import { avax, base, bsc, eth, polygon } from '../../chains/evm/network.ts';
import { bloomOf } from '../../chains/evm/bloom.ts';
import type { RawLog } from '../../chains/evm/raw.ts';
import { transfersIn } from '../../chains/evm/transfers.ts';
import { ChainUnavailable, MalformedReply, type ChainClient, type Endpoint } from '../../chains/chain.ts';
import { recordAnswers, replayAnswers } from '../support/recorded-endpoint.ts';
import { Recorder } from '../support/watching.ts';
import { withSecondOpinion } from '../../chain-watchers/second-opinion.ts';
import { evm } from '../../chains/evm/index.ts';
import { startAnvil, type Anvil } from '../support/anvil.ts';
import { distorted, failing, lacking, stuckAt, withoutLogs } from '../support/distorted-endpoint.ts';
import { catalogueOfTokens, payload, readerOf, supply, tokenAt, transferCall } from '../support/evm-client.ts';
import { FORWARDER_CODE, tokenCode } from '../support/evm-contracts.ts';

const address = (number: number) => addressOfHex(number.toString(16).padStart(40, '0'));
const [PAYER, SHOP] = [0xa11ce, 0x5a09].map(address) as [string, string];
const token = tokenAt(eth, 0x70c0),
  catalogue = catalogueOfTokens(token);

/** A chain whose block 2 pays 70 tokens to the shop, and whose head is 5. */
async function paidChain(anvil: Anvil): Promise<string> {
  await anvil.setCode(token.contract, tokenCode());
  await supply(anvil, PAYER, token, 1_000n);
  await anvil.mine();
  const txid = await anvil.send({ from: PAYER, to: token.contract, data: transferCall(SHOP, 70n) });
  await anvil.mine(4);
  return txid;
}

const unavailable = { instanceOf: ChainUnavailable } as const;

test('V5 C1-6 an endpoint that lies with empty logs is found out by the bloom; another one is believed, alone it proves nothing', async (t) => {
  const anvil = await startAnvil(t, eth, { automine: false });
  await paidChain(anvil);
  for (const blooms of ['kept', 'cleared'] as const) {
    const liar = withoutLogs(anvil.endpoint, 'liar', blooms);
    const { client, transport } = readerOf(eth, [liar, anvil.endpoint], catalogue);
    for (let i = 0; i < 3; i++)
      t.deepEqual(
        transfersIn(eth, await client.getBlock(2), catalogue).transfers.map(({ amount }) => amount),
        [70n],
        blooms,
      );
    t.is(transport.health()[0]!.failures > 0, true);
    await t.throwsAsync(() => readerOf(eth, [liar], catalogue).client.getBlock(2), { ...unavailable, message: /lack/ });
  }
  const quiet = await readerOf(eth, [withoutLogs(anvil.endpoint, 'liar', 'kept')], catalogue).client.getBlock(4);
  t.deepEqual(quiet.raw.receipts, [], 'a block without transactions has nothing to hide');
});

test('G8 C1-4 C1-6 a block without its transactions, or without the last of them, is no block: the header says that gas was used', async (t) => {
  const anvil = await startAnvil(t, eth, { automine: false });
  await anvil.fund(PAYER, 10n ** 20n);
  for (let value = 1n; value <= 3n; value += 1n) await anvil.send({ from: PAYER, to: SHOP, value });
  await anvil.mine(2);
  const keeping = (count: number) =>
    distorted(anvil.endpoint, `keeps ${count}`, {
      after: ({ id, method, params }, { result }) => {
        if (method === 'eth_getBlockReceipts' && Array.isArray(result)) return { id, result: result.slice(0, count) };
        const block = result as { transactions?: unknown[] } | null;
        return method === 'eth_getBlockByNumber' && params[1] === true && block !== null
          ? { id, result: { ...block, transactions: block.transactions!.slice(0, count) } }
          : undefined;
      },
    });
  for (const count of [0, 1, 2]) {
    const { client } = readerOf(eth, [keeping(count), anvil.endpoint]);
    for (let i = 0; i < 3; i += 1) t.is((await client.getBlock(1)).raw.receipts.length, 3, `${count}`);
  }
  await t.throwsAsync(() => readerOf(eth, [keeping(0)]).client.getBlock(1), {
    ...unavailable,
    message: /no transaction is listed/,
  });
  t.is((await readerOf(eth, [keeping(0)]).client.getBlock(2)).raw.receipts.length, 0, 'an empty block has used none');
  // A header may count refunded gas too: then the number of transactions decides, and the block is whole.
  const dear = distorted(anvil.endpoint, 'counts refunds', {
    after: ({ id, method }, { result }) =>
      method === 'eth_getBlockByNumber' ? { id, result: { ...(result as object), gasUsed: '0xffffff' } } : undefined,
  });
  for (let i = 0; i < 2; i += 1)
    t.is((await readerOf(eth, [dear, anvil.endpoint]).client.getBlock(1)).raw.receipts.length, 3);
  const mute = failing(anvil.endpoint, 'mute', 'eth_getBlockTransactionCountByHash', {
    code: -32_601,
    message: 'method not found',
  });
  await t.throwsAsync(() => readerOf(eth, [dear, lacking(mute, 'mute', 'eth_getBlockByNumber')]).client.getBlock(1), {
    ...unavailable,
    message: /no other endpoint counts/,
  });
});

test('G10 V24 a lagging second endpoint never hides a block, a balance or an outcome', async (t) => {
  const anvil = await startAnvil(t, eth, { automine: false });
  const txid = await paidChain(anvil);
  const lagging = stuckAt(anvil.endpoint, 'lagging', () => 1);
  const { client } = readerOf(eth, [lagging, anvil.endpoint], catalogue);
  await client.getHead();
  const heads = [await client.getHead(), await client.getHead(), await client.getHead()];
  t.deepEqual(
    heads.map(({ height }) => height),
    [5, 5, 5],
  );
  for (let i = 0; i < 3; i++) {
    t.is((await client.getBlock(5)).height, 5);
    t.is((await client.fetchBalance(SHOP, token)).amount, 70n);
    t.true((await client.getOutcome(txid))?.success);
    t.truthy(await client.getBlockHash(5));
    t.is(
      (
        await client.fetchBuildInputs({
          chain: 'eth',
          from: PAYER,
          fromPath: '',
          to: SHOP,
          amount: 1n,
          token: null,
          tag: null,
        })
      ).readAtHeight,
      5,
    );
  }
});

test('spec 1.7 G8 no endpoint, no answer: a balance that cannot be read is CHAIN_UNAVAILABLE, never zero', async (t) => {
  const anvil = await startAnvil(t, eth, { automine: false });
  await paidChain(anvil);
  const balanceBy = (endpoint: Endpoint) => () => readerOf(eth, [endpoint], catalogue).client.fetchBalance(SHOP, token);
  const answering = (result: unknown) =>
    distorted(anvil.endpoint, 'odd', {
      after: ({ id, method }) => (method === 'eth_call' ? { id, result } : undefined),
    });
  await t.throwsAsync(balanceBy(answering('0x')), unavailable);
  await t.throwsAsync(balanceBy(answering(null)), unavailable);
  for (const [code, message] of [
    [-32_000, 'missing trie node 1234'],
    [-32_000, 'header not found'],
    [-32_005, 'limit exceeded'],
    [4_444, 'pruned history unavailable'],
  ] as const) {
    await t.throwsAsync(balanceBy(failing(anvil.endpoint, 'pruned', 'eth_call', { code, message })), {
      ...unavailable,
      message: new RegExp(message.slice(0, 8)),
    });
  }
  const nativeBy = (result: unknown) => () =>
    readerOf(eth, [
      distorted(anvil.endpoint, 'odd', {
        after: ({ id, method }) => (method === 'eth_getBalance' ? { id, result } : undefined),
      }),
    ]).client.fetchBalance(SHOP, null);
  for (const result of [null, '', '0x', 5, {}])
    await t.throwsAsync(nativeBy(result), { instanceOf: MalformedReply }, JSON.stringify(result));
  const real = await readerOf(eth, [anvil.endpoint]).client.fetchBalance(SHOP, null);
  t.deepEqual(
    real,
    { amount: 0n, reserved: 0n, available: 0n, decimals: 18, accountExists: true },
    'a zero that the chain said',
  );
});

test('V4 V25 G9 receipts: one by one where a node has no block of them; null, short or foreign ones prove nothing', async (t) => {
  const anvil = await startAnvil(t, eth, { automine: false });
  await paidChain(anvil);
  const oneByOne = lacking(anvil.endpoint, 'old', 'eth_getBlockReceipts');
  const read = (endpoint: Endpoint) => readerOf(eth, [endpoint], catalogue).client.getBlock(2);
  t.deepEqual(
    transfersIn(eth, await read(oneByOne), catalogue).transfers,
    transfersIn(eth, await read(anvil.endpoint), catalogue).transfers,
  );
  const late = distorted(oneByOne, 'late', {
    after: ({ id, method }) => (method === 'eth_getTransactionReceipt' ? { id, result: null } : undefined),
  });
  await t.throwsAsync(() => read(late), { ...unavailable, message: /receipt/ });
  const receiptsOf = (change: (receipts: object[]) => unknown, single = change) =>
    distorted(anvil.endpoint, 'odd', {
      after: ({ id, method }, { result }) => {
        if (method === 'eth_getTransactionReceipt')
          return { id, result: (single([result as object]) as object[] | null)?.[0] ?? null };
        return method === 'eth_getBlockReceipts' ? { id, result: change(result as object[]) } : undefined;
      },
    });
  const paid = transfersIn(eth, await read(anvil.endpoint), catalogue).transfers;
  for (const change of [() => [], () => null]) {
    await t.throwsAsync(() => read(receiptsOf(change)), { message: /receipt/ });
    t.deepEqual(
      transfersIn(eth, await read(receiptsOf(change, (all) => all)), catalogue).transfers,
      paid,
      'found F23: single receipts that are fine are read',
    );
  }
  await t.throwsAsync(
    () => read(receiptsOf((all) => all.map((one) => ({ ...one, blockHash: `0x${'1'.repeat(64)}` })))),
    unavailable,
  );
  await t.throwsAsync(
    () =>
      read(
        receiptsOf((all) =>
          all.map(({ ...one }) => {
            delete (one as { status?: string }).status;
            return one;
          }),
        ),
      ),
    unavailable,
  );
});

test('V24 V11 G8 a null, an unsealed and another block are no block', async (t) => {
  const anvil = await startAnvil(t, eth, { automine: false });
  await paidChain(anvil);
  const blockAs = (change: (block: object) => unknown) =>
    readerOf(eth, [
      distorted(anvil.endpoint, 'odd', {
        after: ({ id, method, params }, { result }) =>
          method === 'eth_getBlockByNumber' && params[1] === true
            ? { id, result: change(result as object) }
            : undefined,
      }),
    ]).client.getBlock(2);
  await t.throwsAsync(() => blockAs(() => null), { ...unavailable, message: /unknown to the node/ });
  await t.throwsAsync(() => blockAs((block) => ({ ...block, stateRoot: `0x${'0'.repeat(64)}` })), {
    ...unavailable,
    message: /not sealed/,
  });
  await t.throwsAsync(() => blockAs((block) => ({ ...block, number: '0x3' })), {
    ...unavailable,
    message: /another height/,
  });
  await t.throwsAsync(() => blockAs((block) => ({ ...block, transactions: [] })), unavailable);
  await t.throwsAsync(() => blockAs(() => ({})), { instanceOf: MalformedReply });
  const unfinalized = failing(anvil.endpoint, 'avax', 'eth_getBlockByNumber', {
    code: -32_000,
    message: 'cannot query unfinalized data',
  });
  await t.throwsAsync(
    () => readerOf(avax, [unfinalized]).client.getBlock(9),
    { ...unavailable, message: /unfinalized/ },
    'V29',
  );
});

test("V10 V4 V5 polygon: a state-sync receipt behind the block's own is read with the transaction it lacks, or that bor shows; elsewhere it proves nothing", async (t) => {
  const anvil = await startAnvil(t, polygon, { automine: false });
  await paidChain(anvil);
  const synced = distorted(anvil.endpoint, 'bor', {
    after: ({ id, method }, { result }) => {
      if (method !== 'eth_getBlockReceipts' || !Array.isArray(result) || result.length === 0) return undefined;
      const own = result[0] as { logs: { topics: string[] }[] },
        txid = `0x${'5'.repeat(64)}`;
      const minted = own.logs.map((log) => ({
        ...log,
        transactionHash: txid,
        topics: [log.topics[0], `0x${'0'.repeat(64)}`, log.topics[2]],
      }));
      return {
        id,
        result: [
          ...result,
          {
            ...own,
            from: `0x${'0'.repeat(40)}`,
            to: `0x${'0'.repeat(40)}`,
            transactionHash: txid,
            transactionIndex: `0x${result.length.toString(16)}`,
            logs: minted,
            logsBloom: `0x${Buffer.from(bloomOf(minted as unknown as RawLog[])).toString('hex')}`,
          },
        ],
      };
    },
  });
  const onPolygon = tokenAt(polygon, 0x70c0),
    tokens = catalogueOfTokens(onPolygon);
  const { transfers } = transfersIn(polygon, await readerOf(polygon, [synced], tokens).client.getBlock(2), tokens);
  t.deepEqual(
    transfers.map(({ outputIndex, amount }) => [outputIndex, amount]),
    [
      [0, 70n],
      [0, 70n],
    ],
  );
  t.is(new Set(transfers.map(({ txid }) => txid)).size, 2);
  const zero = `0x${'0'.repeat(40)}`,
    txid = `0x${'5'.repeat(64)}`;
  const shown = distorted(synced, 'bor that shows it', {
    after: ({ id, method, params }, { result }) => {
      if (method !== 'eth_getBlockByNumber' || params[1] !== true || typeof result !== 'object' || result === null)
        return undefined;
      const { transactions } = result as { transactions: object[] };
      const sync = {
        ...transactions[0],
        hash: txid,
        transactionIndex: `0x${transactions.length.toString(16)}`,
        from: zero,
        to: zero,
        value: '0x0',
        type: '0x0',
      };
      return { id, result: { ...result, transactions: [...transactions, sync] } };
    },
  });
  const again = transfersIn(polygon, await readerOf(polygon, [shown], tokens).client.getBlock(2), tokens);
  t.deepEqual(
    again.transfers.map(({ outputIndex, amount }) => [outputIndex, amount]),
    [
      [0, 70n],
      [0, 70n],
    ],
    'outside the bloom, as before PIP-74',
  );
  const only = distorted(
    lacking(synced, 'bor without single receipts', 'eth_getTransactionReceipt'),
    'a node that says that it is of eth',
    { after: ({ id, method }) => (method === 'eth_chainId' ? { id, result: '0x1' } : undefined) },
  );
  await t.throwsAsync(() => readerOf(eth, [only], catalogue).client.getBlock(2), {
    ...unavailable,
    message: /2 receipts for 1 transactions/,
  });
});

test('G14 an endpoint of another chain is disabled; alone it stops the chain', async (t) => {
  const [onEth, onBsc] = [await startAnvil(t, eth, { automine: false }), await startAnvil(t, bsc, { automine: false })];
  await onEth.mine(2);
  const { client, transport } = readerOf(eth, [onBsc.endpoint, onEth.endpoint]);
  await client.checkIdentity();
  t.deepEqual(
    transport.health().map(({ state }) => state),
    ['wrong_network', 'healthy'],
  );
  t.is((await client.getHead()).height, 2);
  await t.throwsAsync(() => readerOf(eth, [onBsc.endpoint]).client.checkIdentity(), {
    ...unavailable,
    message: /chain 56/,
  });
});

test('C1-4 V6 a trace that failed is asked again alone; where it keeps failing the block is not whole', async (t) => {
  const anvil = await startAnvil(t, eth, { automine: false });
  await anvil.setCode(address(0xf0f0), FORWARDER_CODE);
  await anvil.fund(PAYER, 10n ** 18n);
  await anvil.send({ from: PAYER, to: address(0xf0f0), value: 5n, data: payload(SHOP) });
  await anvil.mine();
  const timingOut = distorted(anvil.endpoint, 'slow', {
    after: ({ id, method }, { result }) =>
      method === 'debug_traceBlockByHash'
        ? { id, result: (result as object[]).map(() => ({ error: 'execution timeout' })) }
        : undefined,
  });
  t.is(transfersIn(eth, await readerOf(eth, [timingOut]).client.getBlock(1), new Map()).transfers.length, 2);
  const worse = failing(timingOut, 'worse', 'debug_traceTransaction', { code: -32_000, message: 'execution timeout' });
  await t.throwsAsync(() => readerOf(eth, [worse]).client.getBlock(1), { ...unavailable, message: /traces/ });
  const helped = await readerOf(eth, [worse, anvil.endpoint]).client.getBlock(1);
  t.is(
    transfersIn(eth, helped, new Map()).transfers.length,
    2,
    'traces are of the hash and may come from another endpoint',
  );
  const broken = failing(anvil.endpoint, 'broken', 'debug_traceBlockByHash', {
    code: -32_000,
    message: 'out of memory',
  });
  await t.throwsAsync(
    () => readerOf(eth, [broken]).client.getBlock(1),
    unavailable,
    'an error is not "no such method"',
  );
});

test('V27 an error for the finalized tag is no height', async (t) => {
  const anvil = await startAnvil(t, polygon, { automine: false });
  await anvil.mine(3);
  const none = distorted(anvil.endpoint, 'none', {
    before: ({ id, params }) =>
      params[0] === 'finalized' ? { id, error: { code: -32_000, message: 'finalized block not found' } } : undefined,
  });
  t.like(await readerOf(polygon, [none]).client.getHead(), { height: 3, finalizedHeight: null });
});

test('V28 a finalized height that a node takes back stays', async (t) => {
  const anvil = await startAnvil(t, bsc, { automine: false, slotsInEpoch: 2 });
  await anvil.mine(12);
  let back = false;
  const moody = distorted(anvil.endpoint, 'moody', {
    before: ({ id, method, params }) =>
      back && params[0] === 'finalized' ? { id, method, params: ['0x2', false] } : undefined,
  });
  const { client } = readerOf(bsc, [moody]);
  t.is((await client.getHead()).finalizedHeight, 8);
  back = true;
  t.is((await client.getHead()).finalizedHeight, 8);
});

test("V28 what an endpoint called final above its own head is not final: for a moment it was another network's", async (t) => {
  const [own, other] = (await Promise.all(
    [0, 1].map(() => startAnvil(t, bsc, { automine: false, slotsInEpoch: 2 })),
  )) as [Anvil, Anvil];
  await own.mine(12);
  await other.mine(500);
  let swapped = true;
  const endpoint: Endpoint = {
    name: 'balanced',
    request: (...asked) => (swapped ? other : own).endpoint.request(...asked),
  };
  const { client } = readerOf(bsc, [endpoint]);
  t.like(await client.getHead(), { height: 500, finalizedHeight: 496 });
  swapped = false;
  t.like(await client.getHead(), { height: 12, finalizedHeight: 8 });
});

test('G10 getOutcome and getBlockHash: a null counts only when every endpoint says it', async (t) => {
  const anvil = await startAnvil(t, eth, { automine: false });
  const txid = await paidChain(anvil),
    absent = `0x${'9'.repeat(64)}`;
  const forgetful = distorted(anvil.endpoint, 'forgetful', {
    after: ({ id, method }) => (method === 'eth_getTransactionReceipt' ? { id, result: null } : undefined),
  });
  const { client } = readerOf(eth, [forgetful, anvil.endpoint]);
  for (let i = 0; i < 2; i++) t.true((await client.getOutcome(txid))?.success);
  t.is(await client.getOutcome(absent), null);
  t.is(await client.getBlockHash(99), null);
  const dead = failing(anvil.endpoint, 'dead', 'eth_getTransactionReceipt', {
    code: -32_603,
    message: 'internal error',
  });
  await t.throwsAsync(
    () => readerOf(eth, [forgetful, dead]).client.getOutcome(txid),
    unavailable,
    'one says null, the other cannot say',
  );
});

test('G19 C3-30 a receipt of a block that the node has replaced is none', async (t) => {
  const anvil = await startAnvil(t, eth, { automine: false });
  const txid = await paidChain(anvil);
  const stale = distorted(anvil.endpoint, 'stale', {
    after: ({ id, method }, { result }) =>
      method === 'eth_getTransactionReceipt'
        ? { id, result: { ...(result as object), blockHash: `0x${'7'.repeat(64)}` } }
        : undefined,
  });
  await t.throwsAsync(() => readerOf(eth, [stale]).client.getOutcome(txid), { ...unavailable, message: /replaced/ });
});

test('V21 V22 V23 C1-6 ranges of logs: halved until answered, every part of them, and only from a node that is there', async (t) => {
  const anvil = await startAnvil(t, eth, { automine: false });
  await paidChain(anvil);
  for (let i = 0; i < 8; i++) {
    await anvil.send({ from: PAYER, to: token.contract, data: transferCall(SHOP, BigInt(i + 1)) });
    await anvil.mine();
  }
  const { client, transport } = readerOf(eth, [anvil.endpoint]);
  const { height, hash } = await client.getHead();
  const range = { fromHeight: 1, toHeight: height, toHash: hash, addresses: [token.contract], topics: [] };
  const whole = await client.fetchLogs(range);
  t.is(whole.length, 10);
  t.truthy(transport);
  const asked: number[] = [];
  const narrow = (blocks: number, message = 'query returned more than 10000 results') =>
    distorted(anvil.endpoint, 'narrow', {
      before: ({ id, method, params: [filter] }) => {
        if (method !== 'eth_getLogs') return undefined;
        const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string },
          size = Number(toBlock) - Number(fromBlock) + 1;
        asked.push(size);
        return size > blocks ? { id, error: { code: -32_005, message } } : undefined;
      },
    });
  for (const blocks of [1, 2, 3, 5])
    t.deepEqual(await readerOf(eth, [narrow(blocks)]).client.fetchLogs(range), whole, String(blocks));
  t.deepEqual(
    await readerOf(eth, [
      narrow(3, `retry with the range 1-${height}: block range is larger than max`),
    ]).client.fetchLogs(range),
    whole,
    'a suggestion that is the same range',
  );
  t.true(asked.includes(1));
  await t.throwsAsync(
    () => readerOf(eth, [narrow(0)]).client.fetchLogs(range),
    { ...unavailable, message: /are refused/ },
    'one block alone',
  );
  const behind = stuckAt(anvil.endpoint, 'behind', () => height - 3);
  await t.throwsAsync(() => readerOf(eth, [behind]).client.fetchLogs(range), unavailable, 'a part without a word');
  t.deepEqual(await readerOf(eth, [behind, anvil.endpoint]).client.fetchLogs(range), whole);
  await t.throwsAsync(() => client.fetchLogs({ ...range, toHash: `0x${'1'.repeat(64)}` }), {
    ...unavailable,
    message: /another block/,
  });
});

test("V35 base: the L1 part comes from the predeploy, with the operator's where there is one; without it nothing is built", async (t) => {
  const { feeOracleCode } = await import('../support/evm-contracts.ts');
  const anvil = await startAnvil(t, base, { automine: false });
  await anvil.fund(PAYER, 10n ** 18n);
  await anvil.mine();
  const inputs = () =>
    readerOf(base, [anvil.endpoint]).client.fetchBuildInputs({
      chain: 'base',
      from: PAYER,
      fromPath: '',
      to: SHOP,
      amount: 1n,
      token: null,
      tag: null,
    });
  await t.throwsAsync(inputs, { ...unavailable, message: /L1 fee is unknown/ });
  await anvil.setCode(base.l1FeeOracle!, feeOracleCode(875_004_002n, null));
  t.is((await inputs()).l1FeeUpperBound, '875004002');
  await anvil.setCode(base.l1FeeOracle!, feeOracleCode(875_004_002n, 1_000n));
  t.is((await inputs()).l1FeeUpperBound, '875005002');
});

test('recorded answers of a real node give the same block again without it', async (t) => {
  const anvil = await startAnvil(t, eth, { automine: false });
  await paidChain(anvil);
  const recorder = recordAnswers(anvil.endpoint);
  const live = await readerOf(eth, [recorder.endpoint], catalogue).client.getBlock(2);
  const replay = readerOf(eth, [replayAnswers('eth', 'replay', recorder.exchanges)], catalogue).client;
  t.deepEqual(await replay.getBlock(2), live);
  await t.throwsAsync(() => replay.getBlock(3), unavailable);
});

const NEVER_MS = 1_000_000_000;

test('found: beside a real node one that invents a nonce, a balance, or denies one, decides neither a build nor a balance', async (t) => {
  const anvil = await startAnvil(t, eth, { automine: false }),
    recorder = new Recorder();
  // Pauses take no time, and no endpoint is ever late.
  const timer = (ms: number, then: () => void) => {
    if (ms < NEVER_MS) setImmediate(then);
    return () => undefined;
  };
  await anvil.fund(PAYER, 10n ** 20n);
  const lies: Record<string, unknown> = {};
  const liar = distorted(anvil.endpoint, 'liar', {
    after: ({ id, method }) => (method in lies ? { id, result: lies[method] } : undefined),
  });
  for (const order of [
    [liar, anvil.endpoint],
    [anvil.endpoint, liar],
  ]) {
    const witnesses = order.map((endpoint) => readerOf(eth, [endpoint]).client as unknown as ChainClient);
    const client = withSecondOpinion({
      network: eth,
      module: evm as never,
      client: readerOf(eth, order).client as unknown as ChainClient,
      witnesses,
      counts: () => true,
      timer,
      hedgeMs: NEVER_MS,
      log: recorder,
      metrics: recorder,
    });
    const build = () =>
      client.fetchBuildInputs({
        chain: 'eth',
        from: PAYER,
        fromPath: 'm',
        to: SHOP,
        amount: 1n,
        token: null,
        tag: null,
      });
    Object.assign(lies, { eth_getTransactionCount: '0x1e' });
    t.like(await build(), { nonceLatest: 0, noncePending: 0, counter: 'disputed' });
    t.is((await client.fetchBalance(PAYER, null)).amount, 10n ** 20n);
    for (const invented of ['0x0', '0x3e8']) {
      lies['eth_getBalance'] = invented;
      await t.throwsAsync(client.fetchBalance(PAYER, null), {
        ...unavailable,
        message: /contradict each other about balance/,
      });
      await t.throwsAsync(build(), { ...unavailable, message: /contradict each other about .*[bB]alance/ });
    }
    for (const method of Object.keys(lies)) delete lies[method];
    t.is((await build()).counter, undefined);
  }
});
