/**
 * What the stand-in does: the SDK's own client works on it, its hashes are right, every result of 8.2 is to be had from
 * it.
 */
import test, { type ExecutionContext } from 'ava';
import { Client, encode, hashes, type Wallet } from 'xrpl';
import { lineOf } from '../../../developer/stand-ins/xrp/lines.ts';
import { LedgerNetwork, type NetworkOptions } from '../../../developer/stand-ins/xrp/ledger-network.ts';
import {
  act,
  fund,
  makeIssuer,
  must,
  nextSequence,
  payToken,
  signedBy,
  trust,
} from '../../../developer/stand-ins/xrp/people.ts';
import { startXrpServer } from '../../../developer/stand-ins/xrp/server.ts';
import { GENESIS, walletOf } from '../../../developer/stand-ins/xrp/signers.ts';
import { accountKey } from '../../../developer/stand-ins/xrp/entries.ts';
import { View } from '../../../developer/stand-ins/xrp/view.ts';
import { openLedgerFee } from '../../../developer/stand-ins/xrp/queue.ts';
import type { Json } from '../../../developer/stand-ins/xrp/transactions.ts';

const alice = walletOf('alice'),
  bob = walletOf('bob'),
  issuer = walletOf('issuer'),
  poor = walletOf('poor');
const usd = { currency: 'USD', issuer: issuer.classicAddress };

/** Alice and Bob with money, an issuer, Alice with 100 USD and Bob with a line. */
function town(options: Partial<NetworkOptions> & { transferRate?: number; requireAuth?: boolean } = {}): LedgerNetwork {
  const { transferRate, requireAuth, ...more } = options;
  const network = new LedgerNetwork({ nowMs: () => 1_760_000_000_000, ...more });
  for (const wallet of [alice, bob]) fund(network, wallet.classicAddress, 100_000_000n);
  makeIssuer(network, issuer, {
    ...(transferRate === undefined ? {} : { transferRate }),
    ...(requireAuth === undefined ? {} : { requireAuth }),
  });
  network.close();
  if (requireAuth === true) return network;
  trust(network, alice, usd);
  trust(network, bob, usd);
  network.close();
  payToken(network, issuer, alice.classicAddress, { ...usd, value: '100' });
  network.close();
  return network;
}

const pay = (to: Wallet | string, amount: unknown, more: Json = {}): Json => ({
  TransactionType: 'Payment',
  Destination: typeof to === 'string' ? to : to.classicAddress,
  Amount: amount,
  ...more,
});
const value = (text: string) => ({ ...usd, value: text });
const held = (network: LedgerNetwork, who: Wallet) =>
  lineOf(new View(network.openState, { height: 1, isOpen: true }), who.classicAddress, usd.issuer, 'USD')?.balance ??
  null;
const drops = (network: LedgerNetwork, who: Wallet) =>
  BigInt(String(network.openState.get(accountKey(who.classicAddress))!['Balance']));

async function served(t: ExecutionContext, network: LedgerNetwork) {
  const server = await startXrpServer(network);
  t.teardown(() => server.close());
  const ask = async (method: string, params: Json = {}) => {
    const reply = await fetch(server.url, {
      method: 'POST',
      body: JSON.stringify({ method, params: [{ api_version: 2, ...params }] }),
    });
    return {
      status: reply.status,
      result: reply.status === 200 ? ((await reply.json()) as { result: Json }).result : null,
    };
  };
  return { server, ask };
}

test("the SDK's own client connects, fills in, signs, submits and waits for the validated ledger", async (t) => {
  const network = town(),
    { server } = await served(t, network);
  const client = new Client(server.webSocketUrl);
  await client.connect();
  t.teardown(() => client.disconnect());
  const stop = setInterval(() => network.close(), 200);
  t.teardown(() => clearInterval(stop));
  const { result } = await client.submitAndWait(
    {
      TransactionType: 'Payment',
      Account: alice.classicAddress,
      Destination: bob.classicAddress,
      Amount: '1000000',
      DestinationTag: 0,
    },
    { wallet: alice },
  );
  t.true(result.validated);
  t.like(result.meta, { TransactionResult: 'tesSUCCESS', delivered_amount: '1000000' });
  t.like(result.tx_json, { DestinationTag: 0, DeliverMax: '1000000' });
  t.is(await client.getXrpBalance(bob.classicAddress), Number(drops(network, bob)) / 1e6);
});

