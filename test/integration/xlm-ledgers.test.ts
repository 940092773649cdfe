import test, { type ExecutionContext } from 'ava';
import {
  Account,
  Asset,
  Claimant,
  Keypair,
  Memo,
  MuxedAccount,
  Operation,
  StrKey,
  TransactionBuilder,
  type Transaction,
} from '@stellar/stellar-sdk/base';
import { LedgerCloseMeta } from '@stellar/stellar-sdk/xdr';
import { ChainUnavailable, type Decoded, type Endpoint } from '../../chains/chain.ts';
import { accountText } from '../../chains/xlm/xdr.ts';
import { xlm } from '../../chains/xlm/index.ts';
import { stellar } from '../../chains/xlm/network.ts';
import { StellarLedger } from '../../developer/stand-ins/xlm/ledger.ts';
import {
  contractTransfer,
  creation,
  envelopeOf,
  opening,
  payment,
  person,
  settle,
} from '../../developer/stand-ins/xlm/people.ts';
import { StellarServer } from '../../developer/stand-ins/xlm/stand-in.ts';
import { endpointOf, KINDS, openWorld, ours, readerOf, XLM, type World } from '../support/xlm-node.ts';

const unavailable = { instanceOf: ChainUnavailable } as const;
const STRANGER = StrKey.encodeContract(Buffer.alloc(32, 5));
const muxed = (address: string, id: string): string => new MuxedAccount(new Account(address, '0'), id).accountId();

async function decode({ client, catalogue }: Pick<World, 'client' | 'catalogue'>, height: number): Promise<Decoded> {
  return xlm.transfersIn(stellar, await client.getBlock(height), catalogue);
}

/** What every source says of a ledger; each asked alone. */
async function both(t: ExecutionContext, world: World, height: number): Promise<Decoded> {
  const [rpc, horizon] = await Promise.all(
    KINDS.map(async (kind) => {
      const server = new StellarServer(world.ledger, kind);
      return decode({ ...readerOf([endpointOf(server)]), catalogue: world.catalogue }, height);
    }),
  );
  t.deepEqual(horizon!.transfers, rpc!.transfers, 'one payment has one key, whoever tells of it');
  t.deepEqual(horizon!.activations, rpc!.activations);
  return rpc!;
}

const credits = ({ transfers }: Decoded) =>
  transfers.map(({ outputIndex, to, amount, tokenContract, tag }) => [outputIndex, to, amount, tokenContract, tag]);

test('M2 M3 M4 M13 M14 G2 payments, path payments and creations read the same from both sources', async (t) => {
  const world = openWorld(),
    { ledger, payer, token, issuer } = world,
    [a, b] = [ours(0).address, ours(1).address];
  const asset = new Asset('USDC', issuer.publicKey());
  settle(ledger, payer, [creation(a, 20n * XLM), creation(b, 20n * XLM)]);
  for (const to of [a, b])
    ledger.state.put({
      kind: 'line',
      account: to,
      asset: token.contract,
      balance: 0n,
      limit: 2n ** 63n - 1n,
      flags: 1,
    });
  ledger.state.put({
    kind: 'line',
    account: ledger.market.maker,
    asset: token.contract,
    balance: 1_000n * XLM,
    limit: 2n ** 63n - 1n,
    flags: 1,
  });
  ledger.market.set(null, token.contract, 1n, 8n);
  const { closed } = settle(
    ledger,
    payer,
    [
      payment(a, 3n),
      payment(muxed(b, '420'), 5n, token.contract),
      Operation.pathPaymentStrictSend({
        sendAsset: Asset.native(),
        sendAmount: '16',
        destination: a,
        destAsset: asset,
        destMin: '1',
      }),
      Operation.pathPaymentStrictReceive({
        sendAsset: Asset.native(),
        sendMax: '100',
        destination: b,
        destAsset: asset,
        destAmount: '0.5',
      }),
    ],
    { memo: Memo.id('77') },
  );
  const decoded = await both(t, world, closed.height);
  t.deepEqual(credits(decoded), [
    [0, a, 3n, null, '77'],
    [1, b, 5n, token.contract, '420'],
    [2, a, 2n * XLM, token.contract, '77'],
    [3, b, XLM / 2n, token.contract, '77'],
  ]);
  t.true(decoded.transfers.every(({ from }) => from.includes(payer.publicKey())));
});

