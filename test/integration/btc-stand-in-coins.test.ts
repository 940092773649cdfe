/** How the outputs of an address are found: by an address index, or by the node's own scan, kept up with its blocks. */
import test from 'ava';
import { outpointOf } from '../../chains/btc/coin.ts';
import { ChainUnavailable } from '../../chains/chain.ts';
import { RpcFailure } from '../../developer/stand-ins/btc/stand-in.ts';
import { own } from '../support/btc-inputs.ts';
import { intentFrom, openStandIn, repriced, signedPayment, type StandIn } from '../support/btc-stand-in.ts';

const COIN = 100_000_000n;
const unavailable = { instanceOf: ChainUnavailable } as const;
const from = own(50),
  shop = own(51).address;

const asked = (peer: StandIn, method: string) => peer.node.calls.filter((call) => call === method).length;
const withIndex = (peer: StandIn) => [peer.endpoints[0]!, peer.indexEndpoint];

test('an index beside the node answers at once, nothing is scanned, and every output is asked of the node again', async (t) => {
  const peer = await openStandIn(t),
    client = peer.client(withIndex(peer));
  peer.pay(from.address, COIN);
  peer.mine(1);
  for (let round = 0; round < 3; round += 1) t.is((await client.fetchBalance(from.address, null)).amount, COIN);
  t.is(asked(peer, 'scantxoutset'), 0);
  t.true(asked(peer, 'gettxout') >= 3);
  t.is((await client.fetchBalance(shop, null)).amount, 0n);
});

test('B19 G10 an index and a scan tell the same coins: confirmed, in the pool, own change, what is spent there', async (t) => {
  const peer = await openStandIn(t),
    indexed = peer.client(withIndex(peer)),
    plain = peer.client();
  peer.pay(from.address, COIN, [{ address: from.address, amount: COIN / 2n }]);
  peer.mine(1);
  const { signed } = await signedPayment(plain, from, shop, 30_000_000n);
  await plain.broadcast(signed);
  peer.pay(from.address, 7_000_000n); // of a stranger, and not confirmed: no coin yet (B2)
  const coinsOf = async (client: typeof plain) =>
    (await client.fetchBuildInputs(intentFrom(from, shop, 1n))).coins
      .map(({ previous: _, ...coin }) => coin)
      .toSorted((a, b) => (outpointOf(a) < outpointOf(b) ? -1 : 1));
  const coins = await coinsOf(indexed);
  t.deepEqual(coins, await coinsOf(plain));
  t.deepEqual(coins.map(({ height, spender }) => [height === null, spender === null]).toSorted(), [
    [false, false],
    [false, true],
    [true, true],
  ]);
  t.deepEqual(await indexed.fetchBalance(from.address, null), await plain.fetchBalance(from.address, null));
  t.is(asked(peer, 'gettxspendingprevout') > 0, true);
});

test('an index that trails the node is made up for by the blocks between; one that is ahead is waited for', async (t) => {
  const peer = await openStandIn(t),
    client = peer.client(withIndex(peer));
  peer.index.lagBlocks = 2;
  peer.mine(1);
  peer.pay(from.address, COIN);
  peer.mine(2);
  t.is((await client.fetchBalance(from.address, null)).amount, COIN);
  t.is(asked(peer, 'scantxoutset'), 0);
  peer.index.lagBlocks = 0;
  peer.node.lagBlocks = 1;
  await t.throwsAsync(() => client.fetchBalance(from.address, null), {
    ...unavailable,
    message: /has not come to|behind/,
  });
  t.is(asked(peer, 'scantxoutset'), 0, 'a moment is no reason to scan');
  t.is(
    await client.nextHeight(peer.ledger.tip.height - 1),
    null,
    'blocks are read from nodes: one that only the index has is not there yet',
  );
  for (let heads = 0; heads < 3; heads += 1) await client.getHead();
  await t.throwsAsync(() => peer.client(withIndex(peer)).fetchBalance(from.address, null), {
    ...unavailable,
    message: /has not come to/,
  });
});

test('an index that is far behind, on another branch, refuses or dies: the node scans', async (t) => {
  const peer = await openStandIn(t);
  peer.pay(from.address, COIN);
  peer.mine(100);
  const balance = async () => (await peer.client(withIndex(peer)).fetchBalance(from.address, null)).amount;
  peer.index.lagBlocks = 90;
  t.is(await balance(), COIN);
  peer.index.lagBlocks = 0;
  peer.index.lie = (path, _params, honest) =>
    path === '/blocks' ? { status: 200, body: [{ id: 'ab'.repeat(32), height: peer.ledger.tip.height }] } : honest();
  t.is(await balance(), COIN);
  peer.index.lie = (path, _params, honest) =>
    path.endsWith('/utxo') ? { status: 400, body: 'Too many history entries' } : honest();
  t.is(await balance(), COIN);
  const client = peer.client(withIndex(peer));
  t.is((await client.fetchBalance(from.address, null)).amount, COIN);
  peer.index.dead = true;
  t.is((await client.fetchBalance(from.address, null)).amount, COIN);
  t.is(asked(peer, 'scantxoutset'), 4);
});

