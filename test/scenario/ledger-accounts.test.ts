/**
 * What an application is told of a live service on each family: records and events, activation, opt-ins, ladder,
 * coverage, what is in flight.
 */
import test from 'ava';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { catalogueOf } from '../../chains/catalogue.ts';
import { isRefusal, type Refusal } from '../../protocol/errors.ts';
import { EVENTS, type Chain } from '../../protocol/slugs.ts';
import { openEvmStage } from '../../developer/demo-evm.ts';
import { openSolStage } from '../../developer/demo-sol.ts';
import { openTronStage } from '../../developer/demo-tron.ts';
import { openXlmStage } from '../../developer/demo-xlm.ts';
import { networkOf } from '../../chains/registry.ts';
import { accountKey } from '../../developer/stand-ins/xrp/entries.ts';
import { LedgerNetwork } from '../../developer/stand-ins/xrp/ledger-network.ts';
import { fund, must as mustXrp } from '../../developer/stand-ins/xrp/people.ts';
import { startXrpServer } from '../../developer/stand-ins/xrp/server.ts';
import { walletOf } from '../../developer/stand-ins/xrp/signers.ts';
import { RECIPIENT as BTC_RECIPIENT } from '../support/btc-inputs.ts';
import { calmClient, patiently, startPatientReceiver } from '../support/patience.ts';
import { CONTRACT, problemsOf, problemsOfEvent, type Movement } from '../support/record-contract.ts';
import { openBtc } from '../support/soak/btc.ts';
import { envOf } from '../support/soak/soak-chain.ts';
import { startTestDeployment } from '../support/test-deployment.ts';

const XLM = 10_000_000n;
const RLUSD = [...catalogueOf('xrp').values()].find(({ symbol }) => symbol === 'RLUSD')!;
const USDC = [...catalogueOf('xlm').values()].find(({ symbol }) => symbol === 'USDC')!;

