/** Build, sign, submit, replace and bury payments on a real Core-family node. */
import anyTest, { type TestFn } from 'ava';
import { Transaction } from 'bitcoinjs-lib';
import { SCRIPT_TYPES } from '../../chains/btc/derive.ts';
import { outpointOf, type BtcInputs } from '../../chains/btc/coin.ts';
import { litecoinRegtest as network } from '../../chains/btc/network.ts';
import { buildUnsigned, reprice } from '../../chains/btc/unsigned.ts';
import { MalformedReply, type Intent, type Signed, type Unsigned } from '../../chains/chain.ts';
import { btcSigner } from '../../edge/signing/signers/btc.ts';
import { isRefusal, type Refusal } from '../../protocol/errors.ts';
import { accepted, own, psbtIn, type Own } from '../support/btc-inputs.ts';
import { clientOf, coinText, openBtcNode, type BtcNode } from '../support/btc-node.ts';
import { distorted, failing } from '../support/distorted-endpoint.ts';

const test = anyTest as TestFn<BtcNode & { close(): Promise<void> }>;
const COIN = 100_000_000n;
let next = 100;

test.before(async (t) => {
  t.context = await openBtcNode();
});
test.after.always((t) => t.context.close());

/** A sender of its own for each test, with coins of these amounts in blocks. */
async function sender(
  node: BtcNode,
  amounts: readonly bigint[],
  script: (typeof SCRIPT_TYPES)[number] = 'p2wpkh',
): Promise<Own> {
  const from = own((next += 1), script, network);
  for (const amount of amounts) await node.pay(from.address, amount);
  await node.mine(1);
  return from;
}

const intentOf = (from: Own, to: string, amount: bigint | 'all'): Intent => ({
  chain: 'btc',
  from: from.address,
  fromPath: from.path,
  to,
  amount,
  token: null,
  tag: null,
});

/** At the floor, whatever the node has come to estimate. */
async function inputsFor({ client }: BtcNode, intent: Intent): Promise<BtcInputs> {
  return { ...(await client.fetchBuildInputs(intent)), estimateSatPerKvb: null };
}

async function tryBuild(
  node: BtcNode,
  from: Own,
  to: string,
  amount: bigint | 'all',
  taken: readonly string[] = [],
): Promise<Unsigned | Refusal> {
  const intent = intentOf(from, to, amount);
  return buildUnsigned(network, await inputsFor(node, intent), intent, { kind: 'outpoints', value: taken });
}
const build = async (...args: Parameters<typeof tryBuild>): Promise<Unsigned> => accepted(await tryBuild(...args));
const sign = (unsigned: Unsigned, from: Own): Signed =>
  btcSigner.sign(network, unsigned, { privateKey: from.privateKey });
async function again(node: BtcNode, old: Unsigned, from: Own): Promise<Unsigned> {
  const result = reprice(network, old, await inputsFor(node, intentOf(from, old.to, old.sendAll ? 'all' : old.amount)));
  return accepted(result);
}
const outpoints = ({ replayKey }: Unsigned) => (replayKey.kind === 'outpoints' ? replayKey.value : []);

test.serial('B18 without data the fee is the floor, never zero; with data it is the estimate', async (t) => {
  const node = t.context,
    to = await node.outside(),
    from = await sender(node, [COIN]);
  t.deepEqual(await node.node.rpc('estimatesmartfee', [6, 'economical']), {
    errors: ['Insufficient data or no feerate found'],
    blocks: 0,
  });
  const inputs = await node.client.fetchBuildInputs(intentOf(from, to, 1_000n));
  t.like(inputs, {
    estimateSatPerKvb: null,
    relayMinSatPerKvb: '1000',
    mempoolMinSatPerKvb: '1000',
    incrementalSatPerKvb: '1000',
  });
  const wise = distorted(node.endpoint, 'wise', {
    after: ({ id, method }) =>
      method === 'estimatesmartfee' ? { id, result: { feerate: 0.00023456, blocks: 6 } } : undefined,
  });
  t.is((await clientOf([wise]).fetchBuildInputs(intentOf(from, to, 1_000n))).estimateSatPerKvb, '23456');
});

