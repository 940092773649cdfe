/**
 * Found F3: instruction → signed → dead or landed, under any order of callers, replicas, words, clocks and restarts.
 */
import test from 'ava';
import fc from 'fast-check';
import { paymentsCommand } from '../../../edge/cli/payments.ts';
import { claimOf, exclusiveKeys, paymentOf, subjectOf } from '../../../edge/signing/payments.ts';
import { Instructions, type RecordedInstruction } from '../../../edge/signing/instructions.ts';
import type { EdgeLog } from '../../../edge/process/log.ts';
import type { OwnFates } from '../../../edge/signing/own-fates.ts';
import type { Instruction } from '../../../edge/signing/signers/signer.ts';
import type { Spend } from '../../../edge/spend/caps.ts';
import { SpendLedger } from '../../../edge/spend/ledger.ts';
import { openSharedSpend } from '../../../edge/spend/shared-spend.ts';
import { openStorage, type Storage } from '../../../edge/storage/storage.ts';
import { PaymentGuard } from '../../../edge/signing/payment-guard.ts';
import { deniedInAnswer, deniedInEvent, isConfirmed, NOTHING_DENIED } from '../../../edge/link/reported.ts';
import { plainEvent } from '../../../edge/webhooks/plain-event.ts';
import type { Upstream } from '../../../edge/link/upstream.ts';
import { newDirectory } from '../../support/edge/disk.ts';

const CAPS = { spendCaps: new Map(), withdrawalCaps: new Map(), spendWindowMs: 3_600_000 };
const INSTRUCTIONS = 5,
  PAYMENTS = 2,
  LIFE_MS = 1_000;

type Kind = 'counter' | 'coins' | 'expiry';
type Step =
  | { kind: 'sign'; instruction: number; keys: number[]; replica: number }
  | { kind: 'say'; instruction: number; word: 'confirmed' | 'failed' | 'reverted'; replica: number }
  | { kind: 'settle'; instruction: number }
  | { kind: 'pass'; ms: number }
  | { kind: 'wall'; ms: number }
  | { kind: 'restart'; replica: number };

const which = fc.nat({ max: INSTRUCTIONS - 1 }),
  replica = fc.nat({ max: 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('sign' as const),
      instruction: which,
      keys: fc.uniqueArray(fc.nat({ max: 3 }), { minLength: 1, maxLength: 3 }),
      replica,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('say' as const),
      instruction: which,
      word: fc.constantFrom('confirmed' as const, 'failed' as const, 'reverted' as const),
      replica,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('settle' as const), instruction: which }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.nat({ max: 2 * LIFE_MS }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('wall' as const),
      ms: fc.integer({ min: -5 * LIFE_MS, max: 5 * LIFE_MS }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const), replica }) },
);

/** What is known of a signed instruction by the rules as they are written, kept apart from the ledger. */
interface Signed {
  versions: string[][];
  counter: number | null;
  lastDeath: { wall: number; time: number } | null;
  denied: boolean;
  said: string;
  settled: boolean;
}

const payment = (instruction: number): string => `payment ${instruction % PAYMENTS}`;