test('G9 ledgers and their transaction trees hash to what they say, by the code of the SDK, in both versions', async (t) => {
  const network = town(),
    { ask } = await served(t, network);
  must(network, alice, pay(bob, value('1.5')));
  must(network, alice, pay(walletOf('new'), '2000000'));
  network.close();
  const one = (await ask('ledger', { ledger_index: 'validated', transactions: true, expand: true, api_version: 1 }))
    .result!['ledger'] as Json;
  const two = (await ask('ledger', { ledger_index: 'validated', transactions: true, expand: true })).result![
    'ledger'
  ] as Json;
  t.is(hashes.hashLedgerHeader(one as never), String(one['ledger_hash']));
  t.is(hashes.hashLedgerHeader(two as never), String(two['ledger_hash']));
  const bare = (meta: Json) => Object.fromEntries(Object.entries(meta).filter(([name]) => name !== 'delivered_amount'));
  const fromOne = (one['transactions'] as Json[]).map(({ hash: _hash, DeliverMax: _max, metaData, ...json }) => ({
    ...json,
    metaData: bare(metaData as Json),
  }));
  const fromTwo = (two['transactions'] as Json[]).map(({ tx_json, meta }) => {
    const { DeliverMax, ...json } = tx_json as Json;
    return { ...json, Amount: DeliverMax, metaData: bare(meta as Json) };
  });
  for (const transactions of [fromOne, fromTwo])
    t.is(hashes.hashTxTree(transactions as never), String(one['transaction_hash']));
  t.is(
    BigInt(String(network.ledgerAt(network.tip.height - 1)!.header.total_coins)) - BigInt(String(one['total_coins'])),
    20n,
  );
});

