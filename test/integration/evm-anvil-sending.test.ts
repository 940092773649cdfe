/** Build, sign, submit, replace and bury transactions on a real EVM node. */
import test, { type ExecutionContext } from 'ava';
import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { addressOfHex } from '../../chains/evm/address.ts';
import { deriveAddress } from '../../chains/evm/derive.ts';
import { txidOf } from '../../chains/evm/envelope.ts';
import { bsc, eth, evmNetworks, polygon, type EvmNetwork } from '../../chains/evm/network.ts';
import { buildUnsigned, cancel, reprice } from '../../chains/evm/unsigned.ts';
import {
  MalformedReply,
  type BroadcastResult,
  type Endpoint,
  type Intent,
  type Signed,
  type Unsigned,
} from '../../chains/chain.ts';
import { evmSigner } from '../../edge/signing/signers/evm.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { startAnvil, type Anvil } from '../support/anvil.ts';
import { distorted, failing, stuckAt } from '../support/distorted-endpoint.ts';
import { catalogueOfTokens, readerOf, supply, tokenAt, type Reader } from '../support/evm-client.ts';
import { EXPENSIVE_RECEIVER_CODE, feeOracleCode, tokenCode } from '../support/evm-contracts.ts';

const account = HDKey.fromMasterSeed(mnemonicToSeedSync(`${'abandon '.repeat(11)}about`)).derive("m/44'/60'/0'");
const { address: FROM, path: PATH } = deriveAddress(eth, account.publicExtendedKey, 0, 0);
const key = { privateKey: account.derive('m/0/0').privateKey! };
const address = (number: number) => addressOfHex(number.toString(16).padStart(40, '0'));
const SHOP = address(0x5a09),
  COIN = 10n ** 18n;

async function start(t: ExecutionContext, network: EvmNetwork = eth): Promise<{ anvil: Anvil } & Reader> {
  const anvil = await startAnvil(t, network, { automine: false });
  await anvil.fund(FROM, COIN);
  if (network.l1FeeOracle !== null) await anvil.setCode(network.l1FeeOracle, feeOracleCode(10n ** 9n, null));
  await anvil.mine(1);
  return { anvil, ...readerOf(network, [anvil.endpoint]) };
}

const intentOf = (network: EvmNetwork, more: Partial<Intent> = {}): Intent => ({
  chain: network.slug,
  from: FROM,
  fromPath: PATH,
  to: SHOP,
  amount: 1_000n,
  token: null,
  tag: null,
  ...more,
});

async function build(
  { client }: Reader,
  network: EvmNetwork,
  more: Partial<Intent> = {},
  nonce?: number,
): Promise<Unsigned> {
  const intent = intentOf(network, more);
  const unsigned = buildUnsigned(
    network,
    await client.fetchBuildInputs(intent),
    intent,
    nonce === undefined ? null : { kind: 'nonce', value: nonce },
  );
  if (isRefusal(unsigned)) throw new Error(JSON.stringify(unsigned));
  return unsigned;
}
const sign = (network: EvmNetwork, unsigned: Unsigned): Signed => evmSigner.sign(network, unsigned, key);
const again = async (
  make: typeof reprice | typeof cancel,
  reader: Reader,
  network: EvmNetwork,
  old: Unsigned,
): Promise<Unsigned> => {
  const next = make(network, old, await reader.client.fetchBuildInputs(intentOf(network)));
  if (isRefusal(next)) throw new Error(JSON.stringify(next));
  return next;
};

for (const network of evmNetworks) {
  test(`G25 G26 G28 V32 V33 V35 ${network.slug}: built by the cloud, signed at the edge, accepted, known, pending, included`, async (t) => {
    const { anvil, ...reader } = await start(t, network);
    const unsigned = await build(reader, network),
      signed = sign(network, unsigned);
    t.deepEqual(await reader.client.broadcast(signed), { kind: 'accepted', txid: signed.txid });
    t.deepEqual(await reader.client.broadcast(signed), { kind: 'already_known', txid: signed.txid });
    t.deepEqual(await reader.client.getFate(unsigned, signed.txid), { kind: 'pending' });
    t.is(await reader.client.getOutcome(signed.txid), null);
    await anvil.mine();
    const fate = await reader.client.getFate(unsigned, signed.txid);
    t.like(fate, { kind: 'included', height: 2, outcome: { success: true, txid: signed.txid } });
    t.deepEqual(
      await reader.client.broadcast(signed),
      { kind: 'already_known', txid: signed.txid },
      'nonce too low, and it is ours',
    );
    const { amount } = await reader.client.fetchBalance(SHOP, null),
      left = (await reader.client.fetchBalance(FROM, null)).amount;
    t.is(amount, 1_000n);
    t.is(left, COIN - 1_000n - (fate.kind === 'included' ? fate.outcome.fee! : 0n), 'the fee is what the outcome says');
    t.true(COIN - 1_000n - left <= unsigned.feeMax);
  });
}