function run(kind: Kind, steps: readonly Step[]): void {
  const directory = newDirectory(),
    clock = { time: 1_000_000, wall: 1_700_000_000_000 };
  const disks: Storage[] = [openStorage(directory), openStorage(directory)];
  const ledgerOn = (storage: Storage) =>
    new SpendLedger(storage, CAPS, { nowMs: () => clock.time, mark: () => undefined });
  const ledgers = disks.map(ledgerOn),
    signed = new Map<number, Signed>();
  const isDead = ({ lastDeath }: Signed) =>
    lastDeath !== null && lastDeath.wall < clock.wall && lastDeath.time < clock.time;
  const keptBy = ({ versions }: Signed) =>
    versions[0]!.filter((key) => versions.every((version) => version.includes(key)));
  const isFree = (one: Signed) => one.settled || isDead(one) || (one.said === 'confirmed' && !one.denied);
  for (const each of steps) {
    if (each.kind === 'pass') ((clock.time += each.ms), (clock.wall += each.ms));
    else if (each.kind === 'wall') clock.wall += each.ms;
    else if (each.kind === 'restart') ledgers[each.replica] = ledgerOn(disks[each.replica]!);
    else if (each.kind === 'settle') {
      ledgers[0]!.settle([`txn_${each.instruction}`], 'by_operator');
      const one = signed.get(each.instruction);
      if (one !== undefined) one.settled = true;
    } else if (each.kind === 'say') {
      ledgers[each.replica]!.note([`txn_${each.instruction}`], each.word);
      const one = signed.get(each.instruction);
      if (one === undefined) continue;
      if (each.word !== 'confirmed') one.denied = true;
      if (
        each.word === 'failed' ||
        (one.said !== 'failed' && one.said !== 'doubted' && (each.word !== 'confirmed' || one.said === 'nothing'))
      ) {
        one.said = each.word === 'reverted' ? 'doubted' : each.word;
      }
    } else {
      const { instruction } = each,
        counter = kind === 'counter' ? each.keys[0]! : null;
      const keys =
        kind === 'expiry'
          ? [`payload ${instruction} ${each.keys[0]}`]
          : kind === 'counter'
            ? [`nonce ${counter}`]
            : each.keys.map((key) => `coin ${key}`);
      const deadAtMs = kind === 'expiry' ? clock.wall + LIFE_MS : null;
      const spend: Spend = {
        subject: `hash ${instruction}`,
        transactionId: `txn_${instruction}`,
        chain: 'eth',
        purpose: 'withdrawal',
        amount: 1n,
        sender: 'a',
        payment: payment(instruction),
        exclusive: keys,
        counter: counter === null ? null : BigInt(counter),
        deadAtMs,
        wallMs: clock.wall,
      };
      const refusal = ledgers[each.replica]!.count(spend),
        before = signed.get(instruction),
        others = [...signed].filter(([other]) => other !== instruction);
      const standing = others.filter(
        ([other, one]) =>
          payment(other) === payment(instruction) && !isFree(one) && !keptBy(one).some((key) => keys.includes(key)),
      );
      const unfilled =
        counter === null
          ? []
          : others.filter(
              ([, one]) =>
                one.counter! < counter &&
                one.said === 'failed' &&
                !one.settled &&
                ![...signed.values()].some((filled) => filled.counter === one.counter && filled.said !== 'failed'),
            );
      const expected =
        before !== undefined && !keptBy(before).some((key) => keys.includes(key))
          ? 'signed_under_another_key'
          : standing.length > 0
            ? 'equal_payment_signed'
            : unfilled.length > 0
              ? 'counter_not_filled'
              : null;
      const found = refusal === null ? null : String(refusal.details['reason']);
      if (found !== expected) throw new Error(`expected ${expected}, found ${found}`);
      if (refusal !== null) continue;
      const death = deadAtMs === null ? null : { wall: deadAtMs, time: clock.time + LIFE_MS };
      const last = before?.lastDeath ?? null;
      signed.set(instruction, {
        versions: [...(before?.versions ?? []), keys],
        counter,
        denied: before?.denied ?? false,
        settled: false,
        said: before === undefined ? 'nothing' : before.said === 'failed' ? 'doubted' : before.said,
        lastDeath:
          death === null || last === null
            ? death
            : { wall: Math.max(death.wall, last.wall), time: Math.max(death.time, last.time) },
      });
      // What it is for: of two signatures for one payment both may land only if the first was out of the way.
      for (const [other, one] of others) {
        if (payment(other) !== payment(instruction) || isFree(one)) continue;
        const share = one.versions.every((version) => version.some((key) => keys.includes(key)));
        if (!share) throw new Error('two payments that may both land');
      }
    }
  }
  for (const disk of disks) disk.close();
}

for (const kind of ['counter', 'coins', 'expiry'] as const) {
  test(`found F3: no two signatures for one payment may both land, and nothing else is refused: ${kind}`, (t) => {
    t.notThrows(() =>
      fc.assert(
        fc.property(fc.array(step, { maxLength: 30 }), (steps) => run(kind, steps)),
        { numRuns: 120 },
      ),
    );
  });
}