/** Every result of the table that a ledger can come to by itself, and how. */
const RESULTS: readonly (readonly [
  result: string,
  how: (network: LedgerNetwork) => { result: string },
  options?: Parameters<typeof town>[0],
])[] = [
  ['tesSUCCESS', (n) => act(n, alice, pay(bob, '5'))],
  [
    'terQUEUED',
    (n) => {
      must(n, alice, pay(bob, '5'));
      return act(n, alice, pay(bob, '5', { Fee: '10' }));
    },
    { targetSize: 1 },
  ],
  [
    'tefALREADY',
    (n) => {
      const { blob } = signedBy(n, alice, pay(bob, '5'));
      n.submit(blob);
      return n.submit(blob);
    },
  ],
  [
    'tefALREADY',
    (n) => {
      const { blob } = signedBy(n, alice, pay(bob, '5'));
      n.submit(blob);
      n.close();
      return n.submit(blob);
    },
  ],
  ['tefPAST_SEQ', (n) => act(n, alice, pay(bob, '5', { Sequence: nextSequence(n, alice.classicAddress) - 1 }))],
  ['terPRE_SEQ', (n) => act(n, alice, pay(bob, '5', { Sequence: nextSequence(n, alice.classicAddress) + 1 }))],
  ['tefMAX_LEDGER', (n) => act(n, alice, pay(bob, '5', { LastLedgerSequence: n.tip.height }))],
  ['telINSUF_FEE_P', (n) => act(n, alice, pay(bob, '5', { Fee: '9' }))],
  [
    'telCAN_NOT_QUEUE',
    (n) => {
      must(n, alice, pay(bob, '5'));
      return act(n, alice, pay(bob, '5', { Fee: '10', LastLedgerSequence: n.openHeight + 1 }));
    },
    { targetSize: 1 },
  ],
  [
    'telCAN_NOT_QUEUE_FULL',
    (n) => {
      must(n, alice, pay(bob, '5'));
      const first = nextSequence(n, alice.classicAddress);
      let last = { result: '' };
      for (let i = 0; i <= 10; i += 1) last = act(n, alice, pay(bob, '5', { Fee: '10', Sequence: first + i }));
      return last;
    },
    { targetSize: 1 },
  ],
  [
    'telCAN_NOT_QUEUE_FEE',
    (n) => {
      must(n, alice, pay(bob, '5'));
      act(n, alice, pay(bob, '5', { Fee: '100' }));
      return act(n, alice, pay(bob, '6', { Fee: '124' }));
    },
    { targetSize: 1 },
  ],
  [
    'telCAN_NOT_QUEUE_BALANCE',
    (n) => {
      must(n, alice, pay(bob, '5'));
      const first = nextSequence(n, alice.classicAddress);
      act(n, alice, pay(bob, '5', { Fee: '10000' }));
      return act(n, alice, pay(bob, '5', { Fee: '1000000', Sequence: first + 1 }));
    },
    { targetSize: 1, fees: { baseFee: 10_000n, reserveBase: 1_000_000n, reserveIncrement: 200_000n } },
  ],
  ['terINSUF_FEE_B', (n) => act(n, alice, pay(bob, '5', { Fee: '200000000' }))],
  ['terNO_ACCOUNT', (n) => act(n, poor, pay(bob, '5', { Sequence: 1 }))],
  ['tecUNFUNDED_PAYMENT', (n) => act(n, alice, pay(bob, '100000000'))],
  ['tecNO_DST', (n) => act(n, alice, pay(poor, value('1')))],
  ['tecNO_DST_INSUF_XRP', (n) => act(n, alice, pay(poor, '999999'))],
  [
    'tecDST_TAG_NEEDED',
    (n) => {
      must(n, bob, { TransactionType: 'AccountSet', SetFlag: 1 });
      return act(n, alice, pay(bob, '5'));
    },
  ],
  [
    'tecNO_PERMISSION',
    (n) => {
      must(n, bob, { TransactionType: 'AccountSet', SetFlag: 9 });
      return act(n, alice, pay(bob, '5'));
    },
  ],
  [
    'tecPATH_DRY',
    (n) => {
      fund(n, poor.classicAddress, 5_000_000n);
      return act(n, alice, pay(poor, value('1')));
    },
  ],
  ['tecPATH_PARTIAL', (n) => act(n, alice, pay(bob, value('101')))],
  ['tecPATH_PARTIAL', (n) => act(n, alice, pay(bob, value('10'))), { transferRate: 1_002_000_000 }],
  [
    'tecINSUFFICIENT_RESERVE',
    (n) => {
      fund(n, poor.classicAddress, 1_100_000n);
      n.close();
      return act(n, poor, { TransactionType: 'TicketCreate', TicketCount: 1 });
    },
  ],
  [
    'tecNO_LINE_INSUF_RESERVE',
    (n) => {
      fund(n, poor.classicAddress, 1_500_000n);
      n.close();
      must(n, poor, { TransactionType: 'TicketCreate', TicketCount: 2 });
      return act(n, poor, { TransactionType: 'TrustSet', LimitAmount: value('5') });
    },
  ],
  [
    'tecINSUF_RESERVE_LINE',
    (n) => {
      fund(n, poor.classicAddress, 1_500_000n);
      n.close();
      must(n, issuer, {
        TransactionType: 'TrustSet',
        LimitAmount: { ...usd, issuer: poor.classicAddress, value: '5' },
      });
      must(n, poor, { TransactionType: 'TicketCreate', TicketCount: 2 });
      return act(n, poor, { TransactionType: 'TrustSet', LimitAmount: value('5') });
    },
  ],
  [
    'tecTOO_SOON',
    (n) => {
      fund(n, poor.classicAddress, 5_000_000n);
      n.close();
      return act(n, poor, { TransactionType: 'AccountDelete', Destination: bob.classicAddress, Fee: '200000' });
    },
  ],
  [
    'tecHAS_OBLIGATIONS',
    (n) => {
      for (let i = 0; i < 256; i += 1) n.close();
      return act(n, alice, { TransactionType: 'AccountDelete', Destination: bob.classicAddress, Fee: '200000' });
    },
  ],
  [
    'tefBAD_AUTH',
    (n) =>
      n.submit(
        bob.sign({
          ...pay(bob, '5'),
          Account: alice.classicAddress,
          Sequence: nextSequence(n, alice.classicAddress),
          Fee: '10',
        } as never).tx_blob,
      ),
  ],
  ['telNETWORK_ID_MAKES_TX_NON_CANONICAL', (n) => act(n, alice, pay(bob, '5', { NetworkID: 7 }))],
  [
    'telREQUIRES_NETWORK_ID',
    (n) =>
      n.submit(
        alice.sign({ ...pay(bob, '5'), Account: alice.classicAddress, Sequence: 1, Fee: '10' } as never).tx_blob,
      ),
    undefined,
  ],
];