test('V17 V34 tokens with and without a return value, of 6 and 18 decimals, are sent; one that answers "no" is refused', async (t) => {
  const { anvil } = await start(t);
  const shapes = [
    { decimals: 6, returns: 'nothing' },
    { decimals: 18, returns: 'true' },
  ] as const;
  for (const [i, shape] of shapes.entries()) {
    const token = tokenAt(eth, 0x7c00 + i, { decimals: shape.decimals });
    await anvil.setCode(token.contract, tokenCode(shape));
    await supply(anvil, FROM, token, 500n);
    await anvil.mine();
    const reader = readerOf(eth, [anvil.endpoint], catalogueOfTokens(token));
    const unsigned = await build(reader, eth, { token, amount: 'all' }),
      signed = sign(eth, unsigned);
    t.is((await reader.client.broadcast(signed)).kind, 'accepted');
    await anvil.mine();
    t.like(await reader.client.getFate(unsigned, signed.txid), { kind: 'included', outcome: { success: true } });
    t.is((await reader.client.fetchBalance(SHOP, token)).amount, 500n);
  }
  const liar = tokenAt(eth, 0x7c09);
  await anvil.setCode(liar.contract, tokenCode({ returns: 'false' }));
  await supply(anvil, FROM, liar, 500n);
  await anvil.mine();
  const intent = intentOf(eth, { token: liar, amount: 5n });
  t.like(buildUnsigned(eth, await readerOf(eth, [anvil.endpoint]).client.fetchBuildInputs(intent), intent, null), {
    code: 'CHAIN_REJECTED',
    details: { reason: 'the token refuses the transfer' },
  });
});

test('V36 C4-40 a send-all lands and leaves less than it could have cost; V43 a sweep leaves exactly what it was told', async (t) => {
  for (const network of evmNetworks) {
    const { anvil, ...reader } = await start(t, network);
    const all = await build(reader, network, { amount: 'all' }),
      signed = sign(network, all);
    t.is((await reader.client.broadcast(signed)).kind, 'accepted', network.slug);
    await anvil.mine();
    t.like(await reader.client.getFate(all, signed.txid), { kind: 'included', outcome: { success: true } });
    t.true((await reader.client.fetchBalance(FROM, null)).amount < all.feeMax);
    await anvil.fund(FROM, COIN);
    const sweep = await build(reader, network, { amount: 'all', leave: 777n });
    t.is((await reader.client.broadcast(sign(network, sweep))).kind, 'accepted', network.slug);
    await anvil.mine();
    const l1Slack = network.l1FeeOracle === null ? 0n : BigInt(sweep.fee['l1Reserve']!);
    t.is((await reader.client.fetchBalance(FROM, null)).amount, 777n + l1Slack, network.slug);
  }
});

test('V34 V20 a destination with code gets an estimate with headroom, not 21,000', async (t) => {
  const { anvil, ...reader } = await start(t);
  await anvil.setCode(SHOP, EXPENSIVE_RECEIVER_CODE);
  const unsigned = await build(reader, eth);
  t.true(BigInt(unsigned.fee['gasLimit']!) > 40_000n);
  const signed = sign(eth, unsigned);
  await reader.client.broadcast(signed);
  await anvil.mine();
  t.like(await reader.client.getFate(unsigned, signed.txid), { kind: 'included', outcome: { success: true } });
});

test("V37 G27 a repriced version displaces the first; the first is dead only with the other's hash at finality depth", async (t) => {
  const { anvil, ...reader } = await start(t);
  const first = await build(reader, eth),
    signedFirst = sign(eth, first);
  await reader.client.broadcast(signedFirst);
  const second = await again(reprice, reader, eth, first),
    signedSecond = sign(eth, second);
  t.deepEqual(await reader.client.broadcast(signedSecond), { kind: 'accepted', txid: signedSecond.txid });
  await anvil.mine();
  t.like(await reader.client.getFate(second, signedSecond.txid), { kind: 'included' });
  t.like(await reader.client.getFate(first, signedFirst.txid), { kind: 'unknown' }, 'not deep enough yet');
  await anvil.mine(eth.threshold - 1);
  t.like(await reader.client.getFate(first, signedFirst.txid), { kind: 'unknown' });
  await anvil.mine(2);
  const fate = await reader.client.getFate(first, signedFirst.txid);
  t.is(fate.kind, 'dead');
  t.regex(fate.kind === 'dead' ? fate.proof : '', new RegExp(`nonce 0 was used by ${signedSecond.txid} at height 2`));
  t.like(await reader.client.broadcast(signedFirst), { kind: 'unknown' }, 'a used nonce alone is no final refusal');
});