for (const type of SCRIPT_TYPES) {
  test.serial(
    `B11 B13 B15 G25 G26 G28 payments from ${type} to every script kind: built, signed, accepted, known, pending, included`,
    async (t) => {
      const node = t.context,
        from = await sender(node, [COIN, COIN], type);
      const { bech32 } = network.prefixes;
      const [wsh] = (
        await node.node.rpc<{ segwit: { addresses: string[] } }>('decodescript', [
          (0x51 + SCRIPT_TYPES.indexOf(type)).toString(16),
        ])
      ).segwit.addresses;
      const recipients = [...SCRIPT_TYPES.map((to) => own((next += 1), to, network).address), wsh!];
      t.true(wsh!.startsWith(bech32));
      for (const to of recipients) {
        const unsigned = await build(node, from, to, 5_000_000n),
          signed = sign(unsigned, from);
        const told = await node.node.rpc<{ fee: number; tx: { txid: string } }>('decodepsbt', [unsigned.payload]);
        t.is(coinText(unsigned.feeMax), told.fee.toFixed(8), 'the node reads the same fee from the payload');
        t.deepEqual(await node.client.broadcast(signed), { kind: 'accepted', txid: signed.txid });
        t.true(['accepted', 'already_known'].includes((await node.client.broadcast(signed)).kind));
        t.deepEqual(await node.client.getFate(unsigned, signed.txid), { kind: 'pending' });
        t.is(await node.client.getOutcome(signed.txid), null);
        const [hash] = await node.mine(1);
        const fate = await node.client.getFate(unsigned, signed.txid);
        t.like(fate, { kind: 'included', hash: hash!, outcome: { success: true, txid: signed.txid } });
        t.deepEqual(await node.client.broadcast(signed), { kind: 'already_known', txid: signed.txid }, 'in a block');
        const balance = await node.client.fetchBalance(to, null);
        t.deepEqual([balance.amount, balance.available], [5_000_000n, 5_000_000n], to);
        const entry = await node.node.rpc<{ vsize: number; locktime: number }>('getrawtransaction', [
          signed.txid,
          true,
          hash,
        ]);
        t.true(entry.vsize <= Number(unsigned.fee['vsize']));
        t.is(entry.locktime, unsigned.readAtHeight);
      }
    },
  );
}

test.serial(
  'B19 balance while a payment is on its way: what leaves is reserved, own change can be spent, another build takes other coins',
  async (t) => {
    const node = t.context,
      to = await node.outside(),
      from = await sender(node, [COIN, COIN / 2n]);
    const first = await build(node, from, to, 30_000_000n);
    t.like(await tryBuild(node, from, to, 70_000_000n, outpoints(first)), {
      code: 'INSUFFICIENT_FUNDS',
      details: { balance: '50000000', confirmed: '150000000' },
    });
    const other = await build(node, from, to, 20_000_000n, outpoints(first));
    t.false(
      outpoints(other).some((outpoint) => outpoints(first).includes(outpoint)),
      'locked for the first',
    );
    await node.client.broadcast(sign(first, from));
    const leaving = 30_000_000n + first.feeMax;
    t.deepEqual(await node.client.fetchBalance(from.address, null), {
      amount: 150_000_000n,
      reserved: leaving,
      available: 150_000_000n - leaving,
      decimals: 8,
      accountExists: true,
    });
    const child = await build(node, from, to, 100_000_000n);
    const change = outpointOf({ txid: sign(first, from).txid, vout: 1 });
    t.deepEqual(outpoints(child).toSorted(), [outpoints(other)[0]!, change].toSorted());
    t.is((await node.client.broadcast(sign(child, from))).kind, 'accepted');
    const grandchild = await tryBuild(node, from, to, 5_000_000n);
    t.like(
      grandchild,
      { code: 'INSUFFICIENT_FUNDS' },
      'change of change waits: the death of its parent could not be proven from the payload',
    );
    await node.mine(1);
    t.is(
      (await node.client.fetchBalance(from.address, null)).amount,
      150_000_000n - 130_000_000n - first.feeMax - child.feeMax,
    );
    t.is((await node.client.getFate(child, sign(child, from).txid)).kind, 'included');
  },
);

test.serial('V36 a send-all empties the address; dust that costs more than it holds stays', async (t) => {
  const node = t.context,
    to = own((next += 1), 'p2tr', network).address,
    from = await sender(node, [COIN, 20_000n, 300n]);
  const all = await build(node, from, to, 'all');
  t.is(all.amount, COIN + 20_300n - all.feeMax);
  const signed = sign(all, from);
  t.is((await node.client.broadcast(signed)).kind, 'accepted');
  await node.mine(1);
  t.is((await node.client.fetchBalance(to, null)).amount, all.amount);
  t.is(
    (await node.client.fetchBalance(from.address, null)).amount,
    0n,
    'a coin of 300 is worth its 68 vbytes at 1 sat',
  );
});