for (const [i, [result, how, options]] of RESULTS.entries()) {
  test(`8.2 the stand-in comes to ${result} by itself (${i + 1})`, (t) => {
    if (result === 'telREQUIRES_NETWORK_ID') {
      const network = new LedgerNetwork({ nowMs: () => 1_760_000_000_000, networkId: 21_337 });
      t.is(how(network).result, result);
      const { tx_blob } = GENESIS.sign({
        ...pay(bob, '5000000'),
        Account: GENESIS.classicAddress,
        Sequence: 1,
        Fee: '10',
        NetworkID: 1_025,
      } as never);
      t.is(network.submit(tx_blob).result, 'telWRONG_NETWORK');
      return;
    }
    t.is(how(town(options)).result, result);
  });
}

test('8.2 R22 a tec takes fee and sequence, with fail_hard neither; tef, tem, tel and ter take nothing', (t) => {
  const network = town(),
    before = drops(network, alice),
    sequence = nextSequence(network, alice.classicAddress);
  const { blob } = signedBy(network, alice, pay(poor, '999999'));
  t.like(network.submit(blob, true), { result: 'tecNO_DST_INSUF_XRP', applied: false, kept: false });
  t.deepEqual([drops(network, alice), nextSequence(network, alice.classicAddress)], [before, sequence]);
  t.like(network.submit(blob), { result: 'tecNO_DST_INSUF_XRP', applied: true });
  t.deepEqual([drops(network, alice), nextSequence(network, alice.classicAddress)], [before - 10n, sequence + 1]);
  t.like(network.close().transactions[0]!.meta, { TransactionResult: 'tecNO_DST_INSUF_XRP', TransactionIndex: 0 });
  for (const json of [pay(alice, '5'), pay(bob, '5', { Fee: '9' }), pay(bob, '5', { Sequence: sequence + 9 })])
    act(network, alice, json);
  t.is(nextSequence(network, alice.classicAddress), sequence + 1);
});

test('8.2 a sender that cannot pay its fee when the ledger closes loses what it has: tecINSUFF_FEE', (t) => {
  const network = town();
  fund(network, poor.classicAddress, 1_000_000n);
  network.close();
  // What it counted on does not come: the reserve is voted up before the ledger closes, and Alice must keep her money.
  must(network, alice, pay(poor, '98000000'));
  must(network, poor, { TransactionType: 'AccountSet', Fee: '3000000' });
  network.fees = { ...network.fees, reserveBase: 50_000_000n };
  const { transactions, header } = network.close();
  t.deepEqual(
    transactions.map(({ meta }) => meta['TransactionResult']),
    ['tecUNFUNDED_PAYMENT', 'tecINSUFF_FEE'],
  );
  t.is(drops(network, poor), 0n);
  t.is(BigInt(network.ledgerAt(network.tip.height - 1)!.header.total_coins) - BigInt(header.total_coins), 1_000_010n);
});

test('R18 bytes whose signature is not right, that are not canonical or no transaction are no submission', async (t) => {
  const network = town(),
    { ask } = await served(t, network);
  const { blob } = signedBy(network, alice, pay(bob, '5'));
  const json = alice.sign({
    ...pay(bob, '5'),
    Account: alice.classicAddress,
    Sequence: nextSequence(network, alice.classicAddress),
    Fee: '10',
  } as never);
  const altered = encode({ ...(await import('xrpl')).decode(json.tx_blob), Amount: '6' } as never);
  for (const bad of [altered, blob.slice(0, -2), `${blob}00`, 'FF', blob.replace(/.{8}$/, '00000000')]) {
    t.like(
      (await ask('submit', { tx_blob: bad })).result,
      { status: 'error', error: 'invalidTransaction' },
      bad.slice(0, 20),
    );
  }
  t.like((await ask('submit', { tx_blob: blob })).result, {
    status: 'success',
    engine_result: 'tesSUCCESS',
    engine_result_code: 0,
    applied: true,
    validated_ledger_index: network.tip.height,
  });
});

