/** Reading a ledger through servers that are what servers are: behind, incomplete, lying, busy, dead. */
import test from 'ava';
import { ChainUnavailable, type Block, type Catalogue, type Endpoint } from '../../chains/chain.ts';
import { xrp } from '../../chains/xrp/network.ts';
import { transfersIn, type XrpLedger } from '../../chains/xrp/transfers.ts';
import { act, fund, makeIssuer, must, payToken, trust } from '../../developer/stand-ins/xrp/people.ts';
import { walletOf } from '../../developer/stand-ins/xrp/signers.ts';
import type { Json } from '../../developer/stand-ins/xrp/transactions.ts';
import { replayAnswers } from '../support/recorded-endpoint.ts';
import { ours, readerOf, startNode, tokenOf, walletAt } from '../support/xrp-node.ts';
import { vectorText } from '../support/vectors.ts';

const unavailable = (message?: RegExp) => ({
  instanceOf: ChainUnavailable,
  ...(message === undefined ? {} : { message }),
});
const US = ours(0, 0).address,
  alice = walletOf('alice'),
  issuer = walletOf('issuer');
const usd = { currency: 'USD', issuer: issuer.classicAddress },
  USD = tokenOf(issuer.classicAddress);
const listed: Catalogue = new Map([[USD.contract, USD]]);
const paidTo = (block: Block<XrpLedger>, address = US) =>
  transfersIn(xrp, block, listed).transfers.filter(({ to }) => to === address);

test('R1 R7 R9 R15 a payment that makes an account is one transfer with its tag that activates; a drop more is one that does not', async (t) => {
  const { network, client } = await startNode(t);
  fund(network, alice.classicAddress, 100_000_000n);
  network.close();
  const pay = (Amount: string, more: Json = {}) =>
    must(network, alice, { TransactionType: 'Payment', Destination: US, Amount, ...more });
  const first = pay('25000000', { DestinationTag: 0 }),
    created = network.close().height;
  const second = pay('1', { Memos: [{ Memo: { MemoData: Buffer.from('https://spam.example').toString('hex') } }] });
  network.close();
  const [activation] = paidTo(await client.getBlock(created)),
    [drop] = paidTo(await client.getBlock(created + 1));
  t.like(activation!, {
    txid: first,
    outputIndex: 0,
    amount: 25_000_000n,
    tag: '0',
    activates: true,
    from: [alice.classicAddress],
  });
  t.like(drop!, { txid: second, amount: 1n, tag: null });
  t.is(drop!.activates, undefined);
  t.like(await client.fetchBalance(US, null), {
    amount: 25_000_001n,
    reserved: 1_000_000n,
    available: 24_000_001n,
    accountExists: true,
  });
});

test('R1 R8 a tec and a payment that the ledger refused pay nobody', async (t) => {
  const { network, client } = await startNode(t);
  fund(network, alice.classicAddress, 10_000_000n);
  network.close();
  t.is(
    act(network, alice, { TransactionType: 'Payment', Destination: US, Amount: '999999' }).result,
    'tecNO_DST_INSUF_XRP',
  );
  const { height, transactions } = network.close();
  t.is(transactions.length, 1);
  t.deepEqual(paidTo(await client.getBlock(height)), []);
  t.like(await client.fetchBalance(US, null), { amount: 0n, accountExists: false });
});