test('M5 M6 merges pay their whole balance, also nothing; a claimable balance pays when it is claimed', async (t) => {
  const world = openWorld(),
    { ledger, payer, token } = world,
    own = person(31),
    gone = person(32);
  settle(ledger, payer, [creation(own.publicKey(), 20n * XLM), creation(gone.publicKey(), 30n * XLM)]);
  settle(ledger, own, [opening(token.contract)]);
  const merged = settle(ledger, gone, [Operation.accountMerge({ destination: own.publicKey() })]);
  t.deepEqual(credits(await both(t, world, merged.closed.height)), [
    [0, own.publicKey(), 30n * XLM - 100n, null, null],
  ]);
  const claimants = [new Claimant(own.publicKey())];
  const asset = new Asset('USDC', world.issuer.publicKey());
  const made = settle(ledger, payer, [Operation.createClaimableBalance({ asset, amount: '7', claimants })]);
  t.deepEqual(credits(await both(t, world, made.closed.height)), []);
  const row = ledger.state.rows().find((one) => one.kind === 'claimable')!;
  const balanceId = `00000000${row.kind === 'claimable' ? row.id : ''}`;
  const claimed = settle(ledger, own, [Operation.claimClaimableBalance({ balanceId })]);
  t.deepEqual(credits(await both(t, world, claimed.closed.height)), [
    [0, own.publicKey(), 7n * XLM, token.contract, null],
  ]);
});

test('M4 M29 an account that somebody sponsors begins with nothing: activated, nothing paid', async (t) => {
  const world = openWorld(),
    { ledger, payer } = world,
    own = person(33);
  const { closed } = settle(
    ledger,
    payer,
    [
      Operation.beginSponsoringFutureReserves({ sponsoredId: own.publicKey() }),
      creation(own.publicKey(), 0n),
      Operation.endSponsoringFutureReserves({ source: own.publicKey() }),
    ],
    { beside: [own] },
  );
  const decoded = await both(t, world, closed.height);
  t.deepEqual(
    [decoded.transfers, decoded.activations],
    [[], [{ txid: closed.executed[0]!.read.hash, to: own.publicKey() }]],
  );
  t.deepEqual(await world.client.fetchBalance(own.publicKey(), null), {
    amount: 0n,
    reserved: 0n,
    available: 0n,
    decimals: 7,
    accountExists: true,
  });
});

test("M8 M10 M11 M17 contract transfers have one ordinal from both sources; a stranger's contract is none", async (t) => {
  const world = openWorld(),
    { ledger, payer, token } = world,
    own = ours(0).address;
  world.pay(own, 20n * XLM);
  ledger.state.put({ kind: 'line', account: own, asset: token.contract, balance: 0n, limit: 2n ** 63n - 1n, flags: 1 });
  const calls = [
    contractTransfer(ledger, payer.publicKey(), own, 5n, null),
    contractTransfer(ledger, payer.publicKey(), own, 6n, token.contract),
    contractTransfer(ledger, payer.publicKey(), muxed(own, '99'), 7n, token.contract),
    contractTransfer(ledger, payer.publicKey(), own, 8n, token.contract, STRANGER),
  ];
  const found: unknown[] = [];
  for (const call of calls)
    found.push(...credits(await both(t, world, settle(ledger, payer, [call], { isCall: true }).closed.height)));
  t.deepEqual(found, [
    [1_000_000, own, 5n, null, null],
    [1_000_000, own, 6n, token.contract, null],
    [1_000_000, own, 7n, token.contract, '99'],
  ]);
  const fake = person(34);
  settle(ledger, payer, [creation(fake.publicKey(), 20n * XLM)]);
  const spam = settle(ledger, fake, [
    Operation.createClaimableBalance({
      asset: new Asset('USDC', fake.publicKey()),
      amount: '1000',
      claimants: [new Claimant(own)],
    }),
  ]);
  t.deepEqual(credits(await both(t, world, spam.closed.height)), []);
});

test('M9 a node that also emits events of classic operations makes no payment two', async (t) => {
  const world = openWorld(),
    { ledger } = world,
    own = ours(0).address;
  ledger.emitsClassicEvents = true;
  world.pay(own, 20n * XLM);
  const { closed } = world.pay(own, 4n);
  t.deepEqual(credits(await both(t, world, closed.height)), [[0, own, 4n, null, null]]);
});

