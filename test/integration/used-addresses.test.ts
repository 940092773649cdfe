/**
 * Which addresses were used, as real nodes and stand-ins of the others say it: what each can see, what it cannot, and
 * that what was not read is never unused. Migration M-D5, M-D6.
 */
import test from 'ava';
import { litecoinRegtest } from '../../chains/btc/network.ts';
import { ChainUnavailable } from '../../chains/chain.ts';
import { addressOfHex } from '../../chains/evm/address.ts';
import { eth } from '../../chains/evm/network.ts';
import { indexAnswer } from '../../developer/stand-ins/btc/index-api.ts';
import { act, fund } from '../../developer/stand-ins/xrp/people.ts';
import { walletOf } from '../../developer/stand-ins/xrp/signers.ts';
import { startAnvil } from '../support/anvil.ts';
import { own as btcOwn } from '../support/btc-inputs.ts';
import { openBtcNode } from '../support/btc-node.ts';
import { openStandIn, signedPayment } from '../support/btc-stand-in.ts';
import { lacking } from '../support/distorted-endpoint.ts';
import { catalogueOfTokens, readerOf as evmReaderOf, supply, tokenAt, transferCall } from '../support/evm-client.ts';
import { tokenCode } from '../support/evm-contracts.ts';
import { deployToken, openStage, PAYER, own as tronOwn } from '../support/tron-ledger.ts';
import { ours, startNode } from '../support/xrp-node.ts';

const unavailable = { instanceOf: ChainUnavailable } as const;
const COIN = 100_000_000n;

test('migration M-D6 anvil: an account that sent, holds, is delegated or holds a token was used; a balance of zero that was emptied too', async (t) => {
  const anvil = await startAnvil(t, eth);
  const [sender, holder, delegated, ofToken, never] = [1, 2, 3, 4, 5].map((n) =>
    addressOfHex((0xabc00 + n).toString(16).padStart(40, '0')),
  ) as [string, string, string, string, string];
  const token = tokenAt(eth, 0x70c0, { decimals: 6 });
  await anvil.setCode(token.contract, tokenCode({ decimals: 6 }));
  await anvil.fund(sender, 10n ** 18n);
  await anvil.fund(holder, 10n ** 18n);
  await anvil.setCode(delegated, `0xef0100${'11'.repeat(20)}`);
  await supply(anvil, holder, token, 5n);
  await anvil.send({ from: holder, to: token.contract, data: transferCall(ofToken, 5n) });
  await anvil.send({ from: sender, to: holder, value: 1n });
  await anvil.mine();
  await anvil.fund(sender, 0n);
  const { client } = evmReaderOf(eth, [anvil.endpoint], catalogueOfTokens(token));
  const addresses = [sender, holder, delegated, ofToken, never];
  const { height } = await client.getHead();
  t.like(await client.fetchUse({ addresses, tokens: [token] }), {
    used: [true, true, true, true, false],
    evidence: 'state',
    height,
  });
  t.deepEqual((await client.fetchUse({ addresses, tokens: [] })).used, [true, true, true, false, false]);
  // A token of the catalogue that is not on this chain is held by nobody; a contract that answers nothing is unread.
  const absent = tokenAt(eth, 0x70c1, { decimals: 6 }),
    mute = tokenAt(eth, 0x70c2, { decimals: 6 });
  await anvil.setCode(mute.contract, '0x00');
  t.deepEqual((await client.fetchUse({ addresses, tokens: [absent, token] })).used, [true, true, true, true, false]);
  await t.throwsAsync(() => client.fetchUse({ addresses, tokens: [token, absent, mute] }), {
    instanceOf: ChainUnavailable,
    message: /answers no balance/,
  });
  const blind = evmReaderOf(eth, [lacking(anvil.endpoint, 'blind', 'eth_getCode')], catalogueOfTokens(token)).client;
  await t.throwsAsync(
    () => blind.fetchUse({ addresses, tokens: [] }),
    unavailable,
    'an answer that lacks is no unused',
  );
});

test('migration M-D6 litecoind: without an index only unspent outputs are seen (NBXplorer#317), and it says so', async (t) => {
  const node = await openBtcNode();
  t.teardown(() => node.close());
  const [paid, fresh] = [900, 901].map((n) => btcOwn(n, 'p2wpkh', litecoinRegtest).address) as [string, string];
  await node.pay(paid, COIN);
  await node.mine(1);
  const use = await node.client.fetchUse!({ addresses: [paid, fresh], tokens: [] });
  t.like(use, { used: [true, false], evidence: 'unspent_only' });
});