test('R2 R3 R10 R12 C2-26 C2-29 a partial payment of a token is credited with what arrived, after the issuer kept its share', async (t) => {
  const { network, client } = await startNode(t);
  for (const address of [US, alice.classicAddress]) fund(network, address, 100_000_000n);
  makeIssuer(network, issuer, { transferRate: 1_100_000_000 });
  network.close();
  trust(network, alice, usd);
  payToken(network, issuer, alice.classicAddress, { ...usd, value: '11' });
  t.is(
    act(network, alice, { TransactionType: 'Payment', Destination: US, Amount: { ...usd, value: '1' } }).result,
    'tecPATH_DRY',
    'no line, no deposit',
  );
  network.close();
  trust(network, walletAt(0, 0), usd);
  network.close();
  const txid = must(network, alice, {
    TransactionType: 'Payment',
    Destination: US,
    Flags: 0x0002_0000,
    Amount: { ...usd, value: '5000' },
    SendMax: { ...usd, value: '5500' },
  });
  const { height } = network.close();
  t.like(paidTo(await client.getBlock(height)), [
    { txid, amount: 10n * 10n ** 15n, decimals: 15, tokenContract: USD.contract },
  ]);
  t.like(await client.fetchBalance(US, USD), { amount: 10n * 10n ** 15n, accountExists: true });
  t.like(await client.fetchBalance(alice.classicAddress, USD), { amount: 0n, accountExists: true });
  t.like(await client.fetchBalance(walletOf('nobody').classicAddress, USD), { amount: 0n, accountExists: false });
});

test('R5 an account that is deleted pays what it had to us', async (t) => {
  const { network, client } = await startNode(t);
  const gone = walletOf('gone');
  for (const address of [US, gone.classicAddress]) fund(network, address, 20_000_000n);
  for (let i = 0; i < 257; i += 1) network.close();
  must(network, gone, { TransactionType: 'AccountDelete', Destination: US, Fee: '200000', DestinationTag: 3 });
  const { height } = network.close();
  t.like(paidTo(await client.getBlock(height)), [{ amount: 19_800_000n, tag: '3', from: [gone.classicAddress] }]);
});

test('G7 8.4-1 ledgers come one by one, each the parent of the next; none is made up beyond the newest', async (t) => {
  const { network, client } = await startNode(t);
  let previous = await client.getBlock(network.tip.height - 5);
  for (let height = network.tip.height - 4; height <= network.tip.height; height += 1) {
    const block = await client.getBlock(height);
    t.is(block.parentHash, previous.hash);
    t.is(await client.getBlockHash(height), block.hash);
    previous = block;
  }
  t.is(await client.nextHeight(network.tip.height), null);
  t.is(await client.getBlockHash(network.tip.height + 1), null);
  await t.throwsAsync(() => client.getBlock(network.tip.height + 1), unavailable(/lgrNotFound/));
  network.close();
  t.is(await client.nextHeight(network.tip.height - 1), network.tip.height);
});

test('8.4-1 R1 a ledger that is closed and validated by nobody is not read', async (t) => {
  const { network, client } = await startNode(t);
  const { height: before } = await client.getHead();
  network.isValidating = false;
  fund(network, US, 5_000_000n);
  network.close();
  t.is((await client.getHead()).height, before);
  await t.throwsAsync(() => client.getBlock(before + 1), unavailable());
  t.is((await client.fetchBalance(US, null)).accountExists, false);
  network.isValidating = true;
  network.validate();
  t.like(await client.getHead(), { height: before + 1, finalizedHeight: before + 1 });
  t.is(paidTo(await client.getBlock(before + 1)).length, 1);
});

test('8.4-4 8.4-5 C1-12 a network that stands still is CHAIN_UNAVAILABLE after a minute, and comes back', async (t) => {
  const { network, client, passMs } = await startNode(t);
  await client.getHead();
  passMs(61_000);
  for (const ask of [() => client.getHead(), () => client.checkIdentity()])
    await t.throwsAsync(ask, unavailable(/s old/));
  network.close();
  t.is((await client.getHead()).height, network.tip.height);
});

test('8.4-2 G8 C1-4 a server without a ledger leaves it unknown; one that has it answers, also for the parent', async (t) => {
  const {
    network,
    servers: [one, two],
    client,
  } = await startNode(t, { servers: 2 });
  const height = network.tip.height - 3;
  for (const missing of [
    { first: height, last: height },
    { first: height - 1, last: height - 1 },
  ]) {
    one!.faults.missing = [missing];
    for (let i = 0; i < 3; i += 1) t.is((await client.getBlock(height)).height, height);
  }
  two!.faults.missing = [{ first: height - 2, last: height }];
  one!.faults.missing = [{ first: height, last: height }];
  await t.throwsAsync(() => client.getBlock(height), unavailable());
  await t.throwsAsync(() => client.getBlockHash(height), unavailable(), 'not there is not "no such ledger"');
});

