/** EDGE_SPEND_LEDGER: one count for all replicas, in the customer's own PostgreSQL or in a directory they share. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { openPostgresSpend } from '../../../edge/spend/postgres-spend.ts';
import { exclusiveKeys } from '../../../edge/signing/payments.ts';
import { openSharedSpend, spendLedgerPlace, spendReplicaOf } from '../../../edge/spend/shared-spend.ts';
import type { SharedSpend, SpendReplica } from '../../../edge/spend/replica.ts';
import type { Spend, SpendCaps } from '../../../edge/spend/caps.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { openDatabase } from '../../../persistence/postgres/sql.ts';
import { HostileCloud } from '../../support/edge/hostile-cloud.ts';
import { builtFor, RECEIVER, transactionFor, type Wanted } from '../../support/edge/built.ts';
import { newDirectory, newStorage } from '../../support/edge/disk.ts';
import { eventually, FIRST, startTestEdge } from '../../support/edge/edges.ts';
import { newSpendDatabase } from '../../support/edge/spend-database.ts';

const WINDOW_MS = 3_600_000;
let replicas = 0;

const processOf = (name: string, heirOf: string | null = null): SpendReplica => ({
  name,
  heirOf,
  noteCounted: () => undefined,
});
type Opened = (scope?: string, caps?: Partial<SpendCaps>) => Promise<SharedSpend>;

function opener(t: ExecutionContext, place: string): Opened {
  return async (scope = 'live a', more = {}) => {
    const caps: SpendCaps = { spendCaps: new Map(), withdrawalCaps: new Map(), spendWindowMs: WINDOW_MS, ...more };
    const ledger = await openSharedSpend({
      place: spendLedgerPlace(place)!,
      scope,
      caps,
      wallMs: Date.now,
      monotonicMs: () => performance.now(),
      clock: { nowMs: () => Math.ceil(performance.now()) },
      replica: processOf(`replica ${(replicas += 1)}`),
    });
    t.teardown(() => ledger.close());
    return ledger;
  };
}

const PLACES = [
  ['PostgreSQL', newSpendDatabase],
  ['a shared directory', async () => newDirectory()],
] as const;
const spendOf = (subject: string, amount: bigint, more: Partial<Spend> = {}): Spend => ({
  subject,
  chain: 'eth',
  purpose: 'withdrawal',
  amount,
  exclusive: [`nonce:${subject}`],
  ...more,
});
const CAP = { withdrawalCaps: new Map([['eth' as const, 500n]]) };

for (const [name, placeOf] of PLACES) {
  test(`decisions 6: in ${name} the cap holds exactly over replicas that count at the same time, and over restarts`, async (t) => {
    const open = opener(t, await placeOf(t));
    const replicas = await Promise.all([open('live a', CAP), open('live a', CAP), open('live a', CAP)]);
    const answers = await Promise.all(
      Array.from({ length: 90 }, (_, index) => replicas[index % 3]!.count(spendOf(`txn_${index}`, 10n))),
    );
    t.is(answers.filter((answer) => answer === null).length, 50);
    t.true(answers.every((answer) => answer === null || answer.code === 'AMOUNT_CAP_EXCEEDED'));
    const refused = answers.find((answer) => answer !== null)!;
    t.like(refused.details, { cap: '500', spent: '500', amount: '10', setting: 'EDGE_WITHDRAWAL_CAP_ETH' });
    const counted = answers.findIndex((answer) => answer === null);
    const later = await open('live a', CAP);
    t.is(await later.count(spendOf(`txn_${counted}`, 10n)), null, 'what is counted is not counted twice');
    t.is((await later.count(spendOf('one more', 1n)))?.code, 'AMOUNT_CAP_EXCEEDED');
    t.is(await later.count(spendOf('other chain', 1n, { chain: 'bsc' })), null);
  });

  test(`found F11: in ${name} replicas find each other's key sets, each its newest, of their own edge alone`, async (t) => {
    const open = opener(t, await placeOf(t)),
      [one, two] = [await open(), await open()];
    const set = (replica: string, version: number, issuedAtMs: number) => ({
      environment: 'live' as const,
      replica: `rep_${replica.repeat(26)}`,
      version,
      issuedAtMs,
      validUntilMs: issuedAtMs + 1,
      covers: [],
      keys: '[]',
      signature: 'ab'.repeat(64),
    });
    const [a1, a2, b1] = [set('a', 1, 1_000), set('a', 2, 2_000), set('b', 1, 3_000)];
    for (const each of [a2, a1, b1]) await one.putKeySet(each);
    const byReplica = (sets: unknown[]) => (sets as (typeof a1)[]).sort((x, y) => (x.replica < y.replica ? -1 : 1));
    t.deepEqual(byReplica(await two.keySets([])), [a2, b1]);
    t.deepEqual(
      await two.keySets([
        { replica: a2.replica, version: 2 },
        { replica: b1.replica, version: 0 },
      ]),
      [b1],
    );
    const later = set('c', 1, 3_000 + 90 * 86_400_000);
    await two.putKeySet(later);
    t.deepEqual(byReplica(await one.keySets([])), [b1, later], 'those of replicas long gone are forgotten');
    if (name === 'PostgreSQL') t.deepEqual(await (await open('live b')).keySets([]), []);
  });

  test(`found F57: in ${name} what is retired is counted by no replica, and what was counted is not retired, also where both come at once`, async (t) => {
    const open = opener(t, await placeOf(t)),
      [one, two] = [await open(), await open()],
      of = (id: string) => ({ subject: `subject of ${id}`, transactionId: id, chain: 'eth' as const }),
      count = (ledger: SharedSpend, id: string, payment = `to ${id}`) =>
        ledger.count(spendOf(`subject of ${id}`, 1n, { transactionId: id, payment, version: `v ${id}`, wallMs: 1 }));
    t.true(await one.retire(of('a')));
    t.true(await two.retire(of('a')), 'it is retired once and for all');
    t.like(await count(two, 'a'), { details: { reason: 'signed_under_another_key' } });
    t.is(await count(two, 'b', 'to a'), null, 'the newer build of that payment is in nobody’s way');
    t.false(await one.retire(of('b')));
    t.false(await one.retire({ ...of('b'), subject: 'another instruction under this id' }));
    t.deepEqual(
      (await one.open(10)).map(({ transactionId }) => transactionId),
      ['b'],
    );
    const races = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const id = `race ${index}`,
          [retired, refusal] = await Promise.all([one.retire(of(id)), count(two, id)]);
        return Number(retired === true) + Number(refusal === null);
      }),
    );
    t.deepEqual(new Set(races), new Set([1]), 'one of the two, never both, never neither');
  });

  test(`found F6: in ${name} tokens are summed each by itself over replicas, and what is refused for another reason uses no cap up`, async (t) => {
    const open = opener(t, await placeOf(t)),
      usdc = '0xUSDC',
      caps = { ...CAP, tokenCaps: new Map([['eth' as const, new Map([[usdc, 100n]])]]) };
    const [one, other] = await Promise.all([open('live a', caps), open('live a', caps)]);
    const moves = (subject: string, amount: bigint, more: Partial<Spend> = {}) =>
      spendOf(subject, 1n, { token: { contract: usdc, amount }, ...more });
    t.is(await one.count(moves('a', 30n, { payment: 'to bob', sender: '0xa', counter: 1n })), null);
    t.is(
      await other.count(moves('a', 40n, { payment: 'to bob', sender: '0xa', counter: 1n })),
      null,
      'versions are counted once, at the most',
    );
    for (const again of ['b', 'c', 'd']) {
      t.like(await one.count(moves(again, 60n, { payment: 'to bob' })), {
        code: 'CONFLICT',
        details: { reason: 'equal_payment_signed', earlier: ['a'] },
      });
    }
    t.like(await one.count(moves('e', 60n, { exclusive: ['nonce:e'], transactionId: 'a' })), {
      code: 'SIGNED_BATCH_REJECTED',
    });
    t.like(await one.count(spendOf('f', 500n, { token: { contract: usdc, amount: 1n } })), {
      code: 'AMOUNT_CAP_EXCEEDED',
      details: { setting: 'EDGE_WITHDRAWAL_CAP_ETH' },
    });
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? one : other).count(moves(`g${index}`, 10n))),
    );
    t.is(answers.filter((answer) => answer === null).length, 6, 'the first 40 and six times 10');
    t.like(
      answers.find((answer) => answer !== null)!,
      {
        code: 'AMOUNT_CAP_EXCEEDED',
        details: {
          setting: 'EDGE_WITHDRAWAL_TOKEN_CAPS_ETH',
          tokenContract: usdc,
          cap: '100',
          spent: '100',
          amount: '10',
        },
      },
    );
    t.like(await one.count(spendOf('h', 1n, { token: { contract: '0xOTHER', amount: 1n } })), {
      code: 'AMOUNT_CAP_EXCEEDED',
      details: { cap: '0', tokenContract: '0xOTHER' },
    });
    t.is(await one.count(spendOf('i', 1n)), null, 'the native cap is another one');
    t.is((await one.open(100)).length, 1, 'a sum of tokens is no payment');
  });

  test(`found F3: in ${name} every version that any replica counted is kept, and one that names none leaves it open`, async (t) => {
    const open = opener(t, await placeOf(t)),
      [one, two] = [await open(), await open()];
    const count = (replica: SharedSpend, version: string | undefined, subject = 'hash') =>
      replica.count(
        spendOf(subject, 1n, {
          transactionId: `of ${subject}`,
          sender: 'a',
          payment: `payment of ${subject}`,
          exclusive: ['nonce:1'],
          counter: 1n,
          ...(version === undefined ? {} : { version }),
        }),
      );
    t.is(await one.versionsOf('of hash'), null);
    for (const [replica, version] of [
      [one, 'v1'],
      [two, 'v2'],
      [one, 'v2'],
    ] as const)
      t.is(await count(replica, version), null);
    t.deepEqual(await one.versionsOf('of hash'), ['v1', 'v2']);
    t.is(await count(one, undefined, 'former'), null);
    t.is(await count(two, 'v3', 'former'), null);
    t.is(await two.versionsOf('of former'), null, 'an edge of before counted one, and nobody knows which');
    t.like(
      await one.count(
        spendOf('other', 1n, {
          transactionId: 'of other',
          sender: 'a',
          payment: 'another payment',
          exclusive: ['nonce:1'],
          counter: 1n,
          version: 'v3',
        }),
      ),
      { details: { reason: 'payload_of_another_payment' } },
      'what was counted after it is known all the same',
    );
    await one.note(['of hash', 'of nothing'], 'failed');
    t.deepEqual((await two.open(9)).map(({ transactionId, told }) => [transactionId, told]).sort(), [
      ['of former', 'nothing'],
      ['of hash', 'failed'],
    ]);
    await one.settle(['of hash'], 'dead', ['v1']);
    t.is((await two.open(9)).length, 2, 'found F1: of another version nothing is proven');
    await one.settle(['of hash'], 'dead', ['v2', 'v1', 'v3']);
    t.deepEqual(
      (await two.open(9)).map(({ transactionId }) => transactionId),
      ['of former'],
    );
    t.is(await count(one, 'v2'), null, 'signed again, it blocks again');
    await two.settle(['of hash'], 'by_operator');
    t.deepEqual(
      (await one.open(9)).map(({ transactionId }) => transactionId),
      ['of former'],
    );
  });

  test(`found F3: in ${name} the same bytes pay one payment, whichever replica counted them first`, async (t) => {
    const open = opener(t, await placeOf(t)),
      [one, two] = [await open(), await open()];
    const count = (replica: SharedSpend, subject: string, payment: string | null, version = 'bytes', sender = 'a') =>
      replica.count(
        spendOf(subject, 1n, {
          transactionId: `of ${subject}`,
          sender,
          payment,
          exclusive: ['nonce:1'],
          counter: 1n,
          version,
        }),
      );
    t.is(await count(one, 'a', 'payout 1'), null);
    for (const payment of ['payout 2', null])
      t.like(await count(two, 'b', payment), {
        code: 'SIGNED_BATCH_REJECTED',
        details: { reason: 'payload_of_another_payment' },
      });
    t.is(await count(two, 'a', 'payout 1'), null, 'a version that is counted again');
    t.is(await count(two, 'c', 'payout 1'), null, 'the same payment, built again');
    t.is(await count(two, 'd', 'payout 2', 'other bytes'), null);
    t.is(
      await count(two, 'f', 'payout 4', 'bytes', 'b'),
      null,
      'unsigned bytes name no sender on EVM chains: of another one they are another transaction',
    );
    await one.settle(['of a', 'of c'], 'landed');
    t.like(await count(two, 'e', 'payout 3'), { details: { reason: 'payload_of_another_payment' } });
  });

  test(`decisions 6: in ${name} one instruction is signed under one replay key; what the cloud can start has cap zero`, async (t) => {
    const open = opener(t, await placeOf(t));
    const [one, other] = await Promise.all([open(), open()]);
    t.is(await one.count(spendOf('txn_1', 5n, { exclusive: ['nonce:7'] })), null);
    t.like(await other.count(spendOf('txn_1', 5n, { exclusive: ['nonce:8'] })), {
      code: 'SIGNED_BATCH_REJECTED',
      details: { reason: 'signed_under_another_key' },
    });
    t.is(
      await other.count(spendOf('txn_1', 6n, { exclusive: ['nonce:7', 'nonce:8'] })),
      null,
      'a version that shares a key excludes the first one',
    );
    const coins = (...exclusive: string[]) => one.count(spendOf('txn_2', 5n, { exclusive }));
    t.is(await coins('outpoints:a', 'outpoints:b'), null);
    t.is(await coins('outpoints:b', 'outpoints:c'), null);
    t.like(
      await coins('outpoints:a'),
      { code: 'SIGNED_BATCH_REJECTED' },
      'it excludes the first version and not the second',
    );
    t.like(
      await coins('outpoints:c'),
      { code: 'SIGNED_BATCH_REJECTED' },
      'it excludes the second version and not the first',
    );
    t.is(await coins('outpoints:b', 'outpoints:d'), null);
    t.like(await one.count(spendOf('sweep', 1n, { purpose: 'cloud' })), {
      code: 'AMOUNT_CAP_EXCEEDED',
      details: { setting: 'EDGE_SPEND_CAP_ETH', cap: '0' },
    });
    t.is(await one.count(spendOf('big', 10n ** 30n)), null);
  });
}

test('two payloads that only expire share no key; two with one counter do', (t) => {
  const [first, second] = ['a', 'b'].map((payload) =>
    exclusiveKeys({ chain: 'tron', from: 'a', payload, replayKey: { kind: 'expiry', value: '9' } }),
  );
  t.notDeepEqual(first, second);
  t.deepEqual(
    exclusiveKeys({ chain: 'eth', from: 'a', payload: 'a', replayKey: { kind: 'nonce', value: 9 } }),
    exclusiveKeys({ chain: 'eth', from: 'a', payload: 'b', replayKey: { kind: 'nonce', value: 9 } }),
  );
});

test('edges of other phrases and environments that use one database count apart', async (t) => {
  const open = opener(t, await newSpendDatabase(t));
  const [ours, theirs] = await Promise.all([open('live a', CAP), open('sandbox a', CAP)]);
  t.is(await ours.count(spendOf('txn_1', 500n)), null);
  t.is(await theirs.count(spendOf('txn_1', 500n, { exclusive: ['nonce:other'] })), null);
});

test('issue 4, 7: in a database time passes as the replicas say, whatever its clock does and whoever starts anew', async (t) => {
  const url = await newSpendDatabase(t);
  const caps: SpendCaps = { spendCaps: new Map(), withdrawalCaps: CAP.withdrawalCaps, spendWindowMs: WINDOW_MS };
  const replica = (name: string, startedAtMs: number, heirOf: string | null = null) => {
    const clock = { ms: startedAtMs };
    const ledger = openPostgresSpend({
      url,
      scope: 'live a',
      caps,
      clock: { nowMs: () => clock.ms },
      replica: processOf(name, heirOf),
    });
    t.teardown(() => ledger.close());
    return {
      clock,
      count: async (subject: string, amount: bigint) => (await ledger.count(spendOf(subject, amount)))?.code ?? null,
    };
  };
  const one = replica('one', 5_000_000),
    other = replica('other', 77);
  t.is(await one.count('txn_1', 500n), null);
  t.is(await other.count('txn_2', 1n), 'AMOUNT_CAP_EXCEEDED');
  other.clock.ms += WINDOW_MS - 1;
  t.is(await other.count('txn_3', 1n), 'AMOUNT_CAP_EXCEEDED', 'a moment before the window ends');
  const anew = replica('anew', 9_000_000_000_000);
  t.is(await anew.count('txn_4', 1n), 'AMOUNT_CAP_EXCEEDED', 'what a clock shows at first says nothing');
  one.clock.ms += WINDOW_MS / 2;
  t.is(await one.count('txn_5', 1n), 'AMOUNT_CAP_EXCEEDED', 'the same time is not counted twice');
  other.clock.ms += 1;
  t.is(await other.count('txn_6', 400n), null);
  one.clock.ms = 0;
  t.is(await one.count('txn_7', 101n), 'AMOUNT_CAP_EXCEEDED', 'a clock that went back frees nothing');
  t.is(await one.count('txn_8', 100n), null);
  // Two processes on copies of one directory: the first is the heir of its clock, the other begins anew, again and
  // again.
  const heir = replica('heir', other.clock.ms + WINDOW_MS / 2, 'other'),
    copy = replica('copy', other.clock.ms + 40 * WINDOW_MS, 'other');
  t.is(await heir.count('txn_9', 1n), 'AMOUNT_CAP_EXCEEDED');
  for (let n = 0; n < 3; n += 1) {
    t.is(await copy.count(`txn_copy_${n}`, 1n), 'AMOUNT_CAP_EXCEEDED', 'a copy frees nothing');
    t.is(await heir.count(`txn_heir_${n}`, 1n), 'AMOUNT_CAP_EXCEEDED');
  }
  heir.clock.ms += WINDOW_MS / 2;
  t.is(await heir.count('txn_10', 500n), null, 'the time of both processes together is a window');
});

test('a process is the heir of the last one that counted on its directory', (t) => {
  const storage = newStorage();
  const first = spendReplicaOf(storage);
  t.is(first.heirOf, null);
  first.noteCounted();
  const second = spendReplicaOf(storage);
  t.is(second.heirOf, first.name);
  t.not(second.name, first.name);
  t.is(spendReplicaOf(storage).heirOf, first.name, 'the second has not counted');
});

test('a ledger that cannot be asked, or does not answer, signs nothing', async (t) => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1');
  t.teardown(() => silent.close());
  await new Promise((resolve) => silent.once('listening', resolve));
  const { port } = silent.address() as AddressInfo;
  for (const place of ['postgres://nobody:x@127.0.0.1:1/none', `postgres://nobody:x@127.0.0.1:${port}/none`]) {
    const answer = await (await opener(t, place)()).count(spendOf('txn_1', 1n));
    t.like(answer, { code: 'SERVICE_UNAVAILABLE', details: { reason: 'spend_ledger' } });
    t.false(JSON.stringify(answer).includes('nobody'), 'no address in the answer');
  }
});

test('a connection whose other end went silent is given up with the first answer that it owes; the next spend asks anew', async (t) => {
  const url = await newSpendDatabase(t);
  t.is(await (await opener(t, url)('live a', CAP)).count(spendOf('txn_0', 100n)), null, 'the tables are made');
  const open: Socket[] = [];
  const proxy = createServer((inner) => {
    const outer = connect(Number(new URL(url).port), new URL(url).hostname);
    inner.pipe(outer).pipe(inner);
    open.push(inner, outer);
    for (const socket of [inner, outer]) socket.on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => proxy.once('listening', resolve));
  t.teardown(() => {
    proxy.close();
    for (const socket of open) socket.destroy();
  });
  const through = new URL(url);
  through.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const caps: SpendCaps = { spendCaps: new Map(), withdrawalCaps: CAP.withdrawalCaps, spendWindowMs: WINDOW_MS };
  const ledger = openPostgresSpend({
    url: through.href,
    scope: 'live a',
    caps,
    answerTimeoutMs: 8_000,
    clock: { nowMs: () => 0 },
    replica: processOf('a'),
  });
  t.teardown(() => ledger.close());
  t.is(await ledger.count(spendOf('txn_1', 100n)), null);
  for (const socket of open) socket.unpipe().pause();
  t.like(await ledger.count(spendOf('txn_2', 100n)), {
    code: 'SERVICE_UNAVAILABLE',
    details: { reason: 'spend_ledger', cause: 'no_answer' },
  });
  t.is(await ledger.count(spendOf('txn_2', 100n)), null, 'over a new connection, while the old one is still silent');
});

test('an edge replaces the counting function of an older one, and leaves a newer one as it is', async (t) => {
  const url = await newSpendDatabase(t);
  const open = opener(t, url);
  t.is(await (await open()).count(spendOf('txn_1', 1n)), null);
  const sql = openDatabase({ url, connections: 1, name: 'flock-test', role: null });
  const say = async (version: string | null) => {
    await sql`
      create or replace function public.flock_count_spend(
        of_scope text, of_replica text, heir_of text, own_now_ms bigint, asked jsonb
      ) returns table (outcome text, spent numeric, earlier jsonb) language sql as $$ select 'over_cap', 7::numeric, null::jsonb $$`;
    await sql.unsafe(`comment on function public.flock_count_spend is ${version ?? 'null'}`);
  };
  await say(null);
  t.is(await (await open('live b', CAP)).count(spendOf('txn_2', 1n)), null);
  await say(`'7'`);
  t.like(await (await open('live c', CAP)).count(spendOf('txn_3', 1n)), {
    code: 'AMOUNT_CAP_EXCEEDED',
    details: { spent: '7' },
  });
  await sql.end({ timeout: 5 });
});

test('issue 4: two replicas with one EDGE_SPEND_LEDGER sign together no more than the cap', async (t) => {
  const fee = 21_000n * 30_000_000_000n,
    amount = 10n ** 17n;
  const env = {
    EDGE_CHAINS: 'eth',
    EDGE_SPEND_LEDGER: await newSpendDatabase(t),
    EDGE_WITHDRAWAL_CAP_ETH: ((amount + fee) * 3n).toString(),
  };
  const replicas = await Promise.all(
    [0, 1].map(async () => {
      const cloud = await HostileCloud.start();
      t.teardown(() => cloud.close());
      const edge = await startTestEdge(t, cloud.url, { env });
      await eventually('it leads', () => edge.logged.some(({ msg }) => msg === 'welcomed'));
      return { cloud, edge };
    }),
  );
  const statuses: number[] = [];
  for (let nonce = 0; nonce < 6; nonce += 1) {
    const { cloud, edge } = replicas[nonce % 2]!;
    const wanted: Wanted = { from: FIRST, to: RECEIVER, amount: amount - BigInt(nonce) };
    const id = newId('txn', Date.now());
    cloud.on('POST /v1/transactions/unsigned', () => ({
      data: builtFor(wanted, transactionFor(wanted, { nonce }), id),
      status: 201,
    }));
    const built = await edge.ask('POST', '/v1/transactions/unsigned', {
      chain: 'eth',
      from: FIRST,
      to: RECEIVER,
      amount: wanted.amount.toString(),
    });
    t.is(built.status, 201, built.text);
    statuses.push((await edge.ask('POST', `/v1/transactions/${id}/broadcast`)).status);
  }
  t.deepEqual(statuses, [200, 200, 200, 403, 403, 403]);
  t.is(
    replicas.reduce((sum, { cloud }) => sum + cloud.submitted.length, 0),
    3,
  );
  t.false(replicas.some(({ edge }) => isRefusal(edge)));
});

test('found F11: with a shared ledger a key is good and revoked at another replica although the cloud relays nothing, and withholds', async (t) => {
  const [cloud, other] = [await HostileCloud.start(), await HostileCloud.start()],
    env = { EDGE_CHAINS: 'eth', EDGE_SPEND_LEDGER: newDirectory() };
  for (const each of [cloud, other]) t.teardown(() => each.close());
  const first = await startTestEdge(t, cloud.url, { env }),
    second = await startTestEdge(t, other.url, { env });
  const minted = (await first.ask('POST', '/v1/edge/keys', { label: 'app' })).data as { id: string; key: string };
  const atSecond = async () =>
    (await second.ask('GET', '/v1/edge/keys', undefined, { 'x-api-key': minted.key })).status;
  await eventually('it is good at the other', async () => (await atSecond()) === 200);
  t.is((await first.ask('DELETE', `/v1/edge/keys/${minted.id}`)).status, 200);
  await eventually('it is revoked at the other', async () => (await atSecond()) === 401);
});