test('migration M-D6 btc: an index sees all, filters all blocks, a scan unspent outputs alone', async (t) => {
  const peer = await openStandIn(t);
  const [kept, spent, waiting, never] = [60, 61, 62, 63].map((n) => btcOwn(n).address) as [
    string,
    string,
    string,
    string,
  ];
  peer.pay(kept, COIN);
  peer.mine(1);
  peer.pay(spent, COIN);
  peer.mine(1);
  const { signed } = await signedPayment(peer.client(), btcOwn(61), kept, 'all');
  await peer.client().broadcast(signed);
  peer.mine(1);
  peer.pay(waiting, COIN);
  const ask = { addresses: [kept, spent, waiting, never], tokens: [] };
  const byIndex = peer.client([peer.endpoints[0]!, peer.indexEndpoint]);
  t.like(await byIndex.fetchUse!(ask), { used: [true, true, true, false], evidence: 'history' });
  const node = peer.client();
  t.like(await node.fetchUse!(ask), { used: [true, false, false, false], evidence: 'unspent_only' });
  peer.node.filteredTo = peer.ledger.tip.height;
  peer.node.falseMatches = [peer.ledger.blockAt(0)!.hash];
  t.like(await node.fetchUse!(ask), {
    used: [true, true, false, false],
    evidence: 'blocks',
    height: peer.ledger.tip.height,
  });
  peer.node.filteredTo -= 1;
  await t.throwsAsync(() => node.fetchUse!(ask), { ...unavailable, message: /filters are indexed to/ });
  peer.node.filteredTo += 1;
  peer.node.without = new Set(['scanblocks']);
  t.like(await node.fetchUse!(ask), { evidence: 'unspent_only' }, 'Core before 25 has the index without the call');
});

test('migration M-D6 btc: an index that is behind is not asked: what was paid since would look unused', async (t) => {
  const peer = await openStandIn(t);
  const { address } = btcOwn(64);
  peer.mine(1);
  const then = peer.ledger.tip.height;
  peer.pay(address, COIN);
  peer.mine(3);
  peer.index.lie = (path, _, honest) =>
    path === '/blocks' || path.startsWith('/address/') ? indexAnswer(peer.ledger, then, path) : honest();
  const client = peer.client([peer.endpoints[0]!, peer.indexEndpoint]);
  t.like(await client.fetchUse!({ addresses: [address], tokens: [] }), { used: [true], evidence: 'unspent_only' });
});

test('migration M-D6 tron: an account stays one; a token is held without one; an error of the node is unread', async (t) => {
  const stage = openStage(),
    { standIn, client, node } = stage;
  const [activated, never] = [tronOwn(7).address, tronOwn(8).address];
  standIn.send(PAYER, { type: 'TransferContract', to: activated, amount: 5n });
  standIn.ledger.mine(1);
  t.like(await client.fetchUse({ addresses: [activated, never], tokens: [] }), {
    used: [true, false],
    evidence: 'state',
  });
  // A token can be paid to an address that nobody activated: what is known without its balance is the account alone.
  const token = deployToken(stage, { [tronOwn(9).address]: 5n });
  t.like(await client.fetchUse({ addresses: [activated, never, tronOwn(9).address], tokens: [token] }), {
    used: [true, false, true],
    evidence: 'history',
  });
  node.knobs.down = true;
  await t.throwsAsync(() => client.fetchUse({ addresses: [activated, never], tokens: [] }), unavailable);
});

test('migration M-D6 xrp: an account that is there; one that was deleted by its transactions, where the server has them', async (t) => {
  const { network, client } = await startNode(t);
  const payer = walletOf('payer'),
    gone = walletOf('gone');
  fund(network, payer.classicAddress, 100_000_000n);
  fund(network, gone.classicAddress, 10_000_000n);
  fund(network, ours(0, 0).address, 10_000_000n);
  for (let closed = 0; closed < 300; closed += 1) network.close();
  act(network, gone, { TransactionType: 'AccountDelete', Destination: payer.classicAddress });
  network.close();
  const use = await client.fetchUse!({
    addresses: [ours(0, 0).address, gone.classicAddress, ours(0, 1).address],
    tokens: [],
  });
  t.like(use, { used: [true, true, false], evidence: 'state' });
});
