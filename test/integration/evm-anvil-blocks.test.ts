/** Payments, contracts and reorganisations on a real EVM node. */
import test from 'ava';
import { addressOfHex } from '../../chains/evm/address.ts';
import { avax, base, bsc, eth, evmNetworks, polygon } from '../../chains/evm/network.ts';
import { transfersIn } from '../../chains/evm/transfers.ts';
import { ChainUnavailable, type Catalogue, type Transfer } from '../../chains/chain.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { startAnvil } from '../support/anvil.ts';
import { lacking } from '../support/distorted-endpoint.ts';
import {
  blockCall,
  catalogueOfTokens,
  mintCall,
  payer,
  payload,
  readerOf,
  signedTransfer,
  supply,
  tokenAt,
  transferCall,
} from '../support/evm-client.ts';
import { FORWARDER_CODE, SELFDESTRUCT_CODE, tokenCode } from '../support/evm-contracts.ts';

const address = (number: number) => addressOfHex(number.toString(16).padStart(40, '0'));
const [PAYER, SHOP, OTHER, FORWARDER, DOOMED] = [0xa11ce, 0x5a09, 0xb0b, 0xf0f0, 0xd00d].map(address) as [
  string,
  string,
  string,
  string,
  string,
];
const brief = (transfers: readonly Transfer[]) =>
  transfers.map(({ outputIndex, to, amount, tokenContract }) => [outputIndex, to, amount, tokenContract]);
const COIN = 10n ** 18n;

for (const network of evmNetworks) {
  test(`V1 V2 V6 G9 ${network.slug}: native, token and internal payments of a block are read, proven and traced`, async (t) => {
    const anvil = await startAnvil(t, network, { automine: false });
    const token = tokenAt(network, 0x70c0, { decimals: 6 }),
      catalogue = catalogueOfTokens(token);
    await anvil.setCode(token.contract, tokenCode({ decimals: 6 }));
    await anvil.setCode(FORWARDER, FORWARDER_CODE);
    await anvil.setCode(DOOMED, SELFDESTRUCT_CODE);
    await anvil.fund(DOOMED, 9n);
    await supply(anvil, PAYER, token, 1_000n);
    await anvil.mine();
    const txids = [
      await anvil.send({ from: PAYER, to: SHOP, value: COIN }),
      await anvil.send({ from: PAYER, to: token.contract, data: transferCall(SHOP, 70n) }),
      await anvil.send({ from: PAYER, to: FORWARDER, value: 5n, data: payload(SHOP) }),
      await anvil.send({ from: PAYER, to: FORWARDER, value: 6n, data: payload(SHOP, 1n) }),
      await anvil.send({ from: PAYER, to: DOOMED, data: payload(SHOP) }),
      await anvil.send({ from: PAYER, to: token.contract, data: transferCall(SHOP, 5_000n) }),
    ];
    await anvil.mine();
    const { client } = readerOf(network, [anvil.endpoint], catalogue);
    const head = await client.getHead();
    const block = await client.getBlock(head.height);
    t.is(block.hash, head.hash);
    const { transfers, ignored } = transfersIn(network, block, catalogue);
    const of = (txid: string) => brief(transfers.filter((one) => one.txid === txid));
    t.deepEqual(of(txids[0]!), [[-1, SHOP, COIN, null]]);
    t.deepEqual(of(txids[1]!), [[0, SHOP, 70n, token.contract]]);
    // polygon tells internal transfers by logs of the chain, which this node does not write.
    const traced = network.traceMethods.length > 0;
    t.deepEqual(of(txids[2]!), [[-1, FORWARDER, 5n, null], ...(traced ? [[-2, SHOP, 5n, null]] : [])]);
    t.deepEqual(of(txids[4]!), traced ? [[-2, SHOP, 9n, null]] : []);
    for (const failed of [txids[3]!, txids[5]!]) {
      t.deepEqual(of(failed), []);
      t.deepEqual(
        ignored.filter((one) => one.txid === failed).map(({ reason }) => reason),
        ['transaction failed'],
      );
    }
    t.true(await client.seesInternal());
    const before = await client.getBlock(head.height - 1);
    t.is(block.parentHash, before.hash, 'G7');
    t.is(await client.nextHeight(head.height), null);
    t.is(await client.nextHeight(head.height - 1), head.height);
  });
}