test('M1 M15 failed transactions pay nobody; a fee bump is known by both hashes', async (t) => {
  const world = openWorld(),
    { ledger, payer } = world,
    own = ours(0).address;
  world.pay(own, 20n * XLM);
  const failed = settle(ledger, payer, [payment(own, 5n), payment(person(99).publicKey(), 5n)]);
  const decoded = await both(t, world, failed.closed.height);
  t.deepEqual([decoded.transfers, decoded.ignored.length], [[], 2]);
  const [outcome] = xlm.outcomesIn(stellar, await world.client.getBlock(failed.closed.height), new Set([failed.hash]));
  t.like(outcome, { success: false, reason: 'tx_failed: op_no_destination', fee: 200n });
  const inner = TransactionBuilder.fromXDR(
    envelopeOf(ledger, payer, [payment(own, 9n)]),
    ledger.passphrase,
  ) as Transaction;
  const bump = TransactionBuilder.buildFeeBumpTransaction(world.issuer, '1000', inner, ledger.passphrase);
  bump.sign(world.issuer);
  const submitted = ledger.submit(bump.toXdr()),
    closed = ledger.close();
  const innerHash = Buffer.from(inner.hash()).toString('hex');
  t.like((await both(t, world, closed.height)).transfers[0], {
    txid: submitted.hash,
    innerTxid: innerHash,
    amount: 9n,
  });
  for (const hash of [submitted.hash, innerHash])
    t.like(await world.client.getOutcome(hash), { txid: hash, success: true, height: closed.height, fee: 200n });
});

test('M7 M12 G24 what offers bring is shown to an operator and credited to nobody', async (t) => {
  const world = openWorld(),
    { ledger, payer, token } = world;
  ledger.state.put({
    kind: 'line',
    account: ledger.market.maker,
    asset: token.contract,
    balance: 1_000n * XLM,
    limit: 2n ** 63n - 1n,
    flags: 1,
  });
  ledger.market.set(null, token.contract, 1n, 4n);
  const { hash, closed } = settle(ledger, payer, [
    Operation.manageSellOffer({
      selling: Asset.native(),
      buying: new Asset('USDC', world.issuer.publicKey()),
      amount: '8',
      price: '0.25',
    }),
  ]);
  const decoded = await decode(world, closed.height);
  t.deepEqual(decoded.transfers, []);
  t.true(
    decoded.unattributed!.some(
      ({ to, amount, tokenContract, evidence }) =>
        to === payer.publicKey() && amount === 2n * XLM && tokenContract === token.contract && evidence === `${hash}:0`,
    ),
  );
});

test('M16 M18 M26 a line that is opened, authorised or clawed back is no deposit', async (t) => {
  const world = openWorld(),
    { ledger, payer, issuer, token } = world,
    own = person(35);
  const asset = new Asset('USDC', issuer.publicKey());
  settle(ledger, payer, [creation(own.publicKey(), 20n * XLM)]);
  settle(ledger, issuer, [Operation.setOptions({ setFlags: (1 | 2 | 8) as never })]);
  const heights = [
    settle(ledger, own, [opening(token.contract)]),
    settle(ledger, issuer, [
      Operation.setTrustLineFlags({ trustor: own.publicKey(), asset, flags: { authorized: true } }),
    ]),
  ].map(({ closed }) => closed.height);
  settle(ledger, payer, [payment(own.publicKey(), 5n * XLM, token.contract)]);
  heights.push(
    settle(ledger, issuer, [Operation.clawback({ asset, from: own.publicKey(), amount: '2' })]).closed.height,
  );
  for (const height of heights) t.deepEqual((await both(t, world, height)).transfers, []);
  t.is((await world.client.fetchBalance(own.publicKey(), token)).amount, 3n * XLM);
});

// ── Proof ────────────────────────────────────────────────────────────────────────────────────────────────────────────

type Ledgers = { ledgers: { metadataXdr: string; hash: string; headerXdr: string; sequence: number }[] };