test.serial(
  "B16 B17 G27 a repriced payment displaces the first version; the first is dead only with the other's proof, threshold deep",
  async (t) => {
    const node = t.context,
      to = await node.outside(),
      from = await sender(node, [COIN]);
    const old = await build(node, from, to, 40_000_000n),
      oldSigned = sign(old, from);
    await node.client.broadcast(oldSigned);
    const better = await again(node, old, from),
      betterSigned = sign(better, from);
    t.true(better.feeMax >= old.feeMax + 141n);
    t.deepEqual(outpoints(better), outpoints(old));
    t.deepEqual(await node.client.broadcast(betterSigned), { kind: 'accepted', txid: betterSigned.txid });
    t.deepEqual(await node.client.getFate(better, betterSigned.txid), { kind: 'pending' });
    t.like(
      await node.client.getFate(old, oldSigned.txid),
      { kind: 'unknown' },
      'displaced is not dead: a miner may still have it',
    );
    t.like(await node.client.broadcast(oldSigned), {
      kind: 'rejected_final',
      refusal: { code: 'CHAIN_REJECTED', details: { action: 'reprice' } },
    });
    const [hash] = await node.mine(1);
    t.like(await node.client.getFate(better, betterSigned.txid), { kind: 'included', hash });
    t.like(await node.client.getFate(old, oldSigned.txid), { kind: 'unknown' }, 'one deep');
    t.like(reprice(network, better, await node.client.fetchBuildInputs(intentOf(from, to, 40_000_000n))), {
      code: 'CONFLICT',
    });
    t.is((await node.client.broadcast(oldSigned)).kind, 'unknown', 'its coin is spent: looked up, not refused');
    await node.mine(network.threshold - 1);
    const fate = await node.client.getFate(old, oldSigned.txid);
    t.is(fate.kind, 'dead');
    if (fate.kind === 'dead')
      t.regex(fate.proof, new RegExp(`${outpoints(old)[0]} was spent by ${betterSigned.txid} at height \\d+, 3 deep`));
  },
);

test.serial('B16 B17 where the change does not cover the rise, further coins join and the first stay', async (t) => {
  const node = t.context,
    to = await node.outside(),
    from = await sender(node, [10_000_000n, 500_000n]);
  const old = await build(node, from, to, 9_999_700n);
  t.is(psbtIn(old).outputs.length, 1);
  await node.client.broadcast(sign(old, from));
  const better = await again(node, old, from);
  t.is(outpoints(better).length, 2);
  t.is(outpoints(better)[0], outpoints(old)[0]);
  t.is(better.amount, old.amount);
  t.is((await node.client.broadcast(sign(better, from))).kind, 'accepted');
  await node.mine(1);
});

test.serial('B17 G27 a child dies with its displaced parent, and the payload itself proves it', async (t) => {
  const node = t.context,
    to = await node.outside(),
    from = await sender(node, [COIN]);
  const parent = await build(node, from, to, 10_000_000n),
    parentSigned = sign(parent, from);
  await node.client.broadcast(parentSigned);
  const child = await build(node, from, to, 20_000_000n),
    childSigned = sign(child, from);
  await node.client.broadcast(childSigned);
  t.like(reprice(network, parent, await node.client.fetchBuildInputs(intentOf(from, to, 10_000_000n))), {
    code: 'CONFLICT',
    details: { txid: childSigned.txid },
  });
  // Somebody with the same key displaces the parent all the same.
  const rival = accepted(
    buildUnsigned(
      network,
      {
        ...(await node.client.fetchBuildInputs(intentOf(from, to, 1n))),
        coins: psbtIn(parent).inputs.map(({ txid, vout, previous }) => ({
          txid,
          vout,
          valueSats: COIN.toString(),
          height: 1,
          coinbase: false,
          spender: null,
          previous: Buffer.from(previous!).toString('hex'),
        })),
        estimateSatPerKvb: '50000',
      },
      intentOf(from, to, 1_000_000n),
      null,
    ),
  );
  t.is((await node.client.broadcast(sign(rival, from))).kind, 'accepted');
  t.is((await node.client.getFate(child, childSigned.txid)).kind, 'unknown');
  await node.mine(network.threshold);
  const fate = await node.client.getFate(child, childSigned.txid);
  t.is(fate.kind, 'dead');
  if (fate.kind === 'dead') t.true(fate.proof.includes(sign(rival, from).txid));
  t.is((await node.client.getFate(parent, parentSigned.txid)).kind, 'dead');
});