test('G8 an index that lies makes no coin: outputs of others are a fault, invented ones are not there', async (t) => {
  const peer = await openStandIn(t),
    client = peer.client(withIndex(peer));
  const txid = peer.pay(shop, COIN);
  peer.mine(1);
  const { vout } = [...peer.ledger.coinsAt(peer.ledger.tip.height).values()].find(
    (coin) => coin.txid === txid && coin.value === COIN,
  )!;
  const claim = (outpoint: { txid: string; vout: number }) => {
    peer.index.lie = (path, _params, honest) =>
      path.endsWith('/utxo')
        ? { status: 200, body: [{ ...outpoint, status: { confirmed: true }, value: 1 }] }
        : honest();
  };
  claim({ txid: 'ab'.repeat(32), vout: 0 });
  t.is((await client.fetchBalance(from.address, null)).amount, 0n);
  claim({ txid, vout });
  await t.throwsAsync(() => client.fetchBalance(from.address, null), { message: /an output of another script/ });
  peer.index.lie = (path, _params, honest) => (path.endsWith('/utxo') ? { status: 200, body: '<html>' } : honest());
  await t.throwsAsync(() => client.fetchBalance(from.address, null), { message: /no JSON/ });
});

test('G10 an index is a witness too: head and hashes; blocks and coins it cannot prove', async (t) => {
  const peer = await openStandIn(t),
    client = peer.client([peer.indexEndpoint]),
    { tip } = peer.ledger;
  await client.checkIdentity();
  t.like(await client.getHead(), { height: tip.height, hash: tip.hash });
  t.is(await client.getBlockHash(tip.height), tip.hash);
  t.is(await client.getBlockHash(tip.height + 1), null);
  await t.throwsAsync(() => client.nextHeight(tip.height - 1), { ...unavailable, message: /no node/ });
  await t.throwsAsync(() => client.getBlock(tip.height), { ...unavailable, message: /no node/ });
  await t.throwsAsync(() => client.fetchBalance(shop, null), unavailable);
  t.like(await client.broadcast({ chain: 'btc', ...(await signedFor(peer)) }), { kind: 'unknown' });
});

async function signedFor(peer: StandIn): Promise<{ payload: string; txid: string }> {
  peer.pay(from.address, COIN);
  peer.mine(1);
  return (await signedPayment(peer.client(), from, shop, 1_000_000n)).signed;
}

// ── The node's own scan ──────────────────────────────────────────────────────────────────────────────────────────

test('a scanned address is kept up with the blocks that follow: one scan, however often it is asked', async (t) => {
  const peer = await openStandIn(t),
    client = peer.client();
  t.is((await client.fetchBalance(from.address, null)).amount, 0n);
  for (let round = 1; round <= 4; round += 1) {
    peer.pay(from.address, COIN);
    peer.mine(round);
    t.is((await client.fetchBalance(from.address, null)).amount, COIN * BigInt(round));
  }
  t.is(asked(peer, 'scantxoutset'), 1);
  const before = asked(peer, 'getblock');
  peer.pay(from.address, COIN);
  const [block] = peer.mine(1);
  await client.getBlock(block!.height);
  t.is((await client.fetchBalance(from.address, null)).amount, 5n * COIN);
  t.is(asked(peer, 'getblock'), before + 1, 'a block that the watcher reads is not read again');
});

test('addresses that are asked for together are scanned together', async (t) => {
  const peer = await openStandIn(t),
    client = peer.client(),
    addresses = Array.from({ length: 40 }, (_, i) => own(500 + i).address);
  peer.pay(addresses[7]!, COIN);
  peer.mine(1);
  const balances = await Promise.all(addresses.map((address) => client.fetchBalance(address, null)));
  t.deepEqual(
    balances.map(({ amount }) => amount),
    addresses.map((_, i) => (i === 7 ? COIN : 0n)),
  );
  t.true(asked(peer, 'scantxoutset') <= 4, `${asked(peer, 'scantxoutset')} scans`);
});

test('a reorg forgets what was scanned: outputs that come back are not lost', async (t) => {
  const peer = await openStandIn(t),
    client = peer.client();
  peer.pay(from.address, COIN);
  peer.mine(1);
  t.is((await client.fetchBalance(from.address, null)).amount, COIN);
  const { signed } = await signedPayment(client, from, shop, 'all');
  await client.broadcast(signed);
  peer.mine(2);
  t.is((await client.fetchBalance(from.address, null)).amount, 0n);
  const late = peer.client();
  t.is((await late.fetchBalance(from.address, null)).amount, 0n, 'scanned after the coin was spent');
  peer.reorg(2);
  for (const one of [client, late])
    t.is((await one.fetchBalance(from.address, null)).amount, COIN, 'the payment left the chain, and the coin is back');
});