/** An XRP ledger on which the token's issuer exists, with a payer. */
async function openXrp() {
  const [, issuer] = RLUSD.contract.split(':');
  const network = new LedgerNetwork({
    nowMs: () => performance.timeOrigin + performance.now(),
    accounts: [
      {
        LedgerEntryType: 'AccountRoot',
        Account: issuer,
        Balance: '1000000000',
        Flags: 0x0080_0000,
        OwnerCount: 0,
        Sequence: 1,
      },
    ],
  });
  const servers = await Promise.all([startXrpServer(network), startXrpServer(network)]),
    payer = walletOf('payer');
  fund(network, payer.classicAddress, 10_000_000_000n);
  network.close();
  return {
    cloudEnv: envOf(
      'xrp',
      servers.map(({ url }) => url),
    ),
    outsider: payer.classicAddress,
    balanceOf: async (address: string) =>
      BigInt(String(network.tip.state.get(accountKey(address))?.['Balance'] ?? '0')),
    mine: () => {
      network.close();
    },
    pay(to: string, drops: bigint) {
      const txid = mustXrp(network, payer, { TransactionType: 'Payment', Destination: to, Amount: drops.toString() });
      network.close();
      return txid;
    },
    close: async () => {
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}

const dataDir = mkdtempSync(join(tmpdir(), 'flock-ledgers-'));
const btc = await openBtc(),
  xlm = await openXlmStage(),
  xrp = await openXrp(),
  sol = await openSolStage(),
  tron = await openTronStage(),
  eth = await openEvmStage('eth'),
  receiver = await startPatientReceiver();
const deployment = await startTestDeployment('ledgers', {
  dataDir,
  environment: 'live',
  cloudEnv: {
    WEBHOOK_LADDER_SECONDS: '0,1,1,1',
    ...btc.cloudEnv,
    ...xlm.cloudEnv,
    ...xrp.cloudEnv,
    ...sol.cloudEnv,
    ...tron.cloudEnv,
    ...eth.cloudEnv,
  },
  edgeEnv: { EDGE_WEBHOOK_ALLOWLIST: `127.0.0.1:${receiver.port}` },
});
const client = calmClient({ baseUrl: deployment.edgeUrl, apiKey: deployment.localApiKey });
await patiently(
  'readiness',
  () => client.call('getEdgeReadiness'),
  (view) =>
    !isRefusal(view) &&
    (['btc', 'xrp', 'xlm', 'sol', 'tron', 'eth'] as const).every((chain) =>
      view.content.some((row) => row.chain === chain && row.state === 'ready'),
    ),
);
receiver.setSecret((await client.must('createWebhook', { body: { url: receiver.url, events: [...EVENTS] } })).secret);
test.after.always(async () => {
  await deployment.stop();
  await Promise.all([receiver.close(), btc.close(), xlm.close(), xrp.close(), sol.close(), tron.close(), eth.close()]);
  rmSync(dataDir, { recursive: true, force: true });
});

const newAddress = async (chain: Chain) =>
  (await client.must('createAddress', { body: { chain, userRef: 'customer-1' } })).address;
const told = (event: string, txid: string) => receiver.next((got) => got.event === event && got.data['txid'] === txid);
const openLine = (chain: 'xrp' | 'xlm', address: string) =>
  client.call('createTrustline', {
    params: { address },
    body: { chain, asset: (chain === 'xrp' ? RLUSD : USDC).contract },
  });
const codeOf = (answer: object): string => (isRefusal(answer) ? (answer as Refusal).code : 'built');

for (const [chain, pay, mine, unit] of [
  ['xlm', async (to: string, amount: bigint) => (await xlm.pay(to, amount)).txid, () => xlm.mine(1), XLM],
  ['xrp', async (to: string, amount: bigint) => xrp.pay(to, amount), async () => xrp.mine(), 1_000_000n],
] as const) {
  test(`§2.4 §4.2 §6 R7 R27 M4 M26 ${chain}: an account that is not there, its activation, and a trust line whose preconditions are checked in order`, async (t) => {
    const address = await newAddress(chain),
      params = { chain, address };
    t.like(
      await client.must('getBalance', { params }),
      { amount: '0', reserved: '0', available: '0', accountExists: false },
      'a real zero',
    );
    t.is(codeOf(await openLine(chain, address)), 'CHAIN_REJECTED', 'the account does not exist');

    const txid = await pay(address, (unit * 12n) / 10n);
    const activated = await told('address_activated', txid);
    t.like(activated.data, { chain, address });
    await told('deposit_confirmed', txid);
    t.is(
      receiver.received.filter(({ event, data }) => event === 'address_activated' && data['address'] === address)
        .length,
      1,
    );
    const balance = await client.must('getBalance', { params });
    t.like(balance, { amount: ((unit * 12n) / 10n).toString(), accountExists: true });
    t.is(BigInt(balance.amount) - BigInt(balance.reserved), BigInt(balance.available));
    t.is(BigInt(balance.reserved), unit, "the ledger's own reserve");
    // Stellar: 1.5 XLM and the fee. XRP: the first two lines need no reserve of their own.
    if (chain === 'xlm') t.is(codeOf(await openLine(chain, address)), 'INSUFFICIENT_RESERVE');
    const more = await pay(address, 20n * unit);
    await told('deposit_confirmed', more);
    t.false(
      receiver.received.some(({ event, data }) => event === 'address_activated' && data['txid'] === more),
      'once',
    );

    const built = await openLine(chain, address);
    if (isRefusal(built)) throw new Error(JSON.stringify(built));
    await client.must('broadcastTransaction', { params: { id: built.id } });
    await mine();
    await receiver.next((got) => got.event === 'withdrawal_confirmed' && got.data['transactionId'] === built.id);
    t.is(codeOf(await openLine(chain, address)), 'CONFLICT', 'the line is there');
    const token = (chain === 'xrp' ? RLUSD : USDC).contract;
    t.like(await client.must('getTokenBalance', { params: { chain, address, token } }), {
      amount: '0',
      accountExists: true,
    });
    t.is(
      codeOf(
        await client.call('createTrustline', {
          params: { address },
          body: { chain, asset: token.replace(/:.*/, ':') },
        }),
      ),
      'TOKEN_NOT_SUPPORTED',
    );
  });
}

test('§2.5 decisions 5 B3 btc: confirmations climb 1, 2, 3; coverage follows; a reorg takes it back with its depth', async (t) => {
  const address = await newAddress('btc'),
    txid = await btc.pay(address, 50_000n);
  const record = async () =>
    (await client.must('listTransactions', { query: { chain: 'btc', direction: 'in' } })).content.find(
      (row) => row.txid === txid,
    );
  t.is(await record(), undefined, 'B2: nothing before the first confirmation');
  const ladder: unknown[] = [];
  for (let step = 1; step <= 3; step += 1) {
    await btc.mine(1);
    const seen = await patiently(
      `${step} confirmations`,
      record,
      (row) => row?.confirmations === step && (step < 3 || row.status === 'confirmed'),
    );
    ladder.push([seen!.confirmations, seen!.threshold, seen!.status]);
  }
  t.deepEqual(ladder, [
    [1, 3, 'detected'],
    [2, 3, 'detected'],
    [3, 3, 'confirmed'],
  ]);
  t.like(await told('deposit_detected', txid), { event: 'deposit_detected' });
  await told('deposit_confirmed', txid);
  const head = await btc.headHeight();
  const coverage = await patiently(
    'coverage',
    () => client.call('getCoverage', { params: { chain: 'btc' } }),
    (view) => !isRefusal(view) && view.completeHeight === head,
  );
  t.like(coverage, { chain: 'btc', completeHeight: head, headHeight: head, lag: 0, unresolved: [] });
  await btc.reorg(4, () => false);
  const reversed = await told('deposit_reversed', txid);
  t.like(reversed.data, { reversedFrom: 'confirmed', amount: '50000', txid });
  t.is((await record())!.status, 'reversed');
  t.is((await client.must('getBalance', { params: { chain: 'btc', address } })).amount, '0');
});

interface Live {
  readonly unit: bigint;
  readonly outsider: string;
  pay(address: string, amount: bigint): unknown;
  mine(blocks: number): Promise<unknown> | void;
}
const LIVE: readonly (readonly [Chain, Live])[] = [
  ['btc', { ...btc, unit: 1_000_000n, outsider: BTC_RECIPIENT }],
  ['eth', { ...eth, unit: 10n ** 18n }],
  ['tron', { ...tron, unit: 1_000_000n }],
  ['sol', { ...sol, unit: 10n ** 9n }],
  [
    'xrp',
    {
      ...xrp,
      unit: 1_000_000n,
      mine: (blocks) => {
        for (let n = 0; n < blocks; n += 1) xrp.mine();
      },
    },
  ],
  ['xlm', { ...xlm, unit: XLM, outsider: xlm.token!.outsider }],
];

const buildOf = (chain: Chain, from: string, to: string, amount: bigint, key: string) =>
  client.must('buildTransaction', {
    body: { chain, from, to, amount: amount.toString(), paymentRef: key },
    idempotencyKey: key,
  });
const balanceAt = async (chain: Chain, address: string) =>
  BigInt((await client.must('getBalance', { params: { chain, address } })).amount);

for (const [chain, { unit, outsider, pay, mine }] of LIVE) {
  (chain === 'btc' ? test.serial : test)(
    `found F72: ${chain}: on its own ledger too every field of a withdrawal's record and events is there, typed and exact`,
    async (t) => {
      t.timeout(600_000);
      const { threshold: usual, nativeSymbol: symbol, nativeDecimals: decimals, explorer } = networkOf(chain),
        threshold = chain === 'btc' ? btc.threshold : usual,
        sinceMs = Date.now();
      const address = await newAddress(chain),
        amount = unit * 20n,
        sent = unit * 3n;
      await pay(address, amount);
      await mine(threshold);
      await receiver.next(({ event, data }) => event === 'deposit_confirmed' && data['address'] === address);
      const before = await balanceAt(chain, address),
        built = await buildOf(chain, address, outsider, sent, `record-${chain}`);
      const out: Movement = {
        holder: { chain, environment: 'live', address, userRef: 'customer-1', tag: null, label: null },
        asset: { contract: null, symbol, decimals },
        direction: 'out',
        status: 'built',
        id: built.id,
        txid: null,
        outputIndex: null,
        counterparty: outsider,
        amount: sent,
        inBlock: false,
        confirmations: (count) => count === 0,
        threshold,
        fee: null,
        versions: [],
        explorerUrl: null,
        sinceMs,
        before: null,
      };
      t.deepEqual(problemsOf(`${chain} built`, CONTRACT.built.schema, CONTRACT.built.table, built, out), []);
      const { txid } = await client.must('broadcastTransaction', { params: { id: built.id } });
      const onItsWay = await receiver.next(
        ({ event, data }) => event === 'withdrawal_broadcast' && data['transactionId'] === built.id,
      );
      await mine(threshold + 1);
      const confirmed = await receiver.next(
        ({ event, data }) => event === 'withdrawal_confirmed' && data['transactionId'] === built.id,
      );
      const record = await client.must('getTransaction', { params: { id: built.id } }),
        fee = before - sent - (await balanceAt(chain, address));
      const movement: Movement = {
        ...out,
        status: 'confirmed',
        txid,
        inBlock: true,
        confirmations: (count) => count >= threshold,
        fee,
        versions: [{ txid: txid!, at: 'block' }],
        explorerUrl: explorer.tx.replace('{id}', txid!),
      };
      t.deepEqual(
        problemsOf(`${chain} transaction`, CONTRACT.transaction.schema, CONTRACT.transaction.table, record, movement),
        [],
      );
      t.true(fee <= BigInt(built.feeEstimate.feeMax));
      t.deepEqual(
        problemsOfEvent(JSON.parse(confirmed.raw), {
          movement,
          record,
          event: 'withdrawal_confirmed',
          counted: (count) => count >= threshold,
        }),
        [],
      );
      const then = { ...record, height: null, blockHash: null, fee: null };
      t.deepEqual(
        problemsOfEvent(JSON.parse(onItsWay.raw), {
          movement,
          record: then,
          event: 'withdrawal_broadcast',
          counted: (count) => count === 0,
        }),
        [],
      );
    },
  );
}

for (const [chain, limit, count] of [
  ['xrp', 10, 14],
  ['xlm', 1, 4],
] as const) {
  test(`found F43: ${chain}: ${count} builds from one address, broadcast in any order and at once: ${limit} in flight, each lands, and nothing else is refused`, async (t) => {
    t.timeout(600_000);
    const { unit, outsider, pay, mine } = new Map(LIVE).get(chain)!,
      balanceOf = chain === 'xrp' ? xrp.balanceOf : xlm.balanceOf;
    const address = await newAddress(chain);
    await pay(address, unit * 100n);
    await receiver.next(({ event, data }) => event === 'deposit_confirmed' && data['address'] === address);
    const ids: string[] = [];
    for (let n = 0; n < count; n += 1)
      ids.push((await buildOf(chain, address, outsider, unit, `flight-${chain}-${n}`)).id);
    const left = ids
      .map((id, n) => ({ id, place: (n * 5) % count }))
      .sort((a, b) => a.place - b.place)
      .map(({ id }) => id);
    const held = await balanceOf(address),
      own = new Set<string>();
    while (left.length > 0) {
      const answers = await Promise.all(
        left.splice(0).map(async (id) => ({
          id,
          answer: await client.call('broadcastTransaction', { params: { id } }),
        })),
      );
      for (const { id, answer } of answers) {
        if (!isRefusal(answer)) own.add(id);
        else {
          t.like(answer, { code: 'CONFLICT', details: { reason: 'in_flight_limit', limit } });
          t.true((answer.details['inFlight'] as string[]).every((one) => ids.includes(one)));
          left.push(id);
        }
      }
      await mine(1);
      const ends = await Promise.all(
        [...own].map((id) =>
          receiver.next(
            ({ event, data }) =>
              ['withdrawal_confirmed', 'withdrawal_failed'].includes(event) && data['transactionId'] === id,
          ),
        ),
      );
      t.deepEqual(
        ends.flatMap(({ event, data }) => (event === 'withdrawal_failed' ? [data] : [])),
        [],
      );
    }
    t.is(own.size, count);
    const records = await Promise.all(ids.map((id) => client.must('getTransaction', { params: { id } })));
    t.deepEqual(new Set(records.map(({ status }) => status)), new Set(['confirmed']));
    t.is(
      held - (await balanceOf(address)),
      records.reduce((sum, { amount, fee }) => sum + BigInt(amount) + BigInt(fee!), 0n),
      'the ledger holds what the records say',
    );
  });
}