const INSTRUCTION: Instruction = {
  id: 'txn_1',
  purpose: 'withdrawal',
  chain: 'xrp',
  from: 'a',
  fromPath: 'm',
  to: 'b',
  toPath: null,
  amount: 5n,
  token: null,
  tag: null,
};

test("found F3: a payment is chain, from, to, tag, asset, amount and paymentRef; the id is the cloud's and is none of it", (t) => {
  const token = { chain: 'xrp', contract: 'USD:x', symbol: 'USD', decimals: 15 } as const;
  const different: Partial<Instruction>[] = [
    { chain: 'xlm' },
    { from: 'c' },
    { to: 'c' },
    { tag: '7' },
    { token },
    { amount: 6n },
    { amount: 'all' },
    { paymentRef: '1' },
    { paymentRef: '2' },
  ];
  t.is(
    new Set([INSTRUCTION, ...different.map((more) => ({ ...INSTRUCTION, ...more }))].map(paymentOf)).size,
    different.length + 1,
  );
  for (const same of [{ id: 'txn_2' }, { fromPath: 'n' }, { request: { key: 'k', body: 'b' } }])
    t.is(paymentOf({ ...INSTRUCTION, ...same }), paymentOf(INSTRUCTION));
  t.is(paymentOf({ ...INSTRUCTION, purpose: 'opt_in' }), null);
});

test('found F7: the subject is the hash of the whole instruction, and keys carry chain and sender', (t) => {
  t.is(
    new Set(
      [INSTRUCTION, { ...INSTRUCTION, id: 'txn_2' }, { ...INSTRUCTION, amount: 6n }, { ...INSTRUCTION, to: 'c' }].map(
        subjectOf,
      ),
    ).size,
    4,
  );
  const key = { replayKey: { kind: 'nonce', value: 0 }, payload: '0x' } as const;
  t.is(
    new Set(
      [
        { chain: 'eth', from: 'a' },
        { chain: 'bsc', from: 'a' },
        { chain: 'eth', from: 'b' },
      ].map((of) => exclusiveKeys({ ...key, ...of } as Parameters<typeof exclusiveKeys>[0])[0]),
    ).size,
    3,
  );
});

test('found F3: a row of an edge of before takes the name of its instruction, and keeps its key', (t) => {
  const storage = openStorage(newDirectory()),
    ledger = new SpendLedger(storage, CAPS, { nowMs: () => 1, mark: () => undefined });
  t.is(
    ledger.count({ subject: 'txn_1', chain: 'eth', purpose: 'withdrawal', amount: 5n, exclusive: ['nonce:7'] }),
    null,
  );
  const again = (key: string) =>
    ledger.count({
      subject: 'hash',
      transactionId: 'txn_1',
      chain: 'eth',
      sender: 'a',
      purpose: 'withdrawal',
      amount: 5n,
      exclusive: [key],
    });
  t.is(again('eth|a|nonce:8')?.details['reason'], 'signed_under_another_key');
  t.is(again('eth|a|nonce:7'), null);
  t.is(storage.all('select 1 from spend').length, 1);
});

const ID = `txn_${'a'.repeat(26)}`,
  OTHER = `txn_${'b'.repeat(26)}`;