/** A ledger whose bytes were changed by whoever answers. */
function changed(change: (meta: LedgerCloseMeta & { type: 'v2' }) => void) {
  return (what: string, honest: unknown): unknown => {
    if (what !== 'getLedgers') return honest;
    const { ledgers, ...rest } = honest as Ledgers;
    return {
      ...rest,
      ledgers: ledgers.map((one) => {
        const meta = LedgerCloseMeta.fromXdr(one.metadataXdr, 'base64');
        if (meta.type === 'v2') change(meta);
        return { ...one, metadataXdr: meta.toXdr('base64') };
      }),
    };
  };
}

const LIES: readonly [what: string, lie: (what: string, honest: unknown) => unknown, reason: RegExp][] = [
  [
    'a transaction is missing',
    changed((meta) => {
      meta.v2.txProcessing.pop();
    }),
    /not whole/,
  ],
  [
    'a transaction stands twice',
    changed((meta) => {
      meta.v2.txProcessing.push(meta.v2.txProcessing[0]!);
    }),
    /not whole/,
  ],
  [
    'the order is another',
    changed((meta) => {
      meta.v2.txProcessing.reverse();
    }),
    /not whole/,
  ],
  [
    'an envelope is missing',
    changed((meta) => {
      Object.assign(meta.v2.txSet.v1TxSet, { phases: [] });
    }),
    /without the envelope/,
  ],
  [
    'the header names another result',
    changed((meta) => {
      Object.assign(meta.v2.ledgerHeader.header, { txSetResultHash: meta.v2.ledgerHeader.header.bucketListHash });
    }),
    /another hash/,
  ],
  [
    'the hash is of another ledger',
    (what, honest) =>
      what === 'getLedgers'
        ? {
            ...(honest as Ledgers),
            ledgers: (honest as Ledgers).ledgers.map((one) => ({ ...one, hash: 'ab'.repeat(32) })),
          }
        : honest,
    /another hash/,
  ],
  [
    'the ledger is another one',
    (what, honest) =>
      what === 'getLedgers'
        ? {
            ...(honest as Ledgers),
            ledgers: (honest as Ledgers).ledgers.map((one) => ({ ...one, sequence: one.sequence - 1 })),
          }
        : honest,
    /another ledger/,
  ],
  [
    'no ledger',
    (what, honest) => (what === 'getLedgers' ? { ...(honest as Ledgers), ledgers: [] } : honest),
    /no ledger/,
  ],
  [
    'the meta is cut off',
    (what, honest) =>
      what === 'getLedgers'
        ? {
            ...(honest as Ledgers),
            ledgers: (honest as Ledgers).ledgers.map((one) => ({ ...one, metadataXdr: one.metadataXdr.slice(0, 400) })),
          }
        : honest,
    /not its XDR/,
  ],
];

for (const [what, lie, reason] of LIES) {
  test(`G8 G9 rpc: a ledger of which ${what} is no ledger`, async (t) => {
    const world = openWorld(),
      [server] = world.servers,
      own = ours(0).address;
    world.pay(own, 20n * XLM);
    world.ledger.submit(envelopeOf(world.ledger, world.payer, [payment(own, 1n)]));
    world.ledger.submit(envelopeOf(world.ledger, world.issuer, [payment(own, 2n)]));
    const { height } = world.ledger.close();
    t.is(
      (await decode({ ...readerOf([endpointOf(server!)]), catalogue: world.catalogue }, height)).transfers.length,
      2,
      'the honest ledger',
    );
    server!.lie = lie;
    const error = await t.throwsAsync(() => world.client.getBlock(height));
    t.regex(error.message, reason);
  });
}

test('G9 M8 rpc: events that were taken out of a contract call are missed', async (t) => {
  const world = openWorld(),
    own = ours(0).address;
  world.pay(own, 20n * XLM);
  const { closed } = settle(
    world.ledger,
    world.payer,
    [contractTransfer(world.ledger, world.payer.publicKey(), own, 5n, null)],
    { isCall: true },
  );
  world.servers[0]!.lie = changed((meta) => {
    const processed = meta.v2.txProcessing[0]!.txApplyProcessing;
    if (processed.type === 'v4') processed.v4.operations[0]!.events.pop();
  });
  await t.throwsAsync(() => world.client.getBlock(closed.height), { ...unavailable, message: /events are not those/ });
});