test('V6 G2 both kinds of traces give one key for one payment', async (t) => {
  const anvil = await startAnvil(t, eth, { automine: false });
  await anvil.setCode(FORWARDER, FORWARDER_CODE);
  await anvil.fund(PAYER, COIN);
  await anvil.send({ from: PAYER, to: FORWARDER, value: 5n, data: payload(SHOP) });
  await anvil.mine();
  const flat = readerOf(eth, [lacking(anvil.endpoint, 'flat', 'debug_traceBlockByHash')]).client;
  const trees = readerOf(eth, [lacking(anvil.endpoint, 'trees', 'trace_block')]).client;
  const read = async (client: typeof flat) => transfersIn(eth, await client.getBlock(1), new Map()).transfers;
  t.deepEqual(await read(flat), await read(trees));
  t.is((await read(flat)).length, 2);
});

test('V7 G24 without traces internal payments are not guessed; the growth shows in balances at the block', async (t) => {
  const anvil = await startAnvil(t, eth, { automine: false });
  await anvil.setCode(FORWARDER, FORWARDER_CODE);
  await anvil.fund(PAYER, COIN);
  await anvil.send({ from: PAYER, to: FORWARDER, value: 5n, data: payload(SHOP) });
  await anvil.mine();
  const { client } = readerOf(eth, [lacking(anvil.endpoint, 'untraced', 'debug_traceBlockByHash', 'trace_block')]);
  t.false(await client.seesInternal());
  const [parent, block] = [await client.getBlock(0), await client.getBlock(1)];
  t.deepEqual(brief(transfersIn(eth, block, new Map()).transfers), [[-1, FORWARDER, 5n, null]]);
  const addresses = [SHOP, OTHER];
  t.deepEqual(await client.fetchBalancesAt(addresses, parent), [0n, 0n]);
  t.deepEqual(await client.fetchBalancesAt(addresses, block), [5n, 0n]);
  await t.throwsAsync(() => client.fetchBalancesAt(addresses, { height: 1, hash: `0x${'1'.repeat(64)}` }), {
    instanceOf: ChainUnavailable,
  });
});

test('V16 V17 K1 K4 tokens of every shape: decimals, bytes32 symbol, no return value, no metadata', async (t) => {
  const anvil = await startAnvil(t, bsc);
  const { client } = readerOf(bsc, [anvil.endpoint]);
  const facts = async (number: number, shape: Parameters<typeof tokenCode>[0]) => {
    await anvil.setCode(address(number), tokenCode(shape));
    return client.fetchTokenFacts(address(number));
  };
  t.deepEqual(await facts(0x7001, { decimals: 18, symbol: 'USDT' }), { symbol: 'USDT', name: 'USDT', decimals: 18 });
  t.deepEqual(await facts(0x7002, { decimals: 6, symbol: 'MKR', symbolKind: 'bytes32', returns: 'nothing' }), {
    symbol: 'MKR',
    name: 'MKR',
    decimals: 6,
  });
  t.deepEqual(await facts(0x7003, { symbol: null }), { symbol: '', name: '', decimals: 18 });
  t.like(await facts(0x7004, { decimals: null }), { ok: false, code: 'TOKEN_NOT_SUPPORTED' });
  t.like(await client.fetchTokenFacts(OTHER), { ok: false, code: 'TOKEN_NOT_SUPPORTED' }, 'an address without code');
});

test('treasury Q4, Q8 what a token contract can do to its holders is read from its code, its storage and its functions', async (t) => {
  const anvil = await startAnvil(t, eth);
  const { client } = readerOf(eth, [anvil.endpoint]);
  const hazards = async (number: number, code: string) => {
    await anvil.setCode(address(number), code);
    const facts = await client.fetchTokenFacts(address(number), 'hazards');
    return isRefusal(facts) ? facts.code : facts.hazards;
  };
  const plain = tokenCode({ decimals: 6, symbol: 'USDC' });
  t.deepEqual(await hazards(0x7101, plain), []);
  const proxy = `0x363d3d373d3d3d363d73${address(0x7101).slice(2)}5af43d82803e903d91602b57fd5bf3`;
  t.deepEqual(await hazards(0x7102, proxy), ['upgradeable']);
  // keccak-256 of `eip1967.proxy.implementation` less one, as EIP-1967 prints it.
  const slot = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc';
  const stored = `0x${address(0x7101).slice(2).padStart(64, '0')}`;
  await anvil.rpc('anvil_setStorageAt', address(0x7103), slot, stored);
  t.deepEqual(await hazards(0x7103, plain), ['upgradeable']);
  // It answers whatever it is asked with a one.
  const every = ['fee_on_transfer', 'rebasing', 'blocklist', 'pausable', 'hook'];
  t.deepEqual(await hazards(0x7104, '0x600160005260206000f3'), every);
});