test('found F3: the denials of answers and events, in whatever place they stand', (t) => {
  const answer = (value: unknown) => deniedInAnswer(value);
  t.like(
    answer({
      content: [
        { id: ID, status: 'failed', height: null },
        { id: OTHER, status: 'confirmed', failure: null },
      ],
    }),
    { failed: [ID], reverted: [] },
  );
  t.like(answer({ id: ID, status: 'failed', height: 7 }), { failed: [], reverted: [ID] });
  t.like(answer({ id: ID, status: 'confirmed', failure: { code: 'x' } }), { reverted: [ID] });
  t.like(answer({ error: { details: { txid: '0xab', status: 'expired' } } }), { failedTxids: ['0xab'] });
  t.deepEqual(answer({ id: ID, status: 'broadcast' }), NOTHING_DENIED);
  const event = (name: string, data: object) => deniedInEvent({ event: name, data });
  t.like(event('withdrawal_failed', { transactionId: ID, height: null }), { failed: [ID] });
  t.like(event('withdrawal_failed', { transactionId: ID, height: 3 }), { failed: [], reverted: [ID] });
  t.deepEqual(event('withdrawal_confirmed', { transactionId: ID, failure: null }), NOTHING_DENIED);
  t.like(event('withdrawal_confirmed', { transactionId: ID, note: OTHER }), { reverted: [OTHER, ID] });
  t.deepEqual(event('withdrawal_broadcast', { transactionId: ID }), NOTHING_DENIED);
  t.like(event('a name that nobody knows', { x: { y: ID } }), { reverted: [ID] });
});

const TXID = `0x${'ab'.repeat(32)}`;

test('found: a denial counts by id or by txid, wherever an event names it; no body that could be read in two ways leaves', (t) => {
  const denials: readonly (readonly [name: string, event: object, denied: object])[] = [
    ['by its txid only', { event: 'withdrawal_failed', data: { txid: TXID, height: null } }, { failedTxids: [TXID] }],
    ['in a place that no schema has', { event: 'withdrawal_failed', note: [{ of: ID }] }, { failed: [ID] }],
    ['as a name', { event: 'withdrawal_failed', data: { [ID]: 1 } }, { failed: [ID] }],
    ['in a sentence', { event: 'withdrawal_failed', data: `of ${ID} nothing is known` }, { failed: [ID] }],
    [
      'by a status in a harmless event',
      { event: 'withdrawal_broadcast', data: { id: ID, status: 'failed' } },
      { failed: [ID] },
    ],
    ['by a reversal of its txid', { event: 'deposit_reversed', data: { txid: TXID } }, { revertedTxids: [TXID] }],
  ];
  for (const [name, event, denied] of denials) t.like(deniedInEvent(event), denied, name);
  const plain = JSON.stringify({ event: 'withdrawal_failed', data: { transactionId: ID } });
  t.like(deniedInEvent(plainEvent(plain)!), { failed: [ID] });
  const spoiled: readonly (readonly [name: string, body: string])[] = [
    ['an escape', plain.replace('"txn_', '"\\u0074xn_')],
    ['a byte order mark', `\ufeff${plain}`],
    ['a name twice', plain.replace(/}$/, ',"event":"withdrawal_broadcast"}')],
    ['a space', plain.replace(':', ': ')],
    ['another spelling', plain.replace(/}$/, ',"Event":"withdrawal_broadcast"}')],
    ['half a character', plain.replace(/}$/, ',"x":"\ud800"}')],
    ['no JSON', 'no JSON'],
    ['no object', '"txn_"'],
    ['nothing', ''],
  ];
  for (const [name, body] of spoiled) t.is(plainEvent(body), null, name);
});

test('found: only a whole confirmation frees: of a withdrawal, without a failure, with its txid', (t) => {
  const said = { direction: 'out', status: 'confirmed', failure: null, txid: TXID } as const;
  t.true(isConfirmed(said));
  for (const more of [
    { direction: 'in' as const },
    { status: 'broadcast' },
    { txid: null },
    { failure: { code: 'CHAIN_REJECTED' as const, reason: 'x' } },
  ])
    t.false(isConfirmed({ ...said, ...more }));
});