test('R20 the fee of an open ledger rises with the square of what is in it, and the queue lets in the dearest first', (t) => {
  t.deepEqual(
    [0, 4, 5, 9].map((held) => openLedgerFee(10n, held, 5)),
    [10n, 10n, 7_200n, 20_000n],
  );
  const network = town({ targetSize: 2 });
  must(network, issuer, pay(bob, '5'));
  must(network, issuer, pay(bob, '5'));
  t.is(act(network, alice, pay(issuer, '1', { Fee: '10' })).result, 'terQUEUED');
  t.is(act(network, bob, pay(issuer, '2', { Fee: '20' })).result, 'terQUEUED');
  t.is(network.close().transactions.length, 2);
  t.is(network.openSize, 2, 'both fit into the next ledger');
  t.deepEqual(
    network.close().transactions.map(({ json }) => json['Account']),
    [bob.classicAddress, alice.classicAddress],
  );
});

test('R21 a queued transaction replaces its like for a quarter more and keeps its sequence; an expired one leaves', (t) => {
  const network = town({ targetSize: 1 });
  must(network, issuer, pay(bob, '5'));
  const sequence = nextSequence(network, alice.classicAddress);
  act(network, alice, pay(bob, '1', { Fee: '100', LastLedgerSequence: network.openHeight + 2 }));
  t.is(
    act(network, alice, pay(bob, '1', { Fee: '125', LastLedgerSequence: network.openHeight + 2 })).result,
    'terQUEUED',
  );
  t.deepEqual(
    network.queue.of(alice.classicAddress).map(({ json }) => [json['Fee'], json['Sequence']]),
    [['125', sequence]],
  );
  for (let i = 0; i < 3; i += 1) {
    must(network, issuer, pay(bob, '5'));
    network.close();
  }
  t.is(network.queue.size, 0);
});

test('R17 R21 tickets set sequences aside, are used in any order, once, and give their reserve back', (t) => {
  const network = town(),
    first = nextSequence(network, alice.classicAddress);
  must(network, alice, { TransactionType: 'TicketCreate', TicketCount: 3 });
  t.is(nextSequence(network, alice.classicAddress), first + 4);
  const owned = () => network.openState.get(accountKey(alice.classicAddress))!;
  t.like(owned(), { TicketCount: 3, OwnerCount: 4 });
  for (const ticket of [first + 3, first + 1])
    must(network, alice, pay(bob, '5', { Sequence: 0, TicketSequence: ticket }));
  t.is(act(network, alice, pay(bob, '6', { Sequence: 0, TicketSequence: first + 1 })).result, 'tefNO_TICKET');
  t.is(act(network, alice, pay(bob, '6', { Sequence: 0, TicketSequence: first + 40 })).result, 'terPRE_TICKET');
  t.like(owned(), { TicketCount: 1, OwnerCount: 2 });
  t.is(network.close().transactions.length, 3);
});

test('R3 R28 partial payments deliver what there is and say so; a transfer fee leaves with the sender', (t) => {
  const network = town({ transferRate: 1_002_000_000 });
  must(network, alice, pay(bob, value('10'), { SendMax: value('10.02') }));
  t.deepEqual([held(network, alice), held(network, bob)], [89_980_000_000_000_000n, 10_000_000_000_000_000n]);
  must(network, alice, pay(bob, value('1000000'), { Flags: 0x0002_0000, SendMax: value('1000000') }));
  network.close();
  const { meta } = network.tip.transactions.at(-1)!;
  t.like(meta, { TransactionResult: 'tesSUCCESS', DeliveredAmount: { value: '89.8003992015968' } });
  t.is(act(network, alice, pay(bob, '5', { Flags: 0x0002_0000 })).result, 'temBAD_SEND_XRP_PARTIAL');
});