test.serial(
  '4.6 a replacement that is confirmed leaves nothing of the old version: balance, coins and builds know one of them',
  async (t) => {
    const node = t.context,
      to = await node.outside(),
      from = await sender(node, [COIN]);
    const old = await build(node, from, to, 40_000_000n);
    await node.client.broadcast(sign(old, from));
    const better = await again(node, old, from),
      betterSigned = sign(better, from);
    await node.client.broadcast(betterSigned);
    const pending = await node.client.fetchBalance(from.address, null);
    t.is(pending.available, COIN - 40_000_000n - better.feeMax);
    const blocks = await node.mine(1);
    t.is(blocks.length, 1);
    const left = COIN - 40_000_000n - better.feeMax;
    t.deepEqual(await node.client.fetchBalance(from.address, null), {
      amount: left,
      reserved: 0n,
      available: left,
      decimals: 8,
      accountExists: true,
    });
    const { coins } = await node.client.fetchBuildInputs(intentOf(from, to, 1_000n));
    t.deepEqual(coins.map(outpointOf), [outpointOf({ txid: betterSigned.txid, vout: 1 })]);
    const after = await build(node, from, to, 'all');
    t.is((await node.client.broadcast(sign(after, from))).kind, 'accepted', 'no input of the old version is taken');
    await node.mine(1);
  },
);

test.serial(
  '4.6 an evicted or forgotten payment is not dead: its coins are unspent, the same bytes go again',
  async (t) => {
    const node = t.context,
      to = await node.outside(),
      from = await sender(node, [COIN]);
    const unsigned = await build(node, from, to, 10_000_000n),
      signed = sign(unsigned, from);
    t.like(await node.client.getFate(unsigned, signed.txid), {
      kind: 'unknown',
      reason: 'its coins are unspent in the chain, and the node does not know the transaction',
    });
    t.is((await node.client.broadcast(signed)).kind, 'accepted');
    await node.mine(1);
  },
);

test.serial(
  'G19 an included payment whose outputs are all spent again is found in the blocks, and without an index too',
  async (t) => {
    const node = t.context,
      relay = own((next += 1), 'p2wpkh', network),
      from = await sender(node, [COIN]);
    const all = await build(node, from, relay.address, 'all'),
      signed = sign(all, from);
    await node.client.broadcast(signed);
    const [hash] = await node.mine(1);
    const onward = await build(node, relay, await node.outside(), 'all');
    await node.client.broadcast(sign(onward, relay));
    await node.mine(2);
    t.like(await node.client.getFate(all, signed.txid), { kind: 'included', hash });
    const outcome = await node.client.getOutcome(signed.txid);
    t.like(outcome, { success: true, hash });
    t.deepEqual(await node.client.getOutcome(signed.txid, { height: outcome!.height, hash: hash! }), outcome);
    t.is(
      await node.client.getOutcome(signed.txid, {
        height: outcome!.height + 1,
        hash: (await node.client.getBlockHash(outcome!.height + 1)) ?? '',
      }),
      null,
    );
    t.is(
      await node.client.getOutcome(signed.txid, { height: outcome!.height, hash: '0'.repeat(64) }),
      null,
      'a block that is not on the chain',
    );
  },
);

test.serial('G28 a txid that is not the hash of the bytes, or another id from the node, is a fault', async (t) => {
  const node = t.context,
    from = await sender(node, [COIN]),
    signed = sign(await build(node, from, await node.outside(), 1_000_000n), from);
  await t.throwsAsync(() => node.client.broadcast({ ...signed, txid: '0'.repeat(64) }), { message: /not the hash/ });
  const liar = distorted(node.endpoint, 'liar', {
    after: ({ id, method }) => (method === 'sendrawtransaction' ? { id, result: '1'.repeat(64) } : undefined),
  });
  await t.throwsAsync(() => clientOf([liar]).broadcast(signed), { instanceOf: MalformedReply });
});

