/** Nodes in the shapes of Core 30, an address index beside them, and what both do when they are ill. */
import test from 'ava';
import { btc } from '../../chains/btc/index.ts';
import { bitcoin } from '../../chains/btc/network.ts';
import { outcomesIn, transfersIn } from '../../chains/btc/transfers.ts';
import { ChainUnavailable, MalformedReply } from '../../chains/chain.ts';
import { replayAnswers, type Exchange } from '../support/recorded-endpoint.ts';
import { RpcFailure } from '../../developer/stand-ins/btc/stand-in.ts';
import { own, RECIPIENT } from '../support/btc-inputs.ts';
import { clientOf } from '../support/btc-node.ts';
import { openStandIn, signedPayment } from '../support/btc-stand-in.ts';
import { vector, vectorText } from '../support/vectors.ts';

const COIN = 100_000_000n;
const unavailable = { instanceOf: ChainUnavailable } as const;
const sender = own(40),
  shop = own(41).address;

// ── Shapes ───────────────────────────────────────────────────────────────────────────────────────────────────────

type Shape = Record<string, unknown>;
const keys = (value: unknown) => Object.keys(value as Shape).toSorted();

test('the stand-in answers getblock 3 with the very fields of the recorded block', async (t) => {
  const peer = await openStandIn(t);
  peer.pay(shop, COIN);
  const [block] = peer.mine(1);
  peer.mine(1);
  const ask = async (method: string, ...params: unknown[]) =>
    (
      (await (
        await fetch(peer.node.url, {
          method: 'POST',
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        })
      ).json()) as { result: Shape }
    ).result;
  const recorded = (JSON.parse(vectorText('nodes/btc/getblock_v3_279671.json')) as { result: Shape }).result,
    answered = await ask('getblock', block!.hash, 3);
  t.deepEqual(keys(answered), keys(recorded));
  const [ours, theirs] = [answered, recorded].map((one) => (one['tx'] as Shape[])[1]!);
  t.deepEqual(keys(ours), keys(theirs));
  const part = (transaction: Shape, list: 'vin' | 'vout') => (transaction[list] as Shape[])[0]!;
  t.deepEqual(
    keys(part(ours!, 'vin')).filter((key) => key !== 'txinwitness'),
    keys(part(theirs!, 'vin')),
    'theirs is of before segwit',
  );
  t.deepEqual(keys(part(ours!, 'vin')['prevout']), keys(part(theirs!, 'vin')['prevout']));
  t.deepEqual(keys(part(ours!, 'vout')), keys(part(theirs!, 'vout')));
  t.deepEqual(keys(part(ours!, 'vout')['scriptPubKey']), keys(part(theirs!, 'vout')['scriptPubKey']));
  const errors = vector<{ cases: { name: string; response: { error: unknown } }[] }>(
    'nodes/btc/rpc_errors_and_fees.json',
  ).cases;
  const recordedError = (name: string) => errors.find((one) => one.name === name)!.response.error;
  const error = async (method: string, ...params: unknown[]) =>
    (
      (await (
        await fetch(peer.node.url, {
          method: 'POST',
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        })
      ).json()) as { error: unknown }
    ).error;
  t.deepEqual(await error('getblock', 'ab'.repeat(32), 3), recordedError('get_block_not_found_response'));
  t.deepEqual(await error('getblockhash', 10_000), recordedError('get_block_hash_out_of_range_response'));
});

test('the index answers with the fields of the recorded answers', async (t) => {
  const peer = await openStandIn(t);
  peer.pay(sender.address, COIN);
  peer.mine(1);
  const { signed } = await signedPayment(peer.client(), sender, shop, 1_000_000n);
  await peer.client().broadcast(signed);
  const recorded = vector<{ cases: { name: string; response: unknown }[] }>('nodes/btc/esplora_shapes.json').cases;
  const theirs = (name: string) => recorded.find((one) => one.name === name)!.response;
  const get = async (path: string) => (await fetch(`${peer.index.url}${path}`)).json();
  const [utxo] = (await get(`/address/${signed.payload.length > 0 ? shop : ''}/utxo`)) as Shape[];
  t.deepEqual(keys(utxo), keys((theirs('address_utxo') as Shape[])[0]));
  const [waiting] = (await get(`/address/${sender.address}/txs/mempool`)) as Shape[],
    whole = theirs('tx_unconfirmed') as Shape;
  for (const key of keys(waiting)) t.true(key in whole, key);
  t.deepEqual(waiting!['status'] as Shape, whole['status'] as Shape);
  for (const key of keys((waiting!['vin'] as Shape[])[0])) t.true(key in (whole['vin'] as Shape[])[0]!, key);
});