test('R13 R27 lines: limits, freezes, authorisation and NoRipple stand in the way of a payment', (t) => {
  const over = town();
  trust(over, bob, usd, '5');
  t.is(act(over, alice, pay(bob, value('6'))).result, 'tecPATH_PARTIAL');
  must(over, issuer, {
    TransactionType: 'TrustSet',
    Flags: 0x0010_0000,
    LimitAmount: { ...usd, issuer: alice.classicAddress, value: '0' },
  });
  t.is(act(over, alice, pay(bob, value('1'))).result, 'tecPATH_DRY', 'frozen');
  t.is(act(over, alice, pay(issuer, value('1'))).result, 'tesSUCCESS', 'what is frozen goes back to its issuer');
  const global = town();
  must(global, issuer, { TransactionType: 'AccountSet', SetFlag: 7 });
  t.is(act(global, alice, pay(bob, value('1'))).result, 'tecPATH_DRY');
  const authorised = town({ requireAuth: true });
  trust(authorised, alice, usd);
  t.is(act(authorised, issuer, pay(alice, value('1'))).result, 'tecPATH_DRY', 'not authorised');
  must(authorised, issuer, {
    TransactionType: 'TrustSet',
    Flags: 0x0001_0000,
    LimitAmount: { ...usd, issuer: alice.classicAddress, value: '0' },
  });
  t.is(act(authorised, issuer, pay(alice, value('1'))).result, 'tesSUCCESS');
  const still = new LedgerNetwork({ nowMs: () => 1_760_000_000_000 });
  for (const wallet of [alice, bob, issuer]) fund(still, wallet.classicAddress, 100_000_000n);
  still.close();
  trust(still, alice, usd);
  trust(still, bob, usd);
  payToken(still, issuer, alice.classicAddress, value('5'));
  t.is(
    act(still, alice, pay(bob, value('1'))).result,
    'tecPATH_DRY',
    'an issuer without DefaultRipple lets nothing through',
  );
});

test('R12 R26 the first two lines are free, a line that is empty and asks for nothing goes', (t) => {
  const network = new LedgerNetwork({ nowMs: () => 1_760_000_000_000 });
  fund(network, poor.classicAddress, 1_000_000n);
  makeIssuer(network, issuer);
  network.close();
  const line = (currency: string, limit: string) =>
    act(network, poor, {
      TransactionType: 'TrustSet',
      Flags: limit === '0' ? 0x0004_0000 : 0x0002_0000,
      LimitAmount: { ...usd, currency, value: limit },
    }).result;
  t.deepEqual(
    ['AAA', 'BBB', 'CCC'].map((currency) => line(currency, '5')),
    ['tesSUCCESS', 'tesSUCCESS', 'tecNO_LINE_INSUF_RESERVE'],
  );
  t.is(network.openState.get(accountKey(poor.classicAddress))!['OwnerCount'], 2);
  // The holder's side of a line asks for nothing when it may ripple as the holder's account does by default.
  t.is(
    act(network, poor, {
      TransactionType: 'TrustSet',
      Flags: 0x0002_0000,
      LimitAmount: { ...usd, currency: 'AAA', value: '0' },
    }).result,
    'tesSUCCESS',
  );
  t.is(network.openState.get(accountKey(poor.classicAddress))!['OwnerCount'], 1);
});

test('R25 an account is deleted when it is old enough and owes nothing; a later payment makes it anew with another sequence', (t) => {
  const network = town(),
    gone = walletOf('gone');
  fund(network, gone.classicAddress, 20_000_000n);
  for (let i = 0; i < 256; i += 1) network.close();
  const before = drops(network, bob);
  t.is(
    act(network, gone, { TransactionType: 'AccountDelete', Destination: bob.classicAddress, Fee: '10' }).result,
    'telINSUF_FEE_P',
  );
  must(network, gone, {
    TransactionType: 'AccountDelete',
    Destination: bob.classicAddress,
    Fee: '200000',
    DestinationTag: 9,
  });
  const {
    transactions: [tx],
    state,
  } = network.close();
  t.is(drops(network, bob) - before, 19_800_000n);
  t.like(tx!.meta, { TransactionResult: 'tesSUCCESS', DeliveredAmount: '19800000' });
  t.false(state.has(accountKey(gone.classicAddress)));
  fund(network, gone.classicAddress, 5_000_000n);
  t.is(nextSequence(network, gone.classicAddress), network.openHeight);
});