test('found: a node that says "landed" refuses an equal payment with the txid, and fills the counter of one that was called failed', async (t) => {
  const storage = openStorage(newDirectory()),
    ledger = new SpendLedger(storage, CAPS, { nowMs: () => 1, mark: () => undefined });
  const instructions = new Instructions(storage, () => 1),
    alarms: string[] = [];
  const pay = (id: string, counter: number, of = 'one') => ({
    subject: `hash ${id}`,
    transactionId: id,
    chain: 'eth' as const,
    purpose: 'withdrawal' as const,
    amount: 1n,
    sender: 'a',
    payment: of,
    exclusive: [`nonce ${counter}`],
    counter: BigInt(counter),
  });
  const unsigned = {
    chain: 'eth',
    payload: '0x1',
    from: 'a',
    replayKey: { kind: 'nonce', value: 7 },
    amount: 1n,
    feeMax: 1n,
  } as unknown as RecordedInstruction['unsigned'];
  const recorded: RecordedInstruction = { instruction: { ...INSTRUCTION, chain: 'eth', id: ID }, unsigned };
  instructions.record(recorded);
  instructions.journal(recorded);
  instructions.noteSigned(ID, '0x1', { chain: 'eth', payload: '0x1s', txid: TXID });
  let fate: Awaited<ReturnType<OwnFates['of']>> = { landed: TXID };
  const guard = new PaymentGuard({
    environment: 'live',
    instructions,
    ledger,
    shared: null,
    fates: { of: async () => fate },
    upstream: {} as Upstream,
    log: { alarm: (name: string) => void alarms.push(name) } as unknown as EdgeLog,
  });
  t.is(ledger.count(pay(ID, 7)), null);
  const blocked = await guard.stillBlocked(ledger.count(pay(OTHER, 8))!);
  t.like(blocked, {
    code: 'CONFLICT',
    details: { reason: 'equal_payment_signed', landed: [TXID], txids: [TXID], field: 'paymentRef' },
  });
  t.regex(blocked!.message, /landed.*paymentRef/);
  await guard.noteDenied({ ...NOTHING_DENIED, failedTxids: [TXID.toUpperCase().replace('0X', '0x')] });
  t.is(ledger.reportedOf(ID), 'failed', 'called failed by its txid, in other letters');
  const above = ledger.count(pay(OTHER, 8, 'another'))!;
  t.is(above.details['reason'], 'counter_not_filled');
  t.is(await guard.stillBlocked(above), null);
  t.is(ledger.count(pay(OTHER, 8, 'another')), null);
  t.deepEqual(alarms, ['paid_although_called_failed']);
  t.like(
    await guard.stillBlocked(ledger.count(pay('txn_3', 9))!),
    { details: { landed: [TXID] } },
    'as a payment it stays made',
  );
  fate = 'dead';
  t.is(await guard.stillBlocked(ledger.count(pay('txn_3', 9))!), null);
  t.is(ledger.count(pay('txn_3', 9)), null);
  storage.close();
});

/** A version of one payment under one counter, as it stands in a replica's records. */
const versionOf = (payload: string, id = ID, counter = 7): RecordedInstruction => ({
  instruction: { ...INSTRUCTION, chain: 'eth', id },
  unsigned: {
    chain: 'eth',
    payload,
    from: 'a',
    replayKey: { kind: 'nonce', value: counter },
    amount: 1n,
    feeMax: 1n,
  } as unknown as RecordedInstruction['unsigned'],
});

/** A replica with a disk of its own and a node that says of every version that it knows: dead, after `meanwhile`. */
function replicaOf(
  shared: Awaited<ReturnType<typeof openSharedSpend>> | null,
  meanwhile: () => Promise<void> = async () => undefined,
) {
  const storage = openStorage(newDirectory()),
    ledger = new SpendLedger(storage, CAPS, { nowMs: () => 1, mark: () => undefined }),
    instructions = new Instructions(storage, () => 1);
  const guard = new PaymentGuard({
    environment: 'live',
    instructions,
    ledger,
    shared,
    fates: { of: () => meanwhile().then(() => 'dead' as const) },
    upstream: {} as Upstream,
    log: { alarm: () => undefined, warn: () => undefined } as unknown as EdgeLog,
  });
  const count = async (recorded: RecordedInstruction) => {
    const spend = { ...claimOf(recorded, null, 1), purpose: 'withdrawal' as const, amount: 1n };
    return (await shared?.count(spend)) ?? ledger.count(spend, { payments: shared === null });
  };
  return {
    instructions,
    guard,
    count,
    close: () => storage.close(),
    async sign(recorded: RecordedInstruction) {
      const refusal = await count(recorded);
      if (refusal !== null) throw new Error(JSON.stringify(refusal));
      instructions.record(recorded);
      instructions.journal(recorded);
      instructions.noteSigned(recorded.instruction.id, recorded.unsigned.payload, {
        chain: 'eth',
        payload: `${recorded.unsigned.payload}s`,
        txid: `0x${recorded.unsigned.payload}`,
      });
    },
  };
}