test('G27 without old state two endpoints must agree, and each must keep receipts of that time', async (t) => {
  const { anvil, ...reader } = await start(t);
  const first = await build(reader, eth),
    second = await again(reprice, reader, eth, first);
  await reader.client.broadcast(sign(eth, second));
  await anvil.mine(eth.threshold + 3);
  const txid = sign(eth, first).txid,
    head = await anvil.height();
  // The state at finality depth is kept, older state is not.
  const pruned = (name: string) =>
    distorted(anvil.endpoint, name, {
      before: ({ id, method, params }) =>
        method === 'eth_getTransactionCount' &&
        /^0x/.test(String(params[1])) &&
        Number(params[1]) < head - eth.threshold
          ? { id, error: { code: -32_000, message: 'missing trie node' } }
          : undefined,
    });
  t.like(await readerOf(eth, [pruned('a'), pruned('b')]).client.getFate(first, txid), { kind: 'dead' });
  const noReceipts = failing(pruned('c'), 'c', 'eth_getBlockReceipts', { code: -32_000, message: 'pruned' });
  t.like(await readerOf(eth, [noReceipts, noReceipts]).client.getFate(first, txid), { kind: 'unknown' });
  const noState = failing(anvil.endpoint, 'd', 'eth_getTransactionCount', {
    code: -32_000,
    message: 'missing trie node',
  });
  await t.throwsAsync(() => readerOf(eth, [noState]).client.getFate(first, txid), { message: /missing trie node/ });
});

test('V38 a cancel takes the nonce, and the payment it stopped is proven dead', async (t) => {
  const { anvil, ...reader } = await start(t, polygon);
  const payment = await build(reader, polygon);
  await reader.client.broadcast(sign(polygon, payment));
  const stop = await again(cancel, reader, polygon, payment);
  t.is((await reader.client.broadcast(sign(polygon, stop))).kind, 'accepted');
  await anvil.mine(polygon.threshold + 2);
  t.is((await reader.client.fetchBalance(SHOP, null)).amount, 0n);
  t.like(await reader.client.getFate(payment, sign(polygon, payment).txid), { kind: 'dead' });
});

test('5.2 C6-54 an underpriced replacement and an unpayable price are refusals that say "reprice"', async (t) => {
  const { anvil, ...reader } = await start(t);
  const unsigned = await build(reader, eth);
  await reader.client.broadcast(sign(eth, unsigned));
  const same = await build(reader, eth, { amount: 2_000n }, 0);
  t.like(refusalOf(await reader.client.broadcast(sign(eth, same))), {
    code: 'CHAIN_REJECTED',
    details: { action: 'reprice' },
  });
  await anvil.mine();
  const cheap = await build(reader, eth, {}, 1);
  await anvil.rpc('anvil_setNextBlockBaseFeePerGas', '0xe8d4a51000');
  await anvil.mine();
  t.like(refusalOf(await reader.client.broadcast(sign(eth, cheap))), {
    code: 'CHAIN_REJECTED',
    details: { action: 'reprice' },
  });
});

const refusalOf = (result: BroadcastResult) => {
  if (result.kind !== 'rejected_final') throw new Error(`expected a refusal, got ${JSON.stringify(result)}`);
  return result.refusal;
};

test("X1 a node's one text for two shortages is told apart by the balance", async (t) => {
  const { anvil, ...reader } = await start(t);
  const half = sign(eth, await build(reader, eth, { amount: COIN / 2n }));
  await anvil.fund(FROM, COIN / 2n);
  t.like(refusalOf(await reader.client.broadcast(half)), { code: 'INSUFFICIENT_GAS', details: { action: 'fund' } });
  await anvil.fund(FROM, COIN / 4n);
  t.like(refusalOf(await reader.client.broadcast(half)), {
    code: 'INSUFFICIENT_FUNDS',
    details: { required: (COIN / 2n).toString(), balance: (COIN / 4n).toString() },
  });
});

test('V39 C6-52 a gap is no refusal: the bytes wait until the missing nonce is there', async (t) => {
  const { anvil, ...reader } = await start(t);
  const later = sign(eth, await build(reader, eth, {}, 1)),
    now = sign(eth, await build(reader, eth, { amount: 5n }, 0));
  t.true(['accepted', 'unknown'].includes((await reader.client.broadcast(later)).kind));
  await anvil.mine();
  t.is(await reader.client.getOutcome(later.txid), null);
  t.is((await reader.client.broadcast(now)).kind, 'accepted');
  await reader.client.broadcast(later);
  await anvil.mine(2);
  t.true((await reader.client.getOutcome(later.txid))?.success);
  const refused = failing(anvil.endpoint, 'strict', 'eth_sendRawTransaction', {
    code: -32_000,
    message: 'nonce too high',
  });
  t.like(await readerOf(eth, [refused]).client.broadcast(sign(eth, await build(reader, eth, {}, 9))), {
    kind: 'unknown',
  });
});