test.serial(
  'G26 a node that is busy or silent never makes a refusal final; the next one gets the same bytes',
  async (t) => {
    const node = t.context,
      from = await sender(node, [COIN]),
      unsigned = await build(node, from, await node.outside(), 1_000_000n),
      signed = sign(unsigned, from);
    const busy = failing(node.endpoint, 'busy', 'sendrawtransaction', { code: -28, message: 'Loading block index…' });
    const strict = failing(node.endpoint, 'strict', 'sendrawtransaction', {
      code: -26,
      message: 'min relay fee not met, 141 < 1410',
    });
    t.like(await clientOf([busy]).broadcast(signed), { kind: 'unknown' });
    t.like(await clientOf([strict, busy]).broadcast(signed), { kind: 'unknown' });
    t.like(await clientOf([strict]).broadcast(signed), {
      kind: 'rejected_final',
      refusal: { details: { action: 'reprice', reason: 'min relay fee not met, 141 < 1410' } },
    });
    t.deepEqual(await clientOf([busy, strict, node.endpoint]).broadcast(signed), {
      kind: 'accepted',
      txid: signed.txid,
    });
    t.like(await clientOf([strict]).broadcast(signed), { kind: 'already_known' }, 'it refuses, and yet it has it');
    await node.mine(1);
  },
);

test.serial('B12 a node that shows no previous transactions builds nothing that the edge would sign', async (t) => {
  const node = t.context,
    from = await sender(node, [COIN]),
    intent = intentOf(from, await node.outside(), 1_000_000n);
  const pruned = failing(node.endpoint, 'pruned', 'getrawtransaction', {
    code: -1,
    message: 'Block not available (pruned data)',
  });
  const inputs = await clientOf([pruned]).fetchBuildInputs(intent);
  t.deepEqual(
    inputs.coins.map(({ previous }) => previous),
    [null],
  );
  t.like(buildUnsigned(network, inputs, intent, null), { code: 'CHAIN_UNAVAILABLE' });
});

test.serial(
  'B19 the pool of a node of before Core 24 is searched; a large one hides the spender, and nothing is guessed',
  async (t) => {
    const node = t.context,
      from = await sender(node, [COIN, 70_000_000n]),
      unsigned = await build(node, from, await node.outside(), 1_000_000n);
    await node.client.broadcast(sign(unsigned, from));
    const crowded = distorted(node.endpoint, 'crowded', {
      after: ({ id, method }) =>
        method === 'getrawmempool'
          ? { id, result: Array.from({ length: 2_001 }, (_, i) => i.toString(16).padStart(64, '0')) }
          : undefined,
    });
    const { coins } = await clientOf([crowded]).fetchBuildInputs(intentOf(from, from.address, 1_000n));
    t.deepEqual(coins.map(({ spender }) => spender).sort(), ['hidden', null]);
    t.is((await clientOf([crowded]).fetchBalance(from.address, null)).available, 70_000_000n);
    const modern = distorted(node.endpoint, 'modern', {
      before: ({ id, method, params }) =>
        method === 'gettxspendingprevout'
          ? {
              id,
              result: (params[0] as { txid: string; vout: number }[]).map((one) => ({
                ...one,
                spendingtxid: sign(unsigned, from).txid,
              })),
            }
          : undefined,
    });
    t.deepEqual((await clientOf([modern]).fetchBuildInputs(intentOf(from, from.address, 1_000n))).coins.length, 3);
    await node.mine(1);
  },
);

test.serial('4.3 B5 a reorg takes a payment out and another block takes it in again, at each depth', async (t) => {
  const node = t.context,
    to = await node.outside(),
    from = await sender(node, [COIN]);
  const unsigned = await build(node, from, to, 1_000_000n),
    signed = sign(unsigned, from);
  await node.client.broadcast(signed);
  let [block] = await node.mine(1);
  const { height } = await node.client.getHead();
  for (const depth of [1, 2, 3, 5, 8, 10]) {
    await node.mine(depth - 1 - ((await node.client.getHead()).height - height));
    await node.node.rpc('invalidateblock', [block]);
    t.true((await node.node.rpc<string[]>('getrawmempool')).includes(signed.txid), 'back in the pool');
    const blocks = await node.mine(depth + 1, await node.outside());
    t.like(await node.client.getFate(unsigned, signed.txid), { kind: 'included', height, hash: blocks[0] });
    t.is(await node.client.getOutcome(signed.txid, { height, hash: block! }), null, 'the old block proves nothing');
    t.deepEqual(await node.client.getBlockHash(height), blocks[0]);
    block = blocks[0];
  }
  t.is(Transaction.fromHex(signed.payload).getId(), signed.txid);
});

test('an intent that the coins cannot pay is refused by code', async (t) => {
  const from = own((next += 1), 'p2wpkh', network);
  t.true(isRefusal(await tryBuild(t.context, from, from.address, 1_000n)));
});