/** What a server can leave out or add, and the words of the refusal. */
const LIES: readonly (readonly [what: string, change: (ledger: Json, result: Json) => Json, message: RegExp])[] = [
  [
    'the last transaction',
    (ledger) => ({ ...ledger, transactions: (ledger['transactions'] as Json[]).slice(0, -1) }),
    /some are missing/,
  ],
  [
    'the first transaction',
    (ledger) => ({ ...ledger, transactions: (ledger['transactions'] as Json[]).slice(1) }),
    /no transaction with index 0/,
  ],
  ['all transactions', (ledger) => ({ ...ledger, transactions: [] }), /are not there/],
  ['a hash', (ledger) => ({ ...ledger, ledger_hash: 'AB'.repeat(32) }), /not that of its header/],
  ['a parent', (ledger) => ({ ...ledger, parent_hash: 'AB'.repeat(32) }), /not that of its header/],
  ['a coin total', (ledger) => ({ ...ledger, total_coins: '5' }), /not that of its header/],
  [
    'metadata',
    (ledger) => ({ ...ledger, transactions: (ledger['transactions'] as Json[]).map(({ meta: _meta, ...tx }) => tx) }),
    /no metadata/,
  ],
  [
    'a transaction twice',
    (ledger) => ({
      ...ledger,
      transactions: [...(ledger['transactions'] as Json[]), (ledger['transactions'] as Json[])[0]],
    }),
    /twice/,
  ],
];

for (const [what, change, message] of LIES) {
  test(`G8 G9 C1-6 a ledger with a wrong or missing part is not believed: ${what}`, async (t) => {
    const {
      network,
      servers: [one],
      client,
      transport,
    } = await startNode(t);
    fund(network, US, 5_000_000n);
    fund(network, alice.classicAddress, 5_000_000n);
    const { height } = network.close();
    one!.faults.rewrite = (method, params, result) => {
      if (method !== 'ledger' || params['expand'] !== true) return undefined;
      return { ...result, ledger: change(result['ledger'] as Json, result) };
    };
    await t.throwsAsync(() => client.getBlock(height), { message });
    one!.faults.rewrite = null;
    t.is(paidTo(await client.getBlock(height)).length, 1);
    t.is(transport.health()[0]!.state, 'healthy');
  });
}

test('G9 another ledger than the one that was asked for is not believed', async (t) => {
  const {
    network,
    servers: [one],
    client,
  } = await startNode(t);
  const other = network.ledgerAt(network.tip.height - 1)!;
  one!.faults.rewrite = (method, params, result) =>
    method === 'ledger' && params['ledger_index'] === network.tip.height
      ? { ...result, ledger_hash: other.hash, ledger: { ...other.header, ledger_hash: other.hash, transactions: [] } }
      : undefined;
  await t.throwsAsync(() => client.getBlock(network.tip.height), unavailable(/another ledger/));
  await t.throwsAsync(() => client.getBlockHash(network.tip.height), unavailable(/another ledger/));
});

test('8.4-3 C3-30 a server that contradicts an accepted ledger is disabled, and stays so while it does', async (t) => {
  const {
    network,
    servers: [one],
    client,
    transport,
  } = await startNode(t, { servers: 3 });
  const height = network.tip.height;
  const { hash } = await client.getBlock(height);
  one!.faults.forkFrom = height - 2;
  for (let i = 0; i < 4; i += 1) t.is(await client.getBlockHash(height), hash);
  t.deepEqual(
    transport.health().map(({ state }) => state),
    ['wrong_network', 'healthy', 'healthy'],
  );
  network.close();
  for (let i = 0; i < 4; i += 1) t.is((await client.getBlock(height + 1)).parentHash, hash);
  await client.checkIdentity();
  t.is(transport.health()[0]!.state, 'wrong_network', 'its network number is right, its ledger is not');
  one!.faults.forkFrom = null;
  await client.checkIdentity();
  t.is(transport.health()[0]!.state, 'healthy');
});