const sharedLedger = () =>
  openSharedSpend({
    place: { kind: 'directory', path: newDirectory() },
    scope: 's',
    caps: CAPS,
    clock: { nowMs: () => 1 },
    replica: { name: 'r', heirOf: null, noteCounted: () => undefined },
    wallMs: () => 1,
    monotonicMs: () => 1,
  });

for (const [name, isShared] of [
  ['this replica', false],
  ['this replica, beside a ledger in common', true],
  ['another replica', true],
] as const) {
  test(`found F1 F3: a version that ${name} signs while the node proves the earlier ones dead keeps the payment open`, async (t) => {
    const shared = isShared ? await sharedLedger() : null,
      other = replicaOf(shared),
      again = versionOf('c', OTHER, 8);
    let next: RecordedInstruction | null = null;
    const one = replicaOf(shared, async () => {
      const repriced = next;
      next = null;
      if (repriced !== null) await (name === 'another replica' ? other : one).sign(repriced);
    });
    await one.sign(versionOf('a'));
    next = versionOf('b'); // the same counter, a later end: what is dead by its own end says nothing of this one
    const blocked = await one.guard.stillBlocked((await one.count(again))!);
    const counted = blocked ?? (await one.count(again));
    t.like(counted, { code: 'CONFLICT', details: { reason: 'equal_payment_signed', earlier: [ID] } });
    if (name !== 'another replica') {
      t.is(await one.guard.stillBlocked(counted!), null, 'both versions were asked for');
      t.is(await one.count(again), null);
    }
    await shared?.close();
    one.close();
    other.close();
  });
}

test('found F3: equal payments that wait for one ask the node once while it answers, and again afterwards', async (t) => {
  let questions = 0,
    answer: () => void = () => undefined;
  const one = replicaOf(null, () => {
    questions += 1;
    return new Promise((resolve) => (answer = resolve));
  });
  await one.sign(versionOf('a'));
  const refusal = (await one.count(versionOf('c', OTHER, 8)))!;
  const waiting = Array.from({ length: 20 }, () => one.guard.stillBlocked(refusal));
  await new Promise(setImmediate);
  t.is(questions, 1);
  one.instructions.record(versionOf('b')); // what is known by now is no answer to the question
  answer();
  for (const blocked of await Promise.all(waiting)) t.like(blocked, { details: { reason: 'equal_payment_signed' } });
  await one.sign(versionOf('b'));
  const again = one.guard.stillBlocked(refusal);
  await new Promise(setImmediate);
  t.is(questions, 2);
  answer();
  t.is(await again, null);
  one.close();
});

test('found F1 F3: a version that another replica counts when all seemed known keeps the payment open, and is refused where it comes too late', async (t) => {
  const ledger = await sharedLedger(),
    other = replicaOf(ledger);
  let isLate = false;
  const one = replicaOf({
    ...ledger,
    settle: async (...settled) => {
      if (!isLate) await other.sign(versionOf('b'));
      await ledger.settle(...settled);
    },
  });
  const again = versionOf('c', OTHER, 8);
  await one.sign(versionOf('a'));
  t.is(await one.guard.stillBlocked((await one.count(again))!), null, 'worth another try');
  t.like(await one.guard.stillBlocked((await one.count(again))!), { details: { reason: 'equal_payment_signed' } });
  await one.sign(versionOf('b'));
  isLate = true;
  t.is(await one.guard.stillBlocked((await one.count(again))!), null);
  t.is(await one.count(again), null);
  t.like(await other.count(versionOf('d')), { details: { reason: 'equal_payment_signed', earlier: [OTHER] } });
  await ledger.close();
  one.close();
  other.close();
});