/** A JSON-RPC call and its recorded answer as an exchange of the transport. */
function exchange(method: string, params: unknown[], reply: string, status = 200): Exchange {
  return {
    method: 'POST',
    path: '',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    reply: { status, headers: {}, text: reply.replace(/"id":\s*(?:"[^"]*"|null)\s*\}\s*$/, '"id":1}') },
  };
}

test('G9 recorded: a whole block of the main network proves itself through the client, also in the oldest shape', async (t) => {
  const text = vectorText('nodes/btc/getblock_v2_old_shape_50001.json'),
    { hash, height } = (JSON.parse(text) as { result: { hash: string; height: number } }).result;
  const info = JSON.stringify({
    result: { blocks: 551_929, headers: 551_929, bestblockhash: 'ab'.repeat(32), initialblockdownload: false },
    error: null,
    id: 1,
  });
  const client = clientOf(
    [
      replayAnswers('btc', 'recorded', [
        exchange('getblockchaininfo', [], info),
        exchange('getblockhash', [height], JSON.stringify({ result: hash, error: null, id: 1 })),
        exchange('getblock', [hash, 3], text),
      ]),
    ],
    bitcoin,
  );
  const block = await client.getBlock(height);
  t.like(block, { hash, height, parentHeight: 50_000, timeMs: 1_270_917_100_000 });
  t.is(transfersIn(bitcoin, block, new Map()).transfers.length > 0, true);
});

test('G8 G9 recorded: a part of a block is no block, however it is cut', async (t) => {
  for (const file of ['getblock_v3_279671.json', 'getblock_v2_696394.json', 'getblock_v2_574200.json']) {
    const parsed = JSON.parse(vectorText(`nodes/btc/${file}`)) as { result?: { hash: string; height: number } };
    const { hash, height } = parsed.result ?? (parsed as { hash: string; height: number });
    const text =
      parsed.result === undefined
        ? `{"result":${vectorText(`nodes/btc/${file}`)},"error":null,"id":1}`
        : vectorText(`nodes/btc/${file}`);
    const client = clientOf(
      [
        replayAnswers('btc', 'recorded', [
          exchange('getblockchaininfo', [], '{"result":{},"error":null,"id":1}'),
          exchange('getblockhash', [height], JSON.stringify({ result: hash, error: null, id: 1 })),
          exchange('getblock', [hash, 3], text),
        ]),
      ],
      bitcoin,
    );
    await t.throwsAsync(
      () => client.getBlock(height),
      { ...unavailable, message: /are not those of its header/ },
      file,
    );
    t.like(
      btc.blockFromAnswers!(bitcoin, { block: JSON.parse(text) }),
      { hash, height },
      'what was recorded of it can still be looked at',
    );
  }
});

test('G8 recorded: errors and estimates of a node', async (t) => {
  const cases = vector<{ cases: { name: string; response: object }[] }>('nodes/btc/rpc_errors_and_fees.json').cases;
  const answer = (name: string) => JSON.stringify(cases.find((one) => one.name === name)!.response);
  const clientWith = (...exchanges: Exchange[]) =>
    clientOf(
      [
        replayAnswers('btc', 'recorded', [
          exchange('getblockchaininfo', [], '{"result":{},"error":null,"id":1}'),
          ...exchanges,
        ]),
      ],
      bitcoin,
    );
  t.is(
    await clientWith(exchange('getblockhash', [9], answer('get_block_hash_out_of_range_response'), 500)).getBlockHash(
      9,
    ),
    null,
  );
  t.regex(
    (await clientWith(exchange('getblockhash', [9], answer('get_block_hash_response'))).getBlockHash(9)) ?? '',
    /^0000/,
  );
  await t.throwsAsync(
    () => clientWith(exchange('getblockhash', [9], answer('rpc_in_warmup_response'), 500)).getBlockHash(9),
    { ...unavailable, message: /rpc in warmup/ },
  );
  await t.throwsAsync(
    () =>
      clientWith(
        exchange('getblockhash', [9], answer('get_block_hash_response')),
        exchange(
          'getblock',
          [(JSON.parse(answer('get_block_hash_response')) as { result: string }).result, 3],
          answer('get_block_not_found_response'),
          500,
        ),
      ).getBlock(9),
    { ...unavailable, message: /Block not found/ },
  );
});

// ── What only newer nodes show ───────────────────────────────────────────────────────────────────────────────────

test('B9 G21 with previous outputs even change of a taproot key spend is told, and the fee', async (t) => {
  const peer = await openStandIn(t),
    client = peer.client(),
    from = own(42, 'p2tr');
  peer.pay(from.address, COIN);
  peer.mine(1);
  const { signed, unsigned } = await signedPayment(client, from, shop, 30_000_000n);
  t.is((await client.broadcast(signed)).kind, 'accepted');
  const { height } = peer.mine(1)[0]!;
  const block = await client.getBlock(height),
    { transfers, ignored } = transfersIn(bitcoin, block, new Map());
  t.deepEqual(
    transfers.filter(({ txid }) => txid === signed.txid).map(({ to, from: senders }) => [to, [...senders]]),
    [[shop, [from.address]]],
  );
  t.deepEqual(
    ignored.filter(({ txid }) => txid === signed.txid).map(({ reason }) => reason),
    ['output 1: change: pays a script that the transaction spends'],
  );
  t.is(outcomesIn(bitcoin, block, new Set([signed.txid]))[0]!.fee, unsigned.feeMax);
});

test('G19 a node with an index of transactions tells every outcome; one without searches a day and then says that it cannot', async (t) => {
  const peer = await openStandIn(t),
    client = peer.client(),
    txid = peer.pay(shop, COIN);
  const [block] = peer.mine(1);
  peer.mine(150);
  await t.throwsAsync(() => client.getOutcome(txid), { ...unavailable, message: /keeps no index/ });
  t.like(await client.getOutcome(txid, block!), { success: true, height: block!.height, hash: block!.hash });
  peer.node.indexed = true;
  t.like(await client.getOutcome(txid), { success: true, height: block!.height, hash: block!.hash });
  t.is(await client.getOutcome('ab'.repeat(32)), null);
  peer.node.lie = (method, _params, honest) => {
    if (method === 'getrawtransaction')
      throw new RpcFailure(
        -5,
        'No such mempool transaction. Blockchain transactions are still in the process of being indexed. Use gettransaction for wallet transactions.',
      );
    return honest();
  };
  await t.throwsAsync(() => client.getOutcome(txid), { ...unavailable, message: /being indexed/ });
});

test('4.4 pruned blocks prove nothing here, another node has them', async (t) => {
  const peer = await openStandIn(t, { nodes: 2 });
  peer.node.prunedBelow = 100;
  await t.throwsAsync(() => peer.client().getBlock(50), { ...unavailable, message: /pruned/ });
  t.is((await peer.client(peer.endpoints).getBlock(50)).height, 50);
});

// ── Sickness ─────────────────────────────────────────────────────────────────────────────────────────────────────

test('C1-1 a node that dies, limits or keeps us out: another answers; alone nothing is proven', async (t) => {
  const peer = await openStandIn(t, { nodes: 2 }),
    [first, second] = peer.nodes as [typeof peer.node, typeof peer.node],
    both = peer.client(peer.endpoints);
  peer.pay(shop, COIN);
  peer.mine(1);
  t.is((await both.fetchBalance(shop, null)).amount, COIN);
  first.dead = true;
  for (let round = 0; round < 3; round += 1) t.is((await both.fetchBalance(shop, null)).amount, COIN);
  await t.throwsAsync(() => peer.client().getHead(), { instanceOf: ChainUnavailable });
  first.dead = false;
  second.callsLeft = 0;
  const again = peer.client(peer.endpoints);
  for (let round = 0; round < 3; round += 1) t.is((await again.getHead()).height, peer.ledger.tip.height);
  await t.throwsAsync(() => peer.client([peer.endpoints[1]!]).getHead(), { ...unavailable, message: /rate limited/ });
});

test('G10 state is never read from a node that is behind', async (t) => {
  const peer = await openStandIn(t, { nodes: 2 }),
    [first] = peer.nodes,
    both = peer.client(peer.endpoints);
  for (let heads = 0; heads < 2; heads += 1) await both.getHead();
  first!.lagBlocks = 3;
  peer.mine(1);
  peer.pay(shop, COIN);
  peer.mine(2);
  for (let heads = 0; heads < 2; heads += 1) await both.getHead(); // each has said where it is
  for (let round = 0; round < 4; round += 1) {
    t.is((await both.getHead()).height, peer.ledger.tip.height);
    t.is((await both.fetchBalance(shop, null)).amount, COIN);
    t.is(await both.getBlockHash(peer.ledger.tip.height), peer.ledger.tip.hash);
  }
});

test('G28 G8 lies in state: an output of another script, amounts that are none, a head that moves', async (t) => {
  const peer = await openStandIn(t),
    client = peer.client();
  peer.pay(shop, COIN);
  peer.mine(1);
  const answering = (method: string, change: (honest: Record<string, unknown>) => unknown) => {
    peer.node.lie = (asked, _params, honest) =>
      asked === method ? change(honest() as Record<string, unknown>) : honest();
  };
  answering('gettxout', (coin) => ({ ...coin, scriptPubKey: { hex: '0014' } }));
  await t.throwsAsync(() => client.fetchBalance(shop, null), { instanceOf: MalformedReply });
  answering('gettxout', (coin) => ({ ...coin, value: '1.000000001' }));
  await t.throwsAsync(() => client.fetchBalance(shop, null), { instanceOf: MalformedReply });
  answering('gettxout', (coin) => ({ ...coin, value: -1 }));
  await t.throwsAsync(() => client.fetchBalance(shop, null), { instanceOf: MalformedReply });
  answering('getbestblockhash', () => 'ab'.repeat(32));
  await t.throwsAsync(() => client.fetchBalance(shop, null), { ...unavailable, message: /head moved/ });
  answering('getblockchaininfo', (info) => ({ ...info, bestblockhash: null }));
  await t.throwsAsync(() => client.getHead(), { instanceOf: MalformedReply });
  peer.node.lie = null;
  t.is((await client.fetchBalance(shop, null)).amount, COIN);
});

test('C1-12 a rollback that the only node shows is answered as it is, and the chain goes on from there', async (t) => {
  const peer = await openStandIn(t),
    client = peer.client();
  peer.mine(3);
  const before = await client.getHead();
  peer.node.lagBlocks = 3;
  t.is((await client.getHead()).height, before.height - 3);
  peer.node.lagBlocks = 0;
  peer.reorg(2);
  t.like(await client.getHead(), { height: before.height + 1, hash: peer.ledger.tip.hash });
  t.not(await client.getBlockHash(before.height), before.hash);
});

test('B18 the estimate of a node is read without loss, and none is none', async (t) => {
  const peer = await openStandIn(t);
  peer.pay(sender.address, COIN);
  peer.mine(1);
  const intent = {
    chain: 'btc',
    from: sender.address,
    fromPath: sender.path,
    to: RECIPIENT,
    amount: 1_000n,
    token: null,
    tag: null,
  } as const;
  t.is((await peer.client().fetchBuildInputs(intent)).estimateSatPerKvb, null);
  peer.node.estimateSatPerKvb = 1_234_567n;
  t.like(await peer.client().fetchBuildInputs(intent), {
    estimateSatPerKvb: '1234567',
    incrementalSatPerKvb: '100',
    relayMinSatPerKvb: '100',
    mempoolMinSatPerKvb: '100',
  });
});