test('G8 G9 horizon: what is missing or changed in its answers is no ledger; what it says of a classic payment is not read', async (t) => {
  const world = openWorld(['horizon']),
    [server] = world.servers,
    own = ours(0).address;
  world.pay(own, 20n * XLM);
  world.ledger.submit(envelopeOf(world.ledger, world.payer, [payment(own, 1n)]));
  world.ledger.submit(envelopeOf(world.ledger, world.issuer, [payment(own, 2n)]));
  const { height } = world.ledger.close();
  const records = (honest: unknown) =>
    (honest as { _embedded: { records: Record<string, unknown>[] } })._embedded.records;
  const onList =
    (suffix: string, change: (records: Record<string, unknown>[]) => Record<string, unknown>[]) =>
    (what: string, honest: unknown) =>
      what.endsWith(suffix) ? { _embedded: { records: change(records(honest)) } } : honest;
  const lies: [RegExp, (what: string, honest: unknown) => unknown][] = [
    [/not whole/, onList('/transactions', (all) => all.slice(1))],
    [/not whole/, onList('/transactions', (all) => all.toReversed())],
    [
      /not whole/,
      onList('/transactions', (all) =>
        all.map((one) => ({ ...one, result_xdr: all[0]!['result_xdr'], hash: all[0]!['hash'] })),
      ),
    ],
    [
      /an envelope that is not/,
      onList('/transactions', (all) => all.map((one) => ({ ...one, envelope_xdr: all[0]!['envelope_xdr'] }))),
    ],
    [
      /another parent/,
      (what, honest) =>
        /^\/ledgers\/\d+$/.test(what) ? { ...(honest as object), prev_hash: 'ab'.repeat(32) } : honest,
    ],
    [
      /another hash/,
      (what, honest) => (/^\/ledgers\/\d+$/.test(what) ? { ...(honest as object), hash: 'ab'.repeat(32) } : honest),
    ],
  ];
  for (const [reason, lie] of lies) {
    server!.lie = lie;
    await t.throwsAsync(() => readerOf([endpointOf(server!)]).client.getBlock(height), { message: reason });
  }
  server!.lie = onList('/operations', (all) =>
    all.map((one) => ({ ...one, amount: '999.0000000', to: person(40).publicKey() })),
  );
  t.deepEqual(
    credits(await decode({ ...readerOf([endpointOf(server!)]), catalogue: world.catalogue }, height)).map(
      ([, to, amount]) => [to, amount],
    ),
    [
      [own, 1n],
      [own, 2n],
    ],
  );
  server!.lie = onList('/effects', (all) =>
    all.map((one) => (one['type'] === 'account_credited' ? { ...one, amount: '0.0000001' } : one)),
  );
  await t.throwsAsync(() => decode({ ...readerOf([endpointOf(server!)]), catalogue: world.catalogue }, height), {
    ...unavailable,
    message: /credit less than/,
  });
});

test("M12 rpc: a ledger whose entries grew by less than was paid is not taken; by more, the rest is nobody's payment", async (t) => {
  const world = openWorld(),
    [server] = world.servers,
    own = ours(0).address;
  world.pay(own, 20n * XLM);
  const {
    closed: { height },
  } = world.pay(own, 5n * XLM);
  const grown = (more: bigint) =>
    changed((meta) => {
      const processed = meta.v2.txProcessing[0]!.txApplyProcessing;
      if (processed.type !== 'v4') throw new Error(processed.type);
      for (const change of processed.v4.operations[0]!.changes) {
        if (change.type !== 'ledgerEntryUpdated' || change.value.data.type !== 'account') continue;
        if (accountText(change.value.data.account.accountId) === own)
          Object.assign(change.value.data.account, { balance: change.value.data.account.balance + more });
      }
    });
  server!.lie = grown(-1n);
  await t.throwsAsync(() => decode({ ...readerOf([endpointOf(server!)]), catalogue: world.catalogue }, height), {
    ...unavailable,
    message: /credit less than payment paid/,
  });
  server!.lie = grown(3n);
  const decoded = await decode({ ...readerOf([endpointOf(server!)]), catalogue: world.catalogue }, height);
  t.deepEqual(credits(decoded), [[0, own, 5n * XLM, null, null]]);
  t.deepEqual(
    decoded.unattributed!.map(({ to, amount }) => [to, amount]),
    [[own, 3n]],
  );
  const gone = person(37);
  world.pay(gone.publicKey(), 30n * XLM);
  const merged = settle(world.ledger, gone, [Operation.accountMerge({ destination: own })]).closed.height;
  for (const more of [-1n, 1n]) {
    server!.lie = grown(more);
    const taken = () => decode({ ...readerOf([endpointOf(server!)]), catalogue: world.catalogue }, merged);
    await t.throwsAsync(taken, { ...unavailable, message: /a merge whose entries differ from its result/ });
  }
});