test('after a long pause a new scan is cheaper than the blocks', async (t) => {
  const peer = await openStandIn(t),
    client = peer.client();
  await client.fetchBalance(from.address, null);
  peer.pay(from.address, COIN);
  peer.mine(80);
  t.is((await client.fetchBalance(from.address, null)).amount, COIN);
  t.is(asked(peer, 'scantxoutset'), 2);
});

test('spec 1.7 a scan that takes long is CHAIN_UNAVAILABLE, never a zero; it goes on, and the next question finds it done', async (t) => {
  const peer = await openStandIn(t);
  peer.pay(from.address, COIN);
  peer.mine(1);
  let finish: () => void = () => undefined;
  const slow = {
    ...peer.endpoints[0]!,
    request: async (call: Parameters<(typeof peer.endpoints)[0]['request']>[0]) => {
      if (call.body?.includes('scantxoutset') === true)
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
      return peer.endpoints[0]!.request(call);
    },
  };
  const client = peer.client([slow], 20);
  await t.throwsAsync(() => client.fetchBalance(from.address, null), { ...unavailable, message: /scans its outputs/ });
  await t.throwsAsync(() => client.fetchBalance(from.address, null), { ...unavailable, message: /ask again/ });
  finish();
  for (;;) {
    const balance = await client.fetchBalance(from.address, null).catch(() => null);
    if (balance === null) continue;
    t.is(balance.amount, COIN);
    break;
  }
  t.is(asked(peer, 'scantxoutset'), 1);
});

test('a scan of somebody else is in the way: nothing is proven, and the next question tries again', async (t) => {
  const peer = await openStandIn(t),
    client = peer.client();
  peer.pay(from.address, COIN);
  peer.mine(1);
  peer.node.lie = (method, _params, honest) => {
    if (method === 'scantxoutset') throw new RpcFailure(-8, 'Scan already in progress, use action "abort" or "status"');
    return honest();
  };
  await t.throwsAsync(() => client.fetchBalance(from.address, null), {
    ...unavailable,
    message: /already in progress/,
  });
  peer.node.lie = null;
  t.is((await client.fetchBalance(from.address, null)).amount, COIN);
});

// ── Replacement by the rules of Core 30 ──────────────────────────────────────────────────────────────────────────

test('B16 B17 a node that takes a tenth of a satoshi per vbyte more is asked for it; the cheap rate is its own word', async (t) => {
  const peer = await openStandIn(t),
    client = peer.client();
  peer.pay(from.address, COIN);
  peer.mine(1);
  const first = await signedPayment(client, from, shop, 1_000_000n);
  t.is((await client.broadcast(first.signed)).kind, 'accepted');
  const second = await repriced(client, from, first.unsigned);
  t.is(second.unsigned.feeMax, first.unsigned.feeMax + 15n, '141 vbytes at 0.1, rounded up');
  t.is((await client.broadcast(second.signed)).kind, 'accepted');
  t.like(await client.broadcast(first.signed), { kind: 'rejected_final', refusal: { details: { action: 'reprice' } } });
  const third = await repriced(client, from, second.unsigned);
  t.is((await client.broadcast(third.signed)).kind, 'accepted');
  t.is(peer.ledger.pool.size, 1);
});

test('G27 death is looked for in the blocks since, some at a time, and what was walked is not walked again', async (t) => {
  const peer = await openStandIn(t),
    client = peer.client();
  peer.pay(from.address, COIN);
  peer.mine(1);
  const lost = await signedPayment(client, from, shop, 1_000_000n),
    other = await signedPayment(client, from, shop, 'all');
  peer.mine(60);
  await client.broadcast(other.signed);
  peer.mine(1);
  const { signed: onward } = await signedPayment(client, own(51), from.address, 'all');
  await client.broadcast(onward);
  peer.mine(20);
  await t.throwsAsync(() => client.getFate(lost.unsigned, lost.signed.txid), {
    ...unavailable,
    message: /were searched/,
  });
  const fate = await client.getFate(lost.unsigned, lost.signed.txid);
  t.is(fate.kind, 'dead');
  if (fate.kind === 'dead') t.true(fate.proof.includes(other.signed.txid));
  const before = asked(peer, 'getblock');
  await client.getFate(lost.unsigned, lost.signed.txid);
  t.is(asked(peer, 'getblock'), before + 1, 'the walk stands before the block that decided');
  peer.reorg(21);
  t.is(
    (await client.getFate(lost.unsigned, lost.signed.txid)).kind,
    'unknown',
    'the reorg took the other payment: the coin is unspent again',
  );
  t.is((await client.broadcast(lost.signed)).kind, 'accepted');
});