test('found F3: the death of the versions that this replica signed proves nothing while another one signed a further version of the payment', async (t) => {
  const shared = await sharedLedger();
  const [one, two] = [replicaOf(shared), replicaOf(shared)],
    again = versionOf('c', OTHER, 8);
  await one.sign(versionOf('a'));
  await two.sign(versionOf('b')); // repriced there; a cloud withholds the record
  t.like(
    await one.guard.stillBlocked((await one.count(again))!),
    { code: 'CONFLICT', details: { reason: 'equal_payment_signed', earlier: [ID] } },
    'the other version used the counter, or may',
  );
  t.like(await two.guard.stillBlocked((await two.count(again))!), { details: { reason: 'equal_payment_signed' } });
  await one.sign(versionOf('b'));
  t.is(await one.guard.stillBlocked((await one.count(again))!), null, 'all versions are known, and dead');
  t.is(await one.count(again), null);
  await shared.close();
  one.close();
  two.close();
});

test('found F3: without a ledger in common a version that another replica may have signed keeps the proof from being one', async (t) => {
  const one = replicaOf(null),
    again = versionOf('c', OTHER, 8);
  await one.sign(versionOf('a'));
  one.instructions.record(versionOf('b'));
  t.like(await one.guard.stillBlocked((await one.count(again))!), {
    details: { reason: 'equal_payment_signed', earlier: [ID] },
  });
  await one.sign(versionOf('b'));
  t.is(await one.guard.stillBlocked((await one.count(again))!), null);
  one.close();
});

test('attack: a version between two of this replica, which another one was told to sign, keeps the proof from being one (F3)', async (t) => {
  const one = replicaOf(null),
    again = versionOf('d', OTHER, 8);
  await one.sign(versionOf('a'));
  one.instructions.record(versionOf('b'));
  one.instructions.noteElsewhere(versionOf('b'));
  one.instructions.noteElsewhere(versionOf('b'));
  t.true(one.instructions.mayBeSignedElsewhere(ID));
  await one.sign(versionOf('c'));
  t.like(
    await one.guard.stillBlocked((await one.count(again))!),
    { details: { reason: 'equal_payment_signed', earlier: [ID] } },
    'what used the counter up may be the other version',
  );
  await one.sign(versionOf('b'));
  t.false(one.instructions.mayBeSignedElsewhere(ID), 'signed here as well: its txid is known, and so is its fate');
  t.is(await one.guard.stillBlocked((await one.count(again))!), null);
  one.close();
});

test('found F3: an operator lists what may still land and settles what he looked up on the chain', async (t) => {
  const directory = newDirectory(),
    storage = openStorage(directory),
    ledger = new SpendLedger(storage, CAPS, { nowMs: () => 1, mark: () => undefined });
  const spend = (id: string, key: string): Spend => ({
    subject: `hash of ${id}`,
    transactionId: id,
    chain: 'eth',
    sender: 'a',
    purpose: 'withdrawal',
    amount: 5n,
    payment: 'p',
    exclusive: [key],
  });
  t.is(ledger.count(spend(ID, 'one')), null);
  t.deepEqual(ledger.count(spend(OTHER, 'two'))?.details['earlier'], [ID]);
  const command = async (...args: string[]) => {
    const shown: string[] = [],
      said: string[] = [];
    const code = await paymentsCommand(
      [...args, '--data-dir', directory],
      {},
      { write: (text) => shown.push(text) > 0 },
      { write: (text) => said.push(text) > 0 },
    );
    return { code, shown: shown.join(''), said: said.join('') };
  };
  t.like(JSON.parse((await command('list')).shown), { transactionId: ID, chain: 'eth', told: 'nothing', txids: [] });
  t.is((await command('settle', OTHER)).code, 1);
  t.is((await command('settle')).code, 2);
  t.is((await command('settle', ID)).code, 0);
  t.is((await command('list')).shown, '');
  t.is(ledger.count(spend(OTHER, 'two')), null);
  storage.close();
});
