/** Every refusal that a real Core-family node can be brought to give, by its own text. chains.md 4.2. */
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import { Transaction } from 'bitcoinjs-lib';
import { litecoinRegtest as network } from '../../chains/btc/network.ts';
import { signatureHash, unlock, type Spent } from '../../chains/btc/spending.ts';
import { buildUnsigned } from '../../chains/btc/unsigned.ts';
import type { Intent, Signed } from '../../chains/chain.ts';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { btcSigner } from '../../edge/signing/signers/btc.ts';
import { accepted, own, scriptFor, type Own } from '../support/btc-inputs.ts';
import { openBtcNode, type BtcNode } from '../support/btc-node.ts';

type Node = BtcNode & { close(): Promise<void> };
const test = anyTest as TestFn<Node>;
const COIN = 100_000_000n;
let next = 3_000;

test.before(async (t) => {
  t.context = await openBtcNode();
});
test.after.always((t) => t.context.close());

interface Funded {
  readonly from: Own;
  readonly coins: readonly { txid: string; vout: number; value: bigint }[];
}

async function fund(node: Node, ...amounts: bigint[]): Promise<Funded> {
  const from = own((next += 1), 'p2wpkh', network);
  for (const amount of amounts) await node.pay(from.address, amount);
  await node.mine(1);
  const { coins } = await node.client.fetchBuildInputs(intent(from, 1_000n));
  return {
    from,
    coins: coins
      .map(({ txid, vout, valueSats }) => ({ txid, vout, value: BigInt(valueSats) }))
      .toSorted((a, b) => Number(b.value - a.value)),
  };
}

const intent = (from: Own, amount: bigint | 'all'): Intent => ({
  chain: 'btc',
  from: from.address,
  fromPath: from.path,
  to: from.address,
  amount,
  token: null,
  tag: null,
});

interface Shape {
  readonly outputs: readonly [script: Uint8Array, value: bigint][];
  readonly sequence?: number;
  readonly locktime?: number;
  readonly spoil?: (transaction: Transaction) => void;
}

/** Signed bytes of any shape: what our own builder would never make. */
function raw(
  { from }: { from: Own },
  coins: Funded['coins'],
  { outputs, sequence = 0xffff_fffd, locktime = 0, spoil }: Shape,
): Signed {
  const transaction = new Transaction(),
    publicKey = secp256k1.getPublicKey(from.privateKey, true);
  transaction.version = 2;
  transaction.locktime = locktime;
  for (const { txid, vout } of coins) transaction.addInput(Buffer.from(txid, 'hex').reverse(), vout, sequence);
  for (const [script, value] of outputs) transaction.addOutput(script, value);
  const spent: Spent[] = coins.map(({ value }) => ({ script: from.script, value }));
  coins.forEach((_, index) => {
    const der = secp256k1.sign(signatureHash(transaction, index, spent, publicKey), from.privateKey, {
      prehash: false,
      lowS: true,
      format: 'der',
    });
    unlock(transaction, index, from.script, { signature: Uint8Array.of(...der, 1), publicKey });
  });
  spoil?.(transaction);
  return { chain: 'btc', payload: transaction.toHex(), txid: transaction.getId() };
}

/** The refusal of the client, and the node's own text as it stands in it. */
async function refused(
  t: ExecutionContext<Node>,
  signed: Signed,
  text: RegExp,
  action: string,
  by: BtcNode = t.context,
): Promise<void> {
  const result = await by.client.broadcast(signed);
  t.is(result.kind, 'rejected_final', JSON.stringify(result));
  if (result.kind !== 'rejected_final') return;
  t.is(result.refusal.code, 'CHAIN_REJECTED');
  t.regex(String(result.refusal.details['reason']), text);
  t.is(result.refusal.details['action'], action);
}
const send = async (t: ExecutionContext<Node>, signed: Signed) =>
  t.is((await t.context.client.broadcast(signed)).kind, 'accepted');

test.serial('4.2 min relay fee not met: reprice', async (t) => {
  const funded = await fund(t.context, COIN),
    { from, coins } = funded;
  await refused(t, raw(funded, coins, { outputs: [[from.script, COIN - 10n]] }), /^min relay fee not met/, 'reprice');
});

test.serial('4.2 4.6 B14 dust: rebuild, never retried', async (t) => {
  const funded = await fund(t.context, COIN),
    { from, coins } = funded;
  await refused(
    t,
    raw(funded, coins, {
      outputs: [
        [from.script, 293n],
        [from.script, COIN - 2_000n],
      ],
    }),
    /^dust$/,
    'rebuild',
  );
  await send(
    t,
    raw(funded, coins, {
      outputs: [
        [from.script, 294n],
        [from.script, COIN - 2_000n],
      ],
    }),
  );
});

test.serial("4.2 a fee above the node's own limit is a fault of the builder, and the limit stays on", async (t) => {
  const funded = await fund(t.context, COIN),
    { from, coins } = funded;
  await refused(
    t,
    raw(funded, coins, { outputs: [[from.script, COIN / 2n]] }),
    /^fee exceeds maximum configured/,
    'rebuild',
  );
});