test('8.1 deposit authorisation lets in whom it names, and small change for the poor', (t) => {
  const network = town();
  fund(network, poor.classicAddress, 1_000_000n);
  network.close();
  must(network, poor, { TransactionType: 'AccountSet', SetFlag: 9 });
  t.is(act(network, alice, pay(poor, '1000001')).result, 'tecNO_PERMISSION');
  t.is(act(network, alice, pay(poor, '1000000')).result, 'tesSUCCESS');
  t.is(act(network, alice, pay(poor, '1')).result, 'tecNO_PERMISSION', 'no longer poor');
  must(network, poor, { TransactionType: 'DepositPreauth', Authorize: alice.classicAddress });
  t.is(act(network, alice, pay(poor, '1')).result, 'tesSUCCESS');
});

test('8.4 servers lag, miss ledgers, fork, stall, speak as Clio does, are busy and die, each for itself', async (t) => {
  const network = town(),
    one = await served(t, network),
    two = await served(t, network);
  const info = async ({ ask }: typeof one) =>
    (await ask('server_info')).result?.['info'] as Json & { validated_ledger?: Json };
  const { faults } = one.server,
    height = network.tip.height;
  faults.lag = 3;
  t.like((await info(one)).validated_ledger, { seq: height - 3 });
  t.like((await info(two)).validated_ledger, { seq: height });
  t.like((await one.ask('ledger', { ledger_index: height })).result, { error: 'lgrNotFound' });
  faults.lag = 0;
  faults.missing = [{ first: height - 5, last: height - 4 }];
  t.is((await info(one))['complete_ledgers'], `${network.firstHeight}-${height - 6},${height - 3}-${height}`);
  t.like((await one.ask('ledger', { ledger_index: height - 4 })).result, { error: 'lgrNotFound' });
  t.like((await one.ask('tx', { transaction: 'AB'.repeat(32), min_ledger: height - 9, max_ledger: height })).result, {
    error: 'txnNotFound',
    searched_all: false,
  });
  t.like((await one.ask('tx', { transaction: 'AB'.repeat(32), min_ledger: height - 3, max_ledger: height })).result, {
    error: 'txnNotFound',
    searched_all: true,
  });
  faults.missing = [];
  faults.forkFrom = height - 1;
  const forked = (await one.ask('ledger', { ledger_index: height })).result!['ledger'] as Json,
    honest = (await two.ask('ledger', { ledger_index: height })).result!['ledger'] as Json;
  t.not(forked['ledger_hash'], honest['ledger_hash']);
  t.is(hashes.hashLedgerHeader(forked as never), String(forked['ledger_hash']), 'a lie that is right by itself');
  t.is(
    ((await one.ask('ledger', { ledger_index: height - 1 })).result!['ledger'] as Json)['ledger_hash'],
    forked['parent_hash'],
  );
  faults.forkFrom = null;
  network.isValidating = false;
  network.close();
  t.like((await info(one)).validated_ledger, { seq: height });
  network.isValidating = true;
  network.validate();
  t.like((await info(one)).validated_ledger, { seq: height + 1 });
  faults.isClio = true;
  t.like((await one.ask('server_state')).result, { error: 'unknownCmd' });
  t.is((await info(one))['server_state'], undefined);
  faults.isClio = false;
  for (const busy of ['slowDown', 'tooBusy', 'noNetwork', 'noCurrent'] as const) {
    faults.busy = busy;
    t.like((await one.ask('fee')).result, { status: 'error', error: busy });
  }
  faults.busy = { http: 503 };
  t.is((await one.ask('fee')).status, 503);
  faults.busy = null;
  faults.instead.set('submit', [{ engine_result: 'telWRONG_NETWORK' }]);
  t.like((await one.ask('submit', { tx_blob: '00' })).result, { engine_result: 'telWRONG_NETWORK' });
  t.like((await one.ask('submit', { tx_blob: '00' })).result, { error: 'invalidTransaction' });
  await one.server.die();
  await t.throwsAsync(() => one.ask('fee'));
  await one.server.revive();
  t.is((await one.ask('fee')).status, 200);
  t.like((await one.ask('nonsense')).result, { error: 'unknownCmd' });
});