test('8.4-3 G10 of two servers that differ neither is disabled: one vote each proves nothing, and a deposit waits for both', async (t) => {
  const {
    network,
    servers: [one],
    endpoints,
  } = await startNode(t, { servers: 2 });
  const height = network.tip.height;
  one!.faults.forkFrom = height;
  const { client, transport } = readerOf(endpoints);
  const { hash: accepted } = await client.getBlock(height);
  for (let i = 0; i < 4; i += 1) t.is(await client.getBlockHash(height), accepted, 'no other one takes its place');
  const alone = await Promise.all(endpoints.map((endpoint) => readerOf([endpoint]).client.getBlockHash(height)));
  t.is(new Set(alone).size, 2, 'a quorum of two finds one that holds it and one that does not: nothing is confirmed');
  t.deepEqual(
    transport.health().map(({ state }) => state === 'wrong_network'),
    [false, false],
  );
  one!.faults.forkFrom = null;
  network.close();
  const { hash } = await readerOf(endpoints).client.getBlock(height + 1);
  t.is(hash, network.tip.hash);
});

test('8.4-3 a lie that was accepted first is outvoted: it is forgotten and who told it is disabled', async (t) => {
  const {
    network,
    servers: [one],
    endpoints,
  } = await startNode(t, { servers: 3 });
  const height = network.tip.height;
  one!.faults.forkFrom = height;
  const { client, transport } = readerOf(endpoints);
  const lie = await client.getBlock(height);
  t.not(lie.hash, network.tip.hash, 'the first server was asked');
  t.is(await client.getBlockHash(height), network.tip.hash);
  t.is(transport.health()[0]!.state, 'wrong_network');
  t.is((await client.getBlock(height)).hash, network.tip.hash);
});

test('G14 a server of another network is disabled, whatever it is asked first', async (t) => {
  const {
    network,
    servers: [one, two],
    client,
    transport,
  } = await startNode(t, { servers: 2 });
  one!.faults.networkId = 1;
  await client.checkIdentity();
  t.deepEqual(
    transport.health().map(({ state }) => state),
    ['wrong_network', 'healthy'],
  );
  for (let i = 0; i < 3; i += 1) t.is((await client.getBlock(network.tip.height)).hash, network.tip.hash);
  two!.faults.networkId = 21_337;
  await t.throwsAsync(() => client.checkIdentity(), unavailable(/is of network 21337/));
  one!.faults.networkId = 0;
  await client.checkIdentity();
  t.is(transport.health()[0]!.state, 'healthy', 'the number of the main network may be said');
  two!.faults.networkId = 5;
  const alone = readerOf([(await startNode(t)).endpoints[0]!]);
  t.is((await alone.client.getHead()).finalizedHeight, (await alone.client.getHead()).height);
});

test('G10 a server that is behind is skipped for heads, ledgers, balances and builds; when all are behind, their head is the head', async (t) => {
  const {
    network,
    servers: [one, two],
    client,
    transport,
  } = await startNode(t, { servers: 2 });
  fund(network, US, 5_000_000n);
  network.close();
  const { height } = await client.getHead();
  one!.faults.lag = 4;
  for (let i = 0; i < 3; i += 1) {
    t.is((await client.getHead()).height, height);
    t.is((await client.fetchBalance(US, null)).amount, 5_000_000n, 'never the zero of the past');
    t.is((await client.getBlock(height)).height, height);
  }
  t.is(transport.health()[0]!.state, 'lagging');
  two!.faults.lag = 6;
  t.is((await client.getHead()).height, height - 4);
  await t.throwsAsync(() => client.getBlock(height), unavailable());
});