test('M6 G8 horizon: effects that lack what a claim paid leave the ledger unproven', async (t) => {
  const world = openWorld(['horizon']),
    { ledger, payer } = world,
    own = person(36);
  settle(ledger, payer, [creation(own.publicKey(), 20n * XLM)]);
  settle(ledger, payer, [
    Operation.createClaimableBalance({
      asset: Asset.native(),
      amount: '3',
      claimants: [new Claimant(own.publicKey())],
    }),
  ]);
  const row = ledger.state.rows().find((one) => one.kind === 'claimable')!;
  const { closed } = settle(ledger, own, [
    Operation.claimClaimableBalance({ balanceId: `00000000${row.kind === 'claimable' ? row.id : ''}` }),
  ]);
  t.deepEqual(credits(await decode(world, closed.height)), [[0, own.publicKey(), 3n * XLM, null, null]]);
  world.servers[0]!.lie = (what, honest) => (what.endsWith('/effects') ? { _embedded: { records: [] } } : honest);
  await t.throwsAsync(
    () => decode({ ...readerOf(world.servers.map(endpointOf)), catalogue: world.catalogue }, closed.height),
    unavailable,
  );
});

// ── Servers ──────────────────────────────────────────────────────────────────────────────────────────────────────────

test('9.2 RPC servers are asked first, Horizon where they cannot prove an answer', async (t) => {
  const world = openWorld(['horizon', 'rpc']),
    [horizon, rpc] = world.servers;
  world.pay(ours(0).address, 20n * XLM);
  await world.client.getHead();
  horizon!.asked.length = 0;
  const { height } = world.ledger.close();
  await world.client.getHead();
  await world.client.getBlock(height);
  await world.client.fetchBalance(ours(0).address, null);
  t.deepEqual(horizon!.asked, []);
  rpc!.dead = true;
  t.is((await world.client.fetchBalance(ours(0).address, null)).amount, 20n * XLM);
  const { height: next } = world.ledger.close();
  t.is((await world.client.getHead()).height, next);
  t.is((await world.client.getBlock(next)).height, next);
});