test('G26 V41 a node that is behind, overloaded or silent never makes a refusal final; the next one is asked with the same bytes', async (t) => {
  const { anvil, ...reader } = await start(t);
  const signed = sign(eth, await build(reader, eth));
  const says = (code: number, message: string): Endpoint =>
    failing(anvil.endpoint, message.slice(0, 8), 'eth_sendRawTransaction', { code, message });
  for (const [code, message] of [
    [-32_603, 'internal error'],
    [-32_005, 'limit exceeded'],
    [-32_000, 'txpool is full'],
    [-32_000, 'in-flight transaction limit reached for delegated accounts'],
    [503, 'http 503'],
  ] as const) {
    t.like(await readerOf(eth, [says(code, message)]).client.broadcast(signed), { kind: 'unknown' }, message);
  }
  await anvil.mine(4);
  const behind = stuckAt(says(-32_000, 'insufficient funds for gas * price + value'), 'behind', () => 1);
  const two = readerOf(eth, [behind, says(-32_603, 'internal error')]);
  await two.client.getHead();
  t.like(await two.client.broadcast(signed), { kind: 'unknown' }, 'behind, so no judge');
  const rescued = readerOf(eth, [says(-32_000, 'insufficient funds for gas * price + value'), anvil.endpoint]);
  t.deepEqual(await rescued.client.broadcast(signed), { kind: 'accepted', txid: signed.txid }, 'V41');
  const late = readerOf(eth, [says(-32_000, 'transaction underpriced')]);
  t.deepEqual(
    await late.client.broadcast(signed),
    { kind: 'already_known', txid: signed.txid },
    'refused, and in a pool all the same',
  );
});

test('G28 a txid that is not the hash of the bytes, or another hash from the node, is a fault', async (t) => {
  const { anvil, ...reader } = await start(t);
  const signed = sign(eth, await build(reader, eth));
  t.is(txidOf(signed.payload), signed.txid);
  await t.throwsAsync(() => reader.client.broadcast({ ...signed, txid: `0x${'1'.repeat(64)}` }), {
    message: /not the hash/,
  });
  const lying = distorted(anvil.endpoint, 'lying', {
    after: ({ id, method }) =>
      method === 'eth_sendRawTransaction' ? { id, result: `0x${'2'.repeat(64)}` } : undefined,
  });
  await t.throwsAsync(() => readerOf(eth, [lying]).client.broadcast(signed), { instanceOf: MalformedReply });
});

test('V31 5.5 bytes for another chain are refused for good', async (t) => {
  const { anvil, ...reader } = await start(t);
  const onBsc = {
    ...sign(bsc, { ...(await build(reader, eth)), ...(await build(readerOf(bsc, [anvil.endpoint]), bsc)) }),
    chain: 'eth',
  } as Signed;
  t.like(refusalOf(await reader.client.broadcast(onBsc)), { code: 'CHAIN_REJECTED', details: { action: 'none' } });
});

test('5.5 bsc: after an endpoint refused a typed envelope the next build is an EIP-155 one, which lands', async (t) => {
  const { anvil } = await start(t, bsc);
  const old = distorted(anvil.endpoint, 'old', {
    before: ({ id, method, params }) =>
      method === 'eth_sendRawTransaction' && String(params[0]).startsWith('0x02')
        ? { id, error: { code: -32_000, message: 'transaction type not supported' } }
        : undefined,
  });
  const reader = readerOf(bsc, [old]);
  t.like(refusalOf(await reader.client.broadcast(sign(bsc, await build(reader, bsc)))), {
    code: 'CHAIN_REJECTED',
    details: { action: 'rebuild' },
  });
  const legacy = await build(reader, bsc);
  t.is(legacy.fee['type'], 0);
  const signed = sign(bsc, legacy);
  t.deepEqual(await reader.client.broadcast(signed), { kind: 'accepted', txid: signed.txid });
  await anvil.mine();
  t.true((await reader.client.getOutcome(signed.txid))?.success);
});

test('V32 the tip is the median of what blocks really paid; empty blocks do not count', async (t) => {
  const { anvil, ...reader } = await start(t);
  await anvil.fund(address(0xa11ce), COIN);
  for (let i = 0; i < 3; i++) {
    await anvil.send({ from: address(0xa11ce), to: SHOP, value: 1n });
    await anvil.mine(3);
  }
  const inputs = await reader.client.fetchBuildInputs(intentOf(eth));
  t.true(BigInt(inputs.tipPerGas) > 0n);
  t.like(inputs, { nonceLatest: 0, noncePending: 0, tokenBalance: null, gasPrice: null, envelope: 'eip1559' });
});