test('treasury K18: what a token runs is another text with another implementation behind it, and a transfer is tried', async (t) => {
  const anvil = await startAnvil(t, eth);
  const { client } = readerOf(eth, [anvil.endpoint]);
  const [token, beacon] = [address(0x7201), address(0x7202)],
    wordOf = (hex: string) => `0x${hex.replace('0x', '').padStart(64, '0')}`;
  const read = () => client.fetchTokenCode(token);
  await anvil.setCode(token, tokenCode({ decimals: 6 }));
  const first = await read();
  t.like(first, { isDeprecated: false, declined: null });
  t.deepEqual(await read(), first, 'the same code is the same text');
  t.deepEqual([await client.hasCode(token), await client.hasCode(beacon)], [true, false], 'W3');
  const seen = new Set([first.text]);
  const isAnother = async (why: string) => {
    const { text } = await read();
    t.false(seen.has(text), why);
    seen.add(text);
  };
  // keccak-256 of `eip1967.proxy.implementation` less one, and of `…beacon` less one, as EIP-1967 prints them.
  const slot = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc',
    slotOfBeacon = '0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50';
  await anvil.rpc('anvil_setStorageAt', token, slot, wordOf(address(0x7301)));
  await isAnother('an implementation');
  await anvil.rpc('anvil_setStorageAt', token, slotOfBeacon, wordOf(beacon));
  await isAnother('a beacon');
  // It answers whatever it is asked with a one, then with a two.
  await anvil.setCode(beacon, '0x600160005260206000f3');
  await isAnother('what the beacon names');
  await anvil.setCode(beacon, '0x600260005260206000f3');
  await isAnother('what the beacon names by now');
  await anvil.setCode(token, tokenCode({ decimals: 6, returns: 'false' }));
  t.like(await read(), { declined: 'the token refuses the transfer' });
  await anvil.setCode(token, '0x60006000fd');
  t.like(await read(), { isDeprecated: false }, 'a contract that runs nothing');
  t.not((await read()).declined, null);
  await anvil.setCode(token, '0x600160005260206000f3');
  t.like(await read(), { isDeprecated: true, declined: null });
});

test('V12 C2-29 a token that keeps a tenth is credited with what arrived', async (t) => {
  const anvil = await startAnvil(t, eth, { automine: false });
  const token = tokenAt(eth, 0x7a8, { feeOnTransfer: true }),
    catalogue = catalogueOfTokens(token);
  await anvil.setCode(token.contract, tokenCode({ keepsBps: 1_000 }));
  await supply(anvil, PAYER, token, 1_000n);
  await anvil.mine();
  await anvil.send({ from: PAYER, to: token.contract, data: transferCall(SHOP, 100n) });
  await anvil.mine();
  const { client } = readerOf(eth, [anvil.endpoint], catalogue);
  t.deepEqual(brief(transfersIn(eth, await client.getBlock(2), catalogue).transfers), [[0, SHOP, 90n, token.contract]]);
  t.is((await client.fetchBalance(SHOP, token)).amount, 90n);
});

test('V20 an address with a delegation is paid like any other', async (t) => {
  const anvil = await startAnvil(t, eth, { automine: false });
  await anvil.setCode(SHOP, `0xef0100${OTHER.slice(2).toLowerCase()}`);
  await anvil.fund(PAYER, COIN);
  await anvil.send({ from: PAYER, to: SHOP, value: 3n });
  await anvil.mine();
  const { client } = readerOf(eth, [anvil.endpoint]);
  t.deepEqual(brief(transfersIn(eth, await client.getBlock(1), new Map()).transfers), [[-1, SHOP, 3n, null]]);
  t.is((await client.fetchBalance(SHOP, null)).amount, 3n);
});