test('G10 8.2 busy, rate-limited and dead servers leave their turn to others; alone they are CHAIN_UNAVAILABLE', async (t) => {
  const {
    network,
    servers: [one, two],
    client,
  } = await startNode(t, { servers: 2 });
  const height = network.tip.height;
  for (const busy of ['slowDown', 'tooBusy', 'noNetwork', 'noCurrent', { http: 503 }, { http: 429 }] as const) {
    one!.faults.busy = busy;
    for (let i = 0; i < 3; i += 1) t.is((await client.getBlock(height)).height, height, JSON.stringify(busy));
  }
  await one!.die();
  t.is((await client.getHead()).height, height);
  two!.faults.busy = 'tooBusy';
  for (const ask of [
    () => client.getHead(),
    () => client.getBlock(height),
    () => client.fetchBalance(US, null),
    () => client.getOutcome('AB'.repeat(32)),
    () => client.checkIdentity(),
  ] as (() => Promise<unknown>)[]) {
    await t.throwsAsync(ask, unavailable());
  }
  await one!.revive();
  one!.faults.busy = null;
  t.is((await client.getHead()).height, height);
});

test('8.2 a Clio server is read like a rippled: reserves in XRP, no state of its own', async (t) => {
  const {
    network,
    servers: [one],
    client,
  } = await startNode(t, { fees: { baseFee: 10n, reserveBase: 1_000_000n, reserveIncrement: 200_000n } });
  fund(network, US, 5_000_000n);
  network.close();
  one!.faults.isClio = true;
  t.like(await client.fetchBalance(US, null), { amount: 5_000_000n, reserved: 1_000_000n });
  t.is((await client.getBlock(network.tip.height)).hash, network.tip.hash);
});

test('C8-64 R24 reserves are the ones of the day; objects are counted; a missing account is a real zero, an error none', async (t) => {
  const {
    network,
    servers: [one],
    client,
  } = await startNode(t, { fees: { baseFee: 10n, reserveBase: 20_000_000n, reserveIncrement: 5_000_000n } });
  fund(network, alice.classicAddress, 100_000_000n);
  network.close();
  must(network, alice, { TransactionType: 'TicketCreate', TicketCount: 3 });
  network.close();
  t.like(await client.fetchBalance(alice.classicAddress, null), {
    amount: 99_999_990n,
    reserved: 35_000_000n,
    available: 64_999_990n,
  });
  network.fees = { ...network.fees, reserveBase: 1_000_000n, reserveIncrement: 200_000n };
  t.like(await client.fetchBalance(alice.classicAddress, null), { reserved: 1_600_000n });
  t.like(await client.fetchBalance(US, null), { amount: 0n, reserved: 0n, accountExists: false });
  for (const rewrite of [
    (method: string, _params: Json, result: Json) =>
      method === 'account_info'
        ? { ...result, account_data: { ...(result['account_data'] as Json), Account: US } }
        : undefined,
    (method: string, _params: Json, result: Json) =>
      method === 'account_info' ? { ...result, validated: false } : undefined,
    (method: string, _params: Json, result: Json) =>
      method === 'account_info' ? { ...result, account_data: {} } : undefined,
    (method: string) => (method === 'server_state' ? {} : undefined),
  ]) {
    one!.faults.rewrite = rewrite;
    await t.throwsAsync(() => client.fetchBalance(alice.classicAddress, null));
  }
});

test('R10 R24 lines are read page by page; an issuer with many holders is not the end of them', async (t) => {
  const {
    network,
    client,
    servers: [one],
  } = await startNode(t);
  makeIssuer(network, issuer);
  fund(network, alice.classicAddress, 1_000_000_000n);
  network.close();
  const codes = Array.from({ length: 450 }, (_, i) => `Z${i.toString(36).toUpperCase().padStart(2, '0')}`);
  for (const [i, currency] of codes.entries()) {
    trust(network, alice, { currency, issuer: issuer.classicAddress });
    if (i % 30 === 29) network.close();
  }
  const last = codes.at(-1)!,
    token = tokenOf(issuer.classicAddress, last);
  payToken(network, issuer, alice.classicAddress, { currency: last, issuer: issuer.classicAddress, value: '7' });
  network.close();
  t.is((await client.fetchBalance(alice.classicAddress, token)).amount, 7n * 10n ** 15n);
  t.true(one!.asked.filter((method) => method === 'account_lines').length >= 2);
});