test.serial('4.2 bad-txns-inputs-missingorspent: unknown, never a refusal; decided by a look-up', async (t) => {
  const funded = await fund(t.context, COIN),
    { from, coins } = funded;
  const missing = raw(funded, [{ ...coins[0]!, txid: '1'.repeat(64) }], { outputs: [[from.script, COIN - 500n]] });
  const result = await t.context.client.broadcast(missing);
  t.like(result, { kind: 'unknown' });
  t.regex(JSON.stringify(result), /missingorspent|missing inputs/);
});

test.serial('4.2 4.6 B3 B19 a reward is spent only when it is deep enough, and never offered before', async (t) => {
  const node = t.context,
    from = own((next += 1), 'p2wpkh', network);
  const [hash] = await node.mine(1, from.address);
  const block = await node.node.rpc<{ tx: string[]; height: number }>('getblock', [hash]);
  const coin = { txid: block.tx[0]!, vout: 0, value: 50n * COIN };
  const signed = raw({ from }, [coin], { outputs: [[from.script, 50n * COIN - 500n]] });
  await node.mine(58);
  await refused(
    t,
    signed,
    /^bad-txns-premature-spend-of-coinbase, tried to spend coinbase at depth 59$/,
    'wait_for_maturity',
  );
  t.deepEqual(await node.client.fetchBalance(from.address, null), {
    amount: 50n * COIN,
    reserved: 50n * COIN,
    available: 0n,
    decimals: 8,
    accountExists: true,
  });
  t.like(buildUnsigned(network, await node.client.fetchBuildInputs(intent(from, 1_000n)), intent(from, 1_000n), null), {
    code: 'INSUFFICIENT_FUNDS',
  });
  await node.mine(41);
  t.is((await node.client.fetchBalance(from.address, null)).available, 0n, '100 confirmations');
  await node.mine(1);
  t.is((await node.client.fetchBalance(from.address, null)).available, 50n * COIN, '101 confirmations');
  const unsigned = accepted(
    buildUnsigned(network, await node.client.fetchBuildInputs(intent(from, 'all')), intent(from, 'all'), null),
  );
  await send(t, btcSigner.sign(network, unsigned, { privateKey: from.privateKey }));
});

test.serial(
  '4.2 non-final: a lock time ahead of the node is no refusal while the node is behind it, and none of ours',
  async (t) => {
    const funded = await fund(t.context, COIN),
      { from, coins } = funded,
      { height } = await t.context.client.getHead();
    const early = raw(funded, coins, { outputs: [[from.script, COIN - 500n]], locktime: height + 5 });
    const result = await t.context.client.broadcast(early);
    t.like(result, { kind: 'unknown' });
    t.regex(JSON.stringify(result), /non-final/);
    await refused(
      t,
      raw(funded, coins, { outputs: [[from.script, COIN - 500n]], locktime: 0xffff_0000 }),
      /^non-final$/,
      'rebuild',
    );
    await t.context.mine(5);
    await send(t, early);
  },
);

test.serial('4.2 a bad signature is refused for good', async (t) => {
  const funded = await fund(t.context, COIN),
    { from, coins } = funded;
  const spoiled = raw(funded, coins, {
    outputs: [[from.script, COIN - 500n]],
    spoil: (transaction) => {
      transaction.ins[0]!.witness[0]![40]! ^= 1;
    },
  });
  await refused(t, spoiled, /script-verify-flag/, 'none');
});

test.serial('4.2 more out than in, and bytes that are none, are refused for good', async (t) => {
  const funded = await fund(t.context, COIN),
    { from, coins } = funded;
  await refused(t, raw(funded, coins, { outputs: [[from.script, COIN + 1n]] }), /^bad-txns-in-belowout/, 'none');
  const bare = new Transaction();
  bare.addInput(Buffer.alloc(32, 1), 0);
  await refused(
    t,
    { chain: 'btc', payload: bare.toHex(), txid: bare.getId() },
    /^tx decode failed|^bad-txns-vout-empty/,
    'none',
  );
});

test.serial('4.2 B16 insufficient fee, rejecting replacement: reprice', async (t) => {
  const funded = await fund(t.context, COIN),
    { from, coins } = funded;
  await send(t, raw(funded, coins, { outputs: [[from.script, COIN - 1_000n]] }));
  await refused(t, raw(funded, coins, { outputs: [[from.script, COIN - 1_050n]] }), /^insufficient fee/, 'reprice');
  await refused(
    t,
    raw(funded, coins, { outputs: [[from.script, COIN - 900n]] }),
    /^insufficient fee, rejecting replacement/,
    'reprice',
  );
  await send(t, raw(funded, coins, { outputs: [[from.script, COIN - 1_500n]] }));
});

test.serial('4.2 B15 a payment that does not signal replacement keeps its coin: txn-mempool-conflict', async (t) => {
  const funded = await fund(t.context, COIN),
    { from, coins } = funded;
  await send(t, raw(funded, coins, { outputs: [[from.script, COIN - 1_000n]], sequence: 0xffff_ffff }));
  await refused(
    t,
    raw(funded, coins, { outputs: [[from.script, COIN - 50_000n]] }),
    /^txn-mempool-conflict$/,
    'other_inputs',
  );
});