for (const kind of KINDS) {
  test(`9.4-2 G12 ${kind}: beyond what a server keeps nothing is skipped: the ledger waits for one that has it`, async (t) => {
    const world = openWorld([kind]),
      [server] = world.servers;
    const cursor = world.ledger.newest.height;
    for (let i = 0; i < 10; i += 1) world.ledger.close();
    server!.retention = 3;
    await world.client.getHead();
    t.is(await world.client.nextHeight(cursor), cursor + 1, 'the next one is the next one');
    await t.throwsAsync(() => world.client.getBlock(cursor + 1), {
      ...unavailable,
      message: /keeps nothing before|before_history/,
    });
    await t.throwsAsync(() => world.client.getBlockHash(cursor), unavailable);
    const archive = new StellarServer(world.ledger, 'horizon', 'archive');
    const { client } = readerOf([endpointOf(server!), endpointOf(archive)]);
    t.is((await client.getBlock(cursor + 1)).height, cursor + 1);
  });

  test(`G10 9.4-3 ${kind}: a server that is behind is asked only when no other one is left`, async (t) => {
    const world = openWorld([kind, kind]),
      [fast, slow] = world.servers,
      own = ours(0).address;
    world.pay(own, 20n * XLM);
    for (let i = 0; i < 5; i += 1) world.ledger.close();
    slow!.lag = 4;
    const head = world.ledger.newest.height;
    for (let i = 0; i < 4; i += 1) t.is((await world.client.getHead()).height, head);
    world.pay(own, 5n * XLM);
    await world.client.getHead();
    for (let i = 0; i < 4; i += 1) t.is((await world.client.fetchBalance(own, null)).amount, 25n * XLM);
    t.is(await world.client.getBlockHash(head + 1), world.ledger.at(head + 1)!.hash, 'its "not yet" is not believed');
    fast!.dead = true;
    await t.throwsAsync(() => world.client.fetchBalance(own, null), unavailable);
    t.is((await world.client.getHead()).height, head + 1 - 4, 'a head that all show lower is the head');
  });

  test(`G14 ${kind}: a server of another network is disabled`, async (t) => {
    const world = openWorld([kind, kind]),
      [wrong] = world.servers;
    wrong!.passphrase = 'Test SDF Network ; September 2015';
    await world.client.checkIdentity();
    t.deepEqual(
      world.transport.health().map(({ state }) => state),
      ['wrong_network', 'healthy'],
    );
    wrong!.passphrase = stellar.identity;
    await world.client.checkIdentity();
    t.is(world.transport.health()[0]!.state, 'healthy');
    for (const server of world.servers) server.passphrase = 'Standalone Network ; February 2017';
    await t.throwsAsync(() => world.client.checkIdentity(), { ...unavailable, message: /another network/ });
  });

  test(`9.4-1 ${kind}: a server with another ledger for a height that was accepted is disabled by the others`, async (t) => {
    const world = openWorld([kind, kind]),
      stranger = new StellarLedger({ startTime: 1_600_000_000 });
    for (let i = 0; i < 6; i += 1) {
      world.ledger.close();
      stranger.close();
    }
    const liar = new StellarServer(stranger, kind, 'liar');
    const { client, transport } = readerOf([...world.servers.map(endpointOf), endpointOf(liar)]);
    const height = stranger.newest.height;
    await client.getBlock(height);
    const hashes = new Set<string | null>();
    for (let i = 0; i < 6; i += 1) hashes.add(await client.getBlockHash(height).catch(() => null));
    t.true(hashes.has(world.ledger.at(height)!.hash) && !hashes.has(stranger.at(height)!.hash));
    t.is(transport.health().find(({ name }) => name === 'liar')!.state, 'wrong_network');
  });

  test(`G8 ${kind}: a limit, a cut connection and an illness are no answers`, async (t) => {
    const world = openWorld([kind]),
      [server] = world.servers,
      own = ours(0).address;
    await world.client.getHead();
    const asks = [
      () => world.client.fetchBalance(own, null),
      () => world.client.getBlock(world.ledger.newest.height),
      () => world.client.getHead(),
      () => world.client.getOutcome('ab'.repeat(32)),
    ];
    server!.callsLeft = 0;
    world.ledger.close();
    for (const ask of asks) await t.throwsAsync(ask, unavailable);
    server!.callsLeft = null;
    server!.dead = true;
    for (const ask of asks) await t.throwsAsync(ask, unavailable);
    server!.dead = false;
    t.deepEqual(
      await world.client.fetchBalance(own, null),
      { amount: 0n, reserved: 0n, available: 0n, decimals: 7, accountExists: false },
      'a 404 is a real zero',
    );
  });
}

test('9.4-3 G10 a Horizon that is behind its own core says nothing of balances', async (t) => {
  const world = openWorld(['horizon']),
    [server] = world.servers,
    own = ours(0).address;
  world.pay(own, 20n * XLM);
  for (let i = 0; i < 5; i += 1) world.ledger.close();
  server!.lag = 5;
  await t.throwsAsync(() => world.client.fetchBalance(own, null), { ...unavailable, message: /behind its own core/ });
  t.is((await world.client.getHead()).height, world.ledger.newest.height - 5, 'its history is read as far as it goes');
});

test('G8 an RPC server that calls itself ill is not asked; entries of nobody are null or an empty list', async (t) => {
  const world = openWorld(['rpc']),
    [server] = world.servers,
    own = ours(0).address;
  server!.nullEntries = true;
  t.false((await world.client.fetchBalance(own, null)).accountExists);
  server!.illness = 'latency (59s) since last known ledger closed is too high (>30s)';
  await t.throwsAsync(() => world.client.getHead(), { ...unavailable, message: /latency/ });
  server!.illness = null;
  server!.lie = (what, honest) => (what === 'getLedgerEntries' ? {} : honest);
  await t.throwsAsync(() => world.client.fetchBalance(own, null));
  server!.lie = (what, honest) =>
    what === 'getLedgerEntries' ? { ...(honest as object), entries: [{ key: 'AAAA', xdr: 'AAAA' }] } : honest;
  await t.throwsAsync(() => world.client.fetchBalance(own, null));
});