test('K4 R11 C9-68 a token is its currency and an issuer that is there; it counts in 15 decimals like every other', async (t) => {
  const {
    network,
    client,
    servers: [one],
  } = await startNode(t);
  makeIssuer(network, issuer);
  network.close();
  const of = (currency: string, who = issuer.classicAddress) => client.fetchTokenFacts(`${currency}:${who}`);
  t.deepEqual(await of('USD'), { symbol: 'USD', name: '', decimals: 15 });
  t.like(await of('524C555344000000000000000000000000000000'), { symbol: 'RLUSD' });
  t.like(await of('015841551A748AD2C1F76FF6ECB0CCCD00000000'), { symbol: '015841551A748AD2C1F76FF6ECB0CCCD00000000' });
  t.like(await of('USD', walletOf('nobody').classicAddress), { ok: false, code: 'TOKEN_NOT_SUPPORTED' });
  one!.faults.busy = 'noNetwork';
  await t.throwsAsync(() => of('USD'), unavailable());
});

test('G19 the outcome of a transaction is asked again with its ledger; one that is in none is null when every server says so', async (t) => {
  const {
    network,
    servers: [one, two],
    client,
  } = await startNode(t, { servers: 2 });
  const txid = fund(network, US, 5_000_000n);
  t.is(await client.getOutcome(txid), null, 'in no validated ledger yet');
  const { height, hash } = network.close();
  t.deepEqual(await client.getOutcome(txid), { txid, success: true, reason: null, fee: 10n, height, hash });
  t.deepEqual(await client.getOutcome(txid, { height, hash }), {
    txid,
    success: true,
    reason: null,
    fee: 10n,
    height,
    hash,
  });
  t.is(await client.getOutcome(txid, { height: height - 1, hash }), null);
  t.is(await client.getOutcome('AB'.repeat(32)), null);
  one!.faults.missing = [{ first: height, last: height }];
  t.like(await client.getOutcome(txid), { height }, 'the other server has it');
  two!.faults.busy = 'noNetwork';
  await t.throwsAsync(() => client.getOutcome('AB'.repeat(32)), unavailable(), 'one server is not all of them');
  await t.throwsAsync(() => client.getOutcome(txid, { height, hash }), unavailable(), 'a server that has not looked');
});

test('1.7 G8 recorded answers through the client: a mainnet ledger of which transactions were taken is not whole, its hash is right', async (t) => {
  for (const height of [90150378, 94084608]) {
    const exchange = (method: string, params: Json, text: string) => ({
      method: 'POST' as const,
      path: '',
      body: JSON.stringify({ method, params: [{ ...params, api_version: 2 }] }),
      reply: { status: 200, headers: {}, text },
    });
    const info = {
      info: {
        complete_ledgers: `32570-${height}`,
        server_state: 'full',
        validated_ledger: {
          seq: height,
          hash: 'AB'.repeat(32),
          age: 2,
          base_fee_xrp: 0.00001,
          reserve_base_xrp: 1,
          reserve_inc_xrp: 0.2,
        },
      },
      status: 'success',
    };
    const text = vectorText(`nodes/xrp/ledger_${height}.json`);
    const endpoint: Endpoint = replayAnswers('xrp', 'recorded', [
      exchange('ledger', { ledger_index: height, transactions: true, expand: true }, text),
      exchange('ledger', { ledger_index: height }, text),
      exchange('server_info', {}, JSON.stringify({ result: info })),
      exchange(
        'ledger',
        {
          ledger_hash: (JSON.parse(text) as { result: { ledger: { parent_hash: string } } }).result.ledger.parent_hash,
        },
        '{"result":{"error":"lgrNotFound","status":"error"}}',
      ),
    ]);
    const { client } = readerOf([endpoint]);
    t.is((await client.getHead()).height, height);
    t.is(
      await client.getBlockHash(height),
      (JSON.parse(text) as { result: { ledger_hash: string } }).result.ledger_hash,
    );
    await t.throwsAsync(() => client.getBlock(height), unavailable(/lgrNotFound|no transaction with index/));
  }
});