test('G1 G15 C3-30 a reorganisation at each depth: hashes differ above the fork point, a payment keeps its key', async (t) => {
  for (const depth of [1, 2, 3, 6]) {
    const anvil = await startAnvil(t, eth, { automine: false });
    await anvil.fund(payer.address, COIN);
    await anvil.mine(4);
    const raw = await signedTransfer(eth, 0, SHOP, 7n);
    const txid = await anvil.rpc<string>('eth_sendRawTransaction', raw);
    await anvil.mine(6);
    const { client } = readerOf(eth, [anvil.endpoint]);
    const { height } = await client.getHead();
    const before = await Promise.all(Array.from({ length: height + 1 }, (_, i) => client.getBlock(i)));
    // The payment is mined in block 5 and comes back in the last block of the new branch.
    await anvil.rpc('anvil_reorg', depth, depth === 6 ? [[raw, depth - 1]] : []);
    const fork = height - depth;
    for (let at = 0; at <= height; at++) {
      const hash = await client.getBlockHash(at);
      if (at <= fork) t.is(hash, before[at]!.hash, `depth ${depth} height ${at}`);
      else t.not(hash, before[at]!.hash, `depth ${depth} height ${at}`);
    }
    const { client: fresh } = readerOf(eth, [anvil.endpoint]);
    const after = await Promise.all(Array.from({ length: height + 1 }, (_, i) => fresh.getBlock(i)));
    const keys = (blocks: typeof before) =>
      blocks
        .flatMap((block) => transfersIn(eth, block, new Map()).transfers)
        .map(({ txid: id, outputIndex, to, amount }) => [id, outputIndex, to, amount]);
    t.deepEqual(keys(after), keys(before), `depth ${depth}`);
    t.deepEqual(keys(after), [[txid, -1, SHOP, 7n]]);
    const outcome = await fresh.getOutcome(txid);
    t.is(outcome?.hash, after[depth === 6 ? height : 5]!.hash, 'G19');
  }
});

test('C1-12 G10 a rollback that the only endpoint shows is answered as it is, and the chain goes on from there', async (t) => {
  const anvil = await startAnvil(t, eth, { automine: false });
  await anvil.mine(3);
  const snapshot = await anvil.rpc<string>('evm_snapshot');
  await anvil.mine(5);
  const { client } = readerOf(eth, [anvil.endpoint]);
  const high = await client.getHead();
  t.is(high.height, 8);
  await anvil.rpc('evm_revert', snapshot);
  const low = await client.getHead();
  t.is(low.height, 3);
  t.is(await client.getBlockHash(8), null);
  await t.throwsAsync(() => client.getBlock(8), { instanceOf: ChainUnavailable });
  await anvil.rpc('evm_increaseTime', 1_000);
  await anvil.mine(6);
  t.not((await client.getBlock(8)).hash, high.hash);
});

test('V27 V28 V29 finality: a tag that never goes back, null where none answers, the head itself on avax', async (t) => {
  const anvil = await startAnvil(t, polygon, { automine: false, slotsInEpoch: 2 });
  await anvil.mine(12);
  const { client } = readerOf(polygon, [anvil.endpoint]);
  const { height, finalizedHeight } = await client.getHead();
  t.is(height, 12);
  t.is(finalizedHeight, 8);
  const onAvax = await startAnvil(t, avax, { automine: false });
  await onAvax.mine(2);
  t.like(await readerOf(avax, [onAvax.endpoint]).client.getHead(), { height: 2, finalizedHeight: 2 });
  const young = await startAnvil(t, base, { automine: false });
  t.like(await readerOf(base, [young.endpoint]).client.getHead(), { height: 0, finalizedHeight: null });
});

test('V18 V44 deposits to a blocked holder arrive; what a blocked sender would send is refused with the reason', async (t) => {
  const anvil = await startAnvil(t, eth, { automine: false });
  const token = tokenAt(eth, 0x7b10),
    catalogue: Catalogue = catalogueOfTokens(token);
  await anvil.setCode(token.contract, tokenCode());
  await supply(anvil, PAYER, token, 1_000n);
  await anvil.send({ from: PAYER, to: token.contract, data: blockCall(SHOP) });
  await anvil.mine();
  await anvil.send({ from: PAYER, to: token.contract, data: transferCall(SHOP, 10n) });
  await anvil.send({ from: PAYER, to: token.contract, data: mintCall(SHOP, 5n) });
  await anvil.mine();
  const { client } = readerOf(eth, [anvil.endpoint], catalogue);
  t.deepEqual(
    brief(transfersIn(eth, await client.getBlock(2), catalogue).transfers).map(([, to, amount]) => [to, amount]),
    [
      [SHOP, 10n],
      [SHOP, 5n],
    ],
  );
  const inputs = await client.fetchBuildInputs({
    chain: 'eth',
    from: SHOP,
    fromPath: '',
    to: OTHER,
    amount: 'all',
    token,
    tag: null,
  });
  t.deepEqual(inputs.gas, { kind: 'reverted', reason: 'Blacklistable: account is blacklisted' });
});