test.serial('4.2 B16 replacement-adds-unconfirmed: other inputs', async (t) => {
  const funded = await fund(t.context, COIN, COIN / 2n),
    { from, coins } = funded;
  await send(t, raw(funded, [coins[0]!], { outputs: [[from.script, COIN - 1_000n]] }));
  const parent = raw(funded, [coins[1]!], { outputs: [[from.script, COIN / 2n - 1_000n]] });
  await send(t, parent);
  const unconfirmed = { txid: parent.txid, vout: 0, value: COIN / 2n - 1_000n };
  await refused(
    t,
    raw(funded, [coins[0]!, unconfirmed], { outputs: [[from.script, COIN + COIN / 2n - 100_000n]] }),
    /^replacement-adds-unconfirmed/,
    'other_inputs',
  );
});

test.serial('4.2 too-long-mempool-chain: wait for a confirmation', async (t) => {
  const funded = await fund(t.context, COIN),
    { from } = funded;
  let coin = funded.coins[0]!;
  for (let depth = 0; depth < 25; depth += 1) {
    const signed = raw(funded, [coin], { outputs: [[from.script, coin.value - 500n]] });
    await send(t, signed);
    coin = { txid: signed.txid, vout: 0, value: coin.value - 500n };
  }
  const onward = raw(funded, [coin], { outputs: [[from.script, coin.value - 500n]] });
  await refused(t, onward, /^too-long-mempool-chain/, 'wait_for_confirmation');
  await t.context.mine(1);
  await send(t, onward);
});

test.serial('4.2 B16 too many potential replacements: other inputs', async (t) => {
  const funded = await fund(t.context, ...Array.from({ length: 5 }, () => COIN)),
    { from, coins } = funded;
  for (const coin of coins) {
    const fan = raw(funded, [coin], { outputs: Array.from({ length: 21 }, () => [from.script, 4_760_000n]) });
    await send(t, fan);
    for (let vout = 0; vout < 21; vout += 1) {
      await send(
        t,
        raw(funded, [{ txid: fan.txid, vout, value: 4_760_000n }], { outputs: [[from.script, 4_750_000n]] }),
      );
    }
  }
  const signed = raw(funded, coins, { outputs: [[from.script, 5n * COIN - 3_000_000n]] });
  await refused(t, signed, /too many potential replacements/, 'other_inputs');
});

test.serial('4.2 already known: in the pool and in a block', async (t) => {
  const funded = await fund(t.context, COIN),
    { coins } = funded;
  const signed = raw(funded, coins, {
    outputs: [[scriptFor(own((next += 1), 'p2tr', network).address, network), COIN - 500n]],
  });
  await send(t, signed);
  const [tested] = await t.context.node.rpc<{ 'reject-reason': string }[]>('testmempoolaccept', [[signed.payload]]);
  t.is(tested!['reject-reason'], 'txn-already-in-mempool');
  await t.context.mine(1);
  await t.throwsAsync(() => t.context.node.rpc('sendrawtransaction', [signed.payload]), {
    message: /ransaction already in block chain/,
  });
  t.deepEqual(await t.context.client.broadcast(signed), { kind: 'already_known', txid: signed.txid });
});

test.serial(
  '4.2 B16 B18 mempool min fee not met: a full pool raises its minimum, and the next build pays it',
  async (t) => {
    const node = await openBtcNode(['-maxmempool=5']);
    t.teardown(() => node.close());
    const funded = await fund(node, COIN, ...Array.from({ length: 60 }, () => COIN / 50n)),
      { from, coins } = funded;
    const others = own((next += 1), 'p2wpkh', network).script;
    const crowd = Array.from({ length: 2_600 }, (): [Uint8Array, bigint] => [others, 600n]);
    for (const coin of coins.slice(1)) {
      await node.node
        .rpc('sendrawtransaction', [
          raw(funded, [coin], { outputs: [...crowd, [from.script, coin.value - 1_560_000n - 90_000n]] }).payload,
        ])
        .catch(() => undefined);
    }
    const cheap = raw(funded, [coins[0]!], { outputs: [[from.script, COIN - 120n]] });
    await refused(t, cheap, /^mempool min fee not met/, 'reprice', node);
    const inputs = { ...(await node.client.fetchBuildInputs(intent(from, 'all'))), estimateSatPerKvb: null };
    t.true(BigInt(inputs.mempoolMinSatPerKvb) > 1_000n);
    const one = {
      ...inputs,
      coins: inputs.coins.filter(({ txid, spender }) => txid === coins[0]!.txid && spender === null),
    };
    const unsigned = accepted(buildUnsigned(network, one, intent(from, 'all'), null));
    t.is(
      (await node.client.broadcast(btcSigner.sign(network, unsigned, { privateKey: from.privateKey }))).kind,
      'accepted',
    );
  },
);