test('G19 C2-22 an outcome is read again; a server whose word and ledger differ proves nothing', async (t) => {
  for (const kind of KINDS) {
    const world = openWorld([kind]),
      [server] = world.servers,
      own = ours(0).address;
    const { hash, closed } = world.pay(own, 20n * XLM);
    const at = { height: closed.height, hash: closed.hash };
    t.like(await world.client.getOutcome(hash, at), { success: true, reason: null, fee: 100n, ...at });
    t.is(await world.client.getOutcome('cd'.repeat(32), at), null);
    const elsewhere = (what: string, honest: unknown) =>
      what === 'getTransaction' || what.startsWith('/transactions/')
        ? { ...(honest as object), ledger: closed.height - 1 }
        : honest;
    server!.lie = elsewhere;
    await t.throwsAsync(() => readerOf([endpointOf(server!)]).client.getOutcome(hash, at), {
      ...unavailable,
      message: /and it is not/,
    });
    server!.lie = null;
    for (let i = 0; i < 5; i += 1) world.ledger.close();
    server!.retention = 2;
    await t.throwsAsync(
      () => readerOf([endpointOf(server!)]).client.getOutcome(hash, at),
      unavailable,
      'history that is gone is no "no"',
    );
  }
});

test('C1-15 C2-21 9.4-4 a stream that repeats or goes silent costs nothing: ledgers are polled and read whole', async (t) => {
  const world = openWorld(['horizon']),
    [server] = world.servers,
    own = ours(0).address;
  server!.silent = true;
  world.pay(own, 20n * XLM);
  const { closed } = world.pay(own, 3n);
  t.is(await world.client.nextHeight(closed.height - 1), closed.height);
  server!.lie = (what, honest) => {
    if (!what.endsWith('/transactions') && !what.endsWith('/effects')) return honest;
    const {
      _embedded: { records },
    } = honest as { _embedded: { records: unknown[] } };
    return { _embedded: { records: [...records, ...records] } };
  };
  t.deepEqual(credits(await decode(world, closed.height)), [[0, own, 3n, null, null]]);
});

test('9.2 pages of more than 200 records are read to their end', async (t) => {
  const world = openWorld(['horizon']),
    { ledger, payer } = world;
  const people = Array.from({ length: 5 }, (_, i) => Keypair.fromRawEd25519Seed(Buffer.alloc(32, 200 + i)));
  settle(
    ledger,
    payer,
    people.map((one) => creation(one.publicKey(), 100n * XLM)),
  );
  const own = ours(0).address;
  world.pay(own, 20n * XLM);
  for (const one of people)
    ledger.submit(
      envelopeOf(
        ledger,
        one,
        Array.from({ length: 90 }, (_, i) => payment(own, BigInt(i + 1))),
      ),
    );
  const { height } = ledger.close();
  const decoded = await decode(world, height);
  t.is(decoded.transfers.length, 450);
  t.is(
    decoded.transfers.reduce((sum, { amount }) => sum + amount, 0n),
    (5n * 90n * 91n) / 2n,
  );
  t.true(world.servers[0]!.asked.filter((path) => path.endsWith('/effects')).length >= 5);
});

test('G7 property of a chain: every ledger names its parent, from either source', async (t) => {
  for (const kind of KINDS) {
    const world = openWorld([kind]);
    for (let i = 0; i < 4; i += 1) world.ledger.close();
    const { height } = await world.client.getHead();
    for (let at = world.ledger.first + 1; at <= height; at += 1) {
      const block = await world.client.getBlock(at);
      t.is(block.parentHash, (await world.client.getBlock(at - 1)).hash);
      t.is(block.timeMs, world.ledger.at(at)!.closeTime * 1_000);
    }
  }
});

const neither: Endpoint = { name: 'page', request: async () => ({ status: 200, headers: {}, text: '<html>' }) };

test('9.2 an endpoint that is neither kind of server is no source', async (t) => {
  await t.throwsAsync(() => readerOf([neither]).client.getHead());
});
