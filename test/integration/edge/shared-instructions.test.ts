/**
 * Issue 4: what was built at one replica can be broadcast at any other, and a cloud that carries it can invent nothing.
 */
import test, { type ExecutionContext } from 'ava';
import { createIdentity } from '../../../edge/link/identity.ts';
import { signInstruction } from '../../../edge/signing/instruction-record.ts';
import type { InstructionRecord } from '../../../protocol/frames.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { HostileCloud } from '../../support/edge/hostile-cloud.ts';
import { builtFor, RECEIVER, THIEF, transactionFor, type Wanted } from '../../support/edge/built.ts';
import { newDirectory } from '../../support/edge/disk.ts';
import { eventually, FIRST, startTestEdge, type EdgeReply, type TestEdge } from '../../support/edge/edges.ts';
import {
  askedOf,
  builtOf as familyBuiltOf,
  recordOf,
  unsignedFor,
  type FamilyChain,
} from '../../support/edge/families.ts';

const WANTED: Wanted = { from: FIRST, to: RECEIVER, amount: 10n ** 18n };
const HOUR_MS = 3_600_000;

interface Replica {
  readonly cloud: HostileCloud;
  readonly edge: TestEdge;
  readonly clock: { nowMs: number };
}

/** One replica with a cloud, a disk and a clock of its own: what passes between two of them is passed by the test. */
async function replica(
  t: ExecutionContext,
  role: HostileCloud['role'] = 'leader',
  env: Record<string, string> = {},
): Promise<Replica> {
  const cloud = await HostileCloud.start();
  t.teardown(() => cloud.close());
  cloud.role = role;
  // Its cloud has no leader to ask: what is broadcast at a follower is recorded and shared, and signed by nobody yet.
  if (role === 'follower') cloud.on('POST /v1/transactions/{id}/broadcast', () => ({ code: 'EDGE_NO_LEADER' }));
  const clock = { nowMs: Date.now() };
  const edge = await startTestEdge(t, cloud.url, {
    env: { EDGE_CHAINS: 'eth', ...env },
    ports: { wallMs: () => clock.nowMs },
    dataDir: newDirectory(),
  });
  await eventually('the edge is welcomed', () => edge.logged.some(({ msg }) => msg === 'welcomed'));
  return { cloud, edge, clock };
}

function build({ cloud, edge }: Replica, id: string): Promise<EdgeReply> {
  cloud.on('POST /v1/transactions/unsigned', () => ({
    data: builtFor(WANTED, transactionFor(WANTED), id),
    status: 201,
  }));
  return edge.ask('POST', '/v1/transactions/unsigned', {
    chain: 'eth',
    from: FIRST,
    to: RECEIVER,
    amount: WANTED.amount.toString(),
  });
}

/**
 * The record of a build that its caller broadcast at a follower: no signature exists yet, and whoever leads may make
 * one.
 */
async function broadcast(t: ExecutionContext, builder: Replica): Promise<InstructionRecord> {
  const { transactionId } = await built(t, builder);
  const reply = await builder.edge.ask('POST', `/v1/transactions/${transactionId}/broadcast`);
  t.is(reply.error?.code, 'EDGE_NO_LEADER');
  t.is(reply.error?.details['mayBeSigned'], true, 'whoever leads later may sign it');
  await eventually('it is shared', () => builder.cloud.instructions.at(-1)!.broadcastAtMs !== null);
  return builder.cloud.instructions.at(-1)!;
}

async function built(t: ExecutionContext, builder: Replica): Promise<InstructionRecord> {
  const id = newId('txn', builder.clock.nowMs);
  t.is((await build(builder, id)).status, 201);
  await eventually('it is shared', () => builder.cloud.instructions.length > 0);
  return builder.cloud.instructions.at(-1)!;
}

const alarms = ({ edge }: Replica) =>
  edge.logged.filter(({ msg, alarm }) => msg === 'foreign_instructions_refused' && alarm === true).length;

test('a withdrawal built at one replica is signed by another that has its record, pushed or with the ask to sign', async (t) => {
  const [builder, leader] = await Promise.all([replica(t, 'follower'), replica(t)]);
  const record = await broadcast(t, builder);
  t.like(await leader.cloud.sign(record.transactionId), { ok: false, code: 'SIGNED_BATCH_REJECTED' });
  t.true((await leader.cloud.sign(record.transactionId, leader.cloud.leaseEpoch, record)).ok);
  const pushed = await broadcast(t, builder);
  leader.cloud.push('instructions', { records: [pushed] });
  await eventually(
    'it is known',
    async () => (await leader.edge.ask('POST', `/v1/transactions/${pushed.transactionId}/broadcast`)).status === 200,
  );
  t.deepEqual(
    leader.cloud.submitted.map(({ id }) => id),
    [record.transactionId, pushed.transactionId],
  );
  t.deepEqual(builder.cloud.submitted, []);
  t.is(alarms(leader), 0);
});

test('decisions 6: a cloud that alters a record in any field, or signs one itself, gets no signature, and an alarm rings', async (t) => {
  const [builder, leader] = await Promise.all([replica(t, 'follower'), replica(t)]);
  const record = await broadcast(t, builder);
  const thief = createIdentity(Buffer.alloc(32, 7));
  const { signature: _signature, ...unsigned } = record;
  const lies: InstructionRecord[] = [
    { ...record, transactionId: newId('txn', 1) },
    { ...record, environment: 'sandbox' },
    { ...record, instruction: record.instruction.replace(RECEIVER, THIEF) },
    { ...record, unsigned: record.unsigned.replace(RECEIVER, THIEF) },
    { ...record, askedAtMs: record.askedAtMs + 1 },
    { ...record, broadcastAtMs: record.broadcastAtMs! + 1 },
    { ...record, broadcastUnsigned: 'ab'.repeat(32) },
    { ...record, signature: record.signature.replace(/^./, (digit) => (digit === '0' ? '1' : '0')) },
    signInstruction(thief, unsigned),
  ];
  for (const [index, lie] of lies.entries()) {
    t.like(
      await leader.cloud.sign(lie.transactionId, leader.cloud.leaseEpoch, lie),
      { ok: false, code: 'SIGNED_BATCH_REJECTED' },
      String(index),
    );
    t.is(alarms(leader), index + 1);
  }
  t.deepEqual(leader.cloud.submitted, []);
  t.true((await leader.cloud.sign(record.transactionId, leader.cloud.leaseEpoch, record)).ok, 'the true one is signed');
});

test('issue 4: the cloud gets no signature for an instruction older than EDGE_INSTRUCTION_TTL; its own caller does', async (t) => {
  const one = await replica(t, 'follower'),
    other = await replica(t);
  const record = await broadcast(t, one);
  other.clock.nowMs += HOUR_MS + 1;
  const refused = await other.cloud.sign(record.transactionId, other.cloud.leaseEpoch, record);
  t.like(refused, { ok: false, code: 'SIGNED_BATCH_REJECTED', details: { reason: 'instruction_expired' } });
  t.deepEqual(other.cloud.submitted, []);
  t.true(other.edge.logged.some(({ msg, alarm }) => msg === 'old_instruction_refused' && alarm === true));
  t.is((await other.edge.ask('POST', `/v1/transactions/${record.transactionId}/broadcast`)).status, 200);
  other.clock.nowMs += HOUR_MS + 1;
  t.true((await other.cloud.sign(record.transactionId)).ok, 'what is signed is only submitted again');
  t.is(new Set(other.cloud.submitted.map(({ signedPayload }) => signedPayload)).size, 1);
});

for (const route of ['the replica that built it', 'another one'] as const) {
  test(`found F4: what nobody broadcast with a local key no frame has signed, at ${route}; an alarm rings`, async (t) => {
    const [builder, other] = await Promise.all([replica(t), replica(t)]);
    const record = await built(t, builder);
    const { cloud, edge } = route === 'another one' ? other : builder;
    t.like(await cloud.sign(record.transactionId, cloud.leaseEpoch, record), {
      ok: false,
      code: 'SIGNED_BATCH_REJECTED',
      details: { reason: 'not_broadcast' },
    });
    t.deepEqual(cloud.submitted, []);
    t.true(edge.logged.some(({ msg, alarm }) => msg === 'unasked_signature_refused' && alarm === true));
    const asked = await edge.ask('POST', `/v1/transactions/${record.transactionId}/broadcast`);
    // Its own caller is served; another one waits for the replica that binds its counter (F43).
    t.is(
      route === 'another one' ? asked.error?.details['reason'] : asked.status,
      route === 'another one' ? 'counter_not_bound' : 200,
    );
  });
}

test('found F4: a version that was repriced after the broadcast is not signed for a frame', async (t) => {
  const [builder, leader] = await Promise.all([replica(t, 'follower'), replica(t)]);
  const record = await broadcast(t, builder);
  builder.clock.nowMs += 1_000;
  builder.cloud.on('PATCH /v1/transactions/unsigned/{id}', () => ({
    data: builtFor(WANTED, transactionFor(WANTED, { maxFeePerGas: 40_000_000_000n }), record.transactionId),
  }));
  t.is((await builder.edge.ask('PATCH', `/v1/transactions/unsigned/${record.transactionId}`)).status, 200);
  await eventually('the new version is shared', () => builder.cloud.instructions.at(-1)!.unsigned !== record.unsigned);
  const repriced = builder.cloud.instructions.at(-1)!;
  t.like(await leader.cloud.sign(record.transactionId, leader.cloud.leaseEpoch, repriced), {
    ok: false,
    details: { reason: 'not_broadcast' },
  });
  t.deepEqual(leader.cloud.submitted, []);
});

test('found F4: an Idempotency-Key belongs to one body and one id, at every replica that heard of it', async (t) => {
  const [one, other] = await Promise.all([replica(t), replica(t)]);
  const ids = [newId('txn', 1), newId('txn', 2)] as const;
  const body = { chain: 'eth', from: FIRST, to: RECEIVER, amount: WANTED.amount.toString() };
  const ask = ({ cloud, edge }: Replica, id: string, asked: object = body) => {
    cloud.on('POST /v1/transactions/unsigned', () => ({
      data: builtFor(WANTED, transactionFor(WANTED), id),
      status: 201,
    }));
    return edge.ask('POST', '/v1/transactions/unsigned', asked, { 'idempotency-key': 'payout-1' });
  };
  t.is((await ask(one, ids[0])).status, 201);
  await eventually('it is shared', () => one.cloud.instructions.length > 0);
  other.cloud.push('instructions', { records: [one.cloud.instructions.at(-1)!] });
  await eventually(
    'it is known',
    async () => (await ask(other, ids[0], { ...body, amount: '7' })).error?.code === 'IDEMPOTENCY_CONFLICT',
  );
  for (const replica of [one, other]) {
    t.is((await ask(replica, ids[1])).error?.details['reason'], 'idempotency_key_of_another_id');
    t.is((await ask(replica, ids[0], { ...body, amount: '7' })).error?.code, 'IDEMPOTENCY_CONFLICT');
    t.is(
      (await ask(replica, ids[0], Object.fromEntries(Object.entries(body).reverse()))).status,
      201,
      'the same body in another order',
    );
    t.is((await replica.edge.ask('POST', `/v1/transactions/${ids[1]}/broadcast`)).error?.code === undefined, false);
    t.false((await replica.cloud.sign(ids[1])).ok);
  }
  one.clock.nowMs += 24 * HOUR_MS + 1;
  t.is((await ask(one, ids[1])).status, 201, 'a key is kept for 24 hours');
});

interface KeyStory {
  readonly chain: FamilyChain;
  readonly ledger: boolean;
  /** Of the newer build: another coin, counter or block hash. */
  readonly variant: number;
  readonly freed: boolean;
}

/** A replica whose cloud answers `payout-1` with the first id, then with the second. */
async function keyStory(t: ExecutionContext, { chain, ledger, variant }: Omit<KeyStory, 'freed'>) {
  const env = { EDGE_CHAINS: chain, ...(ledger ? { EDGE_SPEND_LEDGER: newDirectory() } : {}) },
    of = await replica(t, 'leader', env),
    [first, second] = [newId('txn', 1), newId('txn', 2)];
  const former = await unsignedFor({ chain }),
    told = [former, variant === 0 ? former : await unsignedFor({ chain }, variant)] as const;
  const build = async (id: string, key = 'payout-1', edge = of) => {
    const builtAs = familyBuiltOf(told[id === first ? 0 : 1], id);
    edge.cloud.on('POST /v1/transactions/unsigned', () => ({ data: builtAs, status: 201 }));
    return edge.edge.ask('POST', '/v1/transactions/unsigned', askedOf({ chain }), { 'idempotency-key': key });
  };
  const says = (id: string, status: 'expired' | 'built', edge = of) =>
    edge.cloud.on(`GET /v1/transactions/${id}`, () => ({
      data: { ...recordOf(familyBuiltOf(told[id === first ? 0 : 1], id), status, null), versions: [] },
    }));
  const broadcast = (id: string, edge = of) => edge.edge.ask('POST', `/v1/transactions/${id}/broadcast`);
  const rung = () => of.edge.logged.filter(({ msg, alarm }) => msg === 'build_refused' && alarm === true).length;
  return { of, first, second, build, says, broadcast, rung };
}

const KEY_STORIES: readonly KeyStory[] = [
  { chain: 'eth', ledger: false, variant: 1, freed: true },
  { chain: 'eth', ledger: true, variant: 1, freed: true },
  { chain: 'btc', ledger: false, variant: 0, freed: true }, // it spends the same coins
  { chain: 'tron', ledger: true, variant: 1, freed: true },
  { chain: 'tron', ledger: false, variant: 1, freed: false },
];
for (const { freed, ...story } of KEY_STORIES) {
  const { chain, ledger } = story;
  test(`found F57: the key of a build of ${chain} that expired unsigned ${freed ? 'goes to the newer build, and the first is signed no more' : 'stays its own, since another replica might sign it'}, ${ledger ? 'with' : 'without'} a shared ledger`, async (t) => {
    const { of, first, second, build, says, broadcast, rung } = await keyStory(t, story);
    t.is((await build(first)).status, 201);
    says(first, 'built');
    t.is((await build(second)).error?.details['reason'], 'idempotency_key_of_another_id', 'it is not called expired');
    t.is(rung(), 1);
    says(first, 'expired');
    const again = await build(second);
    t.is(again.status, freed ? 201 : 409, again.text);
    t.is(rung(), 1, 'no alarm');
    if (!freed) {
      t.like(again.error?.details, {
        reason: 'idempotency_key_of_expired_build',
        expected: first,
        found: second,
        setting: 'EDGE_SPEND_LEDGER',
      });
      t.false((await broadcast(second)).status === 200);
      return;
    }
    t.is((await build(second)).status, 201, 'the key answers with it again');
    says(first, 'built'); // whatever the cloud says of it later
    t.like((await broadcast(first)).error, { code: 'CONFLICT', details: { reason: 'superseded', by: second } });
    t.false((await of.cloud.sign(first)).ok);
    for (const status of ['built', 'expired'] as const) {
      says(second, status);
      t.is((await build(first)).error?.details['reason'], 'id_used_before', 'the key does not go back');
    }
    says(second, 'built');
    const sent = await broadcast(second);
    t.is(sent.status, 200, sent.text);
    t.deepEqual(
      of.cloud.submitted.map(({ id }) => id),
      [second],
    );
  });
}

test('found F57: a build that may be signed keeps its key, whatever the cloud calls it', async (t) => {
  const { of, first, second, build, says, broadcast, rung } = await keyStory(t, {
    chain: 'eth',
    ledger: false,
    variant: 1,
  });
  of.cloud.on('POST /v1/transactions/{id}/broadcast', () => ({ code: 'CHAIN_REJECTED', details: { reason: 'x' } }));
  t.is((await build(first)).status, 201);
  t.is((await broadcast(first)).status, 200);
  says(first, 'expired');
  t.is((await build(second)).error?.details['reason'], 'idempotency_key_of_another_id', 'it is signed here');
  t.is(rung(), 1);
});

test('found F57: a replica that hears of the newer build gives the first one up, in whatever order it hears of them', async (t) => {
  const { of, first, second, build, says, broadcast } = await keyStory(t, { chain: 'eth', ledger: false, variant: 1 });
  t.is((await build(first)).status, 201);
  says(first, 'expired');
  t.is((await build(second)).status, 201);
  await eventually('both are shared', () => of.cloud.instructions.length === 2);
  const [former, newer] = of.cloud.instructions as [InstructionRecord, InstructionRecord];
  for (const order of [
    [former, newer],
    [newer, former],
    [newer, former, newer],
  ]) {
    const other = await replica(t);
    for (const record of order) other.cloud.push('instructions', { records: [record] });
    await eventually(
      'it is known',
      async () => (await broadcast(first, other)).error?.details['reason'] === 'superseded',
    );
    t.is((await build(second, 'payout-1', other)).status, 201, 'the key is that of the newer build');
    t.is((await build(first, 'payout-1', other)).error?.details['reason'], 'id_used_before');
    t.is(alarms(other), 0);
  }
});

test('found F57: what another replica signed is not given up: its shared ledger counted it', async (t) => {
  const directory = newDirectory(),
    env = { EDGE_CHAINS: 'tron', EDGE_SPEND_LEDGER: directory };
  const { build, says, first, second } = await keyStory(t, { chain: 'tron', ledger: false, variant: 1 });
  const [one, other] = await Promise.all([replica(t, 'leader', env), replica(t, 'leader', env)]);
  t.is((await build(first, 'payout-1', one)).status, 201);
  await eventually('it is shared', () => one.cloud.instructions.length === 1);
  other.cloud.push('instructions', { records: [one.cloud.instructions[0]!] });
  await eventually(
    'it is signed there',
    async () => (await other.edge.ask('POST', `/v1/transactions/${first}/broadcast`)).status === 200,
  );
  says(first, 'expired', one);
  const again = await build(second, 'payout-1', one);
  t.is(again.error?.details['reason'], 'idempotency_key_of_expired_build', again.text);
});

test('found F4: nothing is kept for a caller that is gone when the build comes', async (t) => {
  const { cloud, edge } = await replica(t);
  const id = newId('txn', 1),
    gone = new AbortController();
  cloud.on('POST /v1/transactions/unsigned', async () => {
    gone.abort();
    await edge.ask('GET', '/v1/edge/outbox'); // by now the edge has read that the other connection is closed
    return { data: builtFor(WANTED, transactionFor(WANTED), id), status: 201 };
  });
  await t.throwsAsync(
    fetch(`${edge.url}/v1/transactions/unsigned`, {
      method: 'POST',
      signal: gone.signal,
      headers: { 'x-api-key': edge.localKey, 'content-type': 'application/json' },
      body: JSON.stringify({ chain: 'eth', from: FIRST, to: RECEIVER, amount: WANTED.amount.toString() }),
    }),
  );
  await eventually('the build came', () => edge.logged.some(({ msg }) => msg === 'caller_gone'));
  t.is((await edge.ask('POST', `/v1/transactions/${id}/broadcast`)).error?.details['reason'], 'no_instruction');
  t.like(await cloud.sign(id), { ok: false, details: { reason: 'no_instruction' } });
});

test('decisions 6: a clock that is set back makes no instruction fresh again', async (t) => {
  const builder = await replica(t, 'follower'),
    one = await replica(t);
  const record = await broadcast(t, builder);
  one.cloud.push('instructions', { records: [record] });
  one.clock.nowMs -= HOUR_MS / 60;
  t.false((await one.cloud.sign(newId('txn', 1))).ok, 'the record before it was taken');
  one.clock.nowMs -= HOUR_MS;
  const refused = await one.cloud.sign(record.transactionId);
  t.like(refused, { ok: false, code: 'SIGNED_BATCH_REJECTED', details: { reason: 'instruction_expired' } });
  t.deepEqual(one.cloud.submitted, []);
  t.is(
    (await one.edge.ask('POST', `/v1/transactions/${record.transactionId}/broadcast`)).status,
    200,
    'its own caller is served',
  );
});

test('a replayed older record changes nothing; the same bytes come out wherever an instruction is signed', async (t) => {
  const [builder, leader] = await Promise.all([replica(t, 'follower'), replica(t)]);
  const record = await broadcast(t, builder);
  builder.clock.nowMs += 1_000;
  const repriced = transactionFor(WANTED, { maxFeePerGas: 40_000_000_000n });
  builder.cloud.on('PATCH /v1/transactions/unsigned/{id}', () => ({
    data: builtFor(WANTED, repriced, record.transactionId),
  }));
  t.is((await builder.edge.ask('PATCH', `/v1/transactions/unsigned/${record.transactionId}`)).status, 200);
  await builder.edge.ask('POST', `/v1/transactions/${record.transactionId}/broadcast`);
  await eventually(
    'the new version is shared',
    () =>
      builder.cloud.instructions.at(-1)!.askedAtMs > record.askedAtMs &&
      builder.cloud.instructions.at(-1)!.unsigned !== record.unsigned &&
      builder.cloud.instructions.at(-1)!.broadcastAtMs !== record.broadcastAtMs,
  );
  const newer = builder.cloud.instructions.at(-1)!;
  leader.cloud.push('instructions', { records: [newer] });
  leader.cloud.push('instructions', { records: [record] });
  t.true((await leader.cloud.sign(record.transactionId, leader.cloud.leaseEpoch, record)).ok);
  const next = await replica(t);
  t.true((await next.cloud.sign(record.transactionId, next.cloud.leaseEpoch, newer)).ok);
  t.deepEqual(
    leader.cloud.submitted.map(({ signedPayload }) => signedPayload),
    next.cloud.submitted.map(({ signedPayload }) => signedPayload),
  );
  t.is(alarms(leader), 0);
});

test('1.6-7: a version under another nonce is recorded nowhere: signed at two replicas, both would land', async (t) => {
  const [builder, leader] = await Promise.all([replica(t, 'follower'), replica(t)]);
  const record = await broadcast(t, builder);
  t.true(
    (await leader.cloud.sign(record.transactionId, leader.cloud.leaseEpoch, record)).ok,
    'signed where the builder does not see it',
  );
  const answer = builtFor(WANTED, transactionFor(WANTED, { nonce: 4 }), record.transactionId);
  builder.cloud.on('PATCH /v1/transactions/unsigned/{id}', () => ({ data: answer }));
  builder.cloud.on('POST /v1/transactions/unsigned', () => ({ data: answer, status: 201 }));
  const repriced = await builder.edge.ask('PATCH', `/v1/transactions/unsigned/${record.transactionId}`);
  t.is(repriced.error?.details['reason'], 'repricing_changed_the_replay_key');
  const again = await builder.edge.ask('POST', '/v1/transactions/unsigned', {
    chain: 'eth',
    from: FIRST,
    to: RECEIVER,
    amount: WANTED.amount.toString(),
  });
  t.is(again.error?.details['reason'], 'id_used_before');
  t.is(
    new Set([...leader.cloud.submitted, ...builder.cloud.submitted].map(({ signedPayload }) => signedPayload)).size,
    1,
  );
});

test('SIGTERM of the leader: what is at work is finished, then the lease is released', async (t) => {
  const { cloud, edge } = await replica(t);
  await edge.edge.stop();
  // It goes out before the edge has stopped, and the cloud of this process reads it when it has its turn.
  await eventually('the cloud has it', () => cloud.released.length > 0);
  t.deepEqual(cloud.released, [cloud.leaseEpoch]);
});

test('found: builds that run at once under one Idempotency-Key, answered with two ids, are one instruction', async (t) => {
  const { cloud, edge } = await replica(t),
    ids = [newId('txn', 1), newId('txn', 2)],
    waiting: (() => void)[] = [];
  cloud.on('POST /v1/transactions/unsigned', async () => {
    const id = ids[waiting.length]!;
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 2) for (const go of waiting) go();
    });
    return { data: builtFor(WANTED, transactionFor(WANTED), id), status: 201 };
  });
  const build = () =>
    edge.ask(
      'POST',
      '/v1/transactions/unsigned',
      { chain: 'eth', from: FIRST, to: RECEIVER, amount: WANTED.amount.toString() },
      { 'idempotency-key': 'one' },
    );
  const answers = await Promise.all([build(), build()]);
  t.deepEqual(answers.map(({ status }) => status).sort(), [201, 400], answers.map(({ text }) => text).join('\n'));
  t.is(answers.find(({ status }) => status === 400)!.error?.details['reason'], 'idempotency_key_of_another_id');
  const [kept] = answers.filter(({ status }) => status === 201),
    lost = ids.find((id) => id !== kept!.data?.['id'])!;
  t.is((await edge.ask('POST', `/v1/transactions/${lost}/broadcast`)).error?.details['reason'], 'no_instruction');
});

for (const chain of ['eth', 'sol'] as const) {
  test(`found: what a follower had broadcast stands in the way of an equal payment there when it leads, whatever it was told of it: ${chain}`, async (t) => {
    const { cloud, edge } = await replica(t, 'follower', { EDGE_CHAINS: chain });
    cloud.on('POST /v1/transactions/{id}/broadcast', () => ({ code: 'CHAIN_REJECTED', details: { reason: 'x' } }));
    const told: { id: string }[] = [];
    const pay = async (variant: number) => {
      const unsigned = await unsignedFor({ chain }, variant),
        built = familyBuiltOf(unsigned, newId('txn', Date.now()));
      told.push(built);
      cloud.on('POST /v1/transactions/unsigned', () => ({ data: built, status: 201 }));
      t.is((await edge.ask('POST', '/v1/transactions/unsigned', askedOf({ chain }))).status, 201);
      return edge.ask('POST', `/v1/transactions/${built.id}/broadcast`);
    };
    t.like((await pay(0)).error, { code: 'CHAIN_REJECTED', details: { mayBeSigned: true } });
    cloud.role = 'leader';
    cloud.leaseEpoch += 1;
    cloud.push('lease', { role: 'leader', leaseEpoch: cloud.leaseEpoch, leaseTtlMs: 30_000 });
    await eventually('it leads', () =>
      edge.logged.some(({ msg, role }) => msg === 'lease_changed' && role === 'leader'),
    );
    const second = await pay(1);
    t.like(second.error?.details, {
      reason: 'equal_payment_signed',
      earlier: [told[0]!.id],
      setting: 'EDGE_SPEND_LEDGER',
    });
    t.true(String(second.error?.details['next']).startsWith('broadcast the earlier one again'));
    t.deepEqual(cloud.submitted, []);
    const first = await edge.ask('POST', `/v1/transactions/${told[0]!.id}/broadcast`);
    t.is(first.status, 200, first.text);
    t.is(cloud.submitted.length, 1, 'the way that the refusal names');
  });
}

test('found: one transaction of the chain never stands for two payments that are named differently, whatever the cloud says of the first', async (t) => {
  const { cloud, edge } = await replica(t, 'leader', { EDGE_CHAINS: 'sol' }),
    unsigned = await unsignedFor({ chain: 'sol' });
  const pay = async (paymentRef: string, id: string) => {
    const told = familyBuiltOf(unsigned, id);
    cloud.on('POST /v1/transactions/unsigned', () => ({ data: told, status: 201 }));
    const built = await edge.ask('POST', '/v1/transactions/unsigned', { ...askedOf({ chain: 'sol' }), paymentRef });
    return built.status === 201 ? edge.ask('POST', `/v1/transactions/${id}/broadcast`) : built;
  };
  const id = newId('txn', 1),
    first = familyBuiltOf(unsigned, id);
  t.is((await pay('payout 1', id)).status, 200);
  cloud.on('GET /v1/transactions/{id}', () => ({ data: recordOf(first, 'failed', null) }));
  t.is((await pay('payout 2', newId('txn', 2))).error?.details['reason'], 'payload_of_another_payment');
  t.is((await pay('payout 1', newId('txn', 3))).status, 200, 'the same payment is the same transaction');
  t.is(new Set(cloud.submitted.map(({ txid }) => txid)).size, 1);
});

test('attack: a version that another replica signed is no lie: the transaction, and the page that it is on, are handed on; a txid that nobody can have signed is not (G28)', async (t) => {
  const [one, other] = await Promise.all([replica(t), replica(t)]),
    id = newId('txn', one.clock.nowMs),
    first = builtFor(WANTED, transactionFor(WANTED), id);
  t.is((await build(one, id)).status, 201);
  t.is((await one.edge.ask('POST', `/v1/transactions/${id}/broadcast`)).status, 200);
  await eventually('it is shared', () => one.cloud.instructions.at(-1)?.broadcastAtMs !== null);
  const v1 = one.cloud.submitted[0]!.txid,
    foreign = `0x${'cd'.repeat(32)}`;
  const isHandedOn = async (txid: string, versions: string[]) => {
    const row = {
      ...recordOf(first, 'broadcast', txid),
      versions: versions.map((each) => ({ txid: each, at: 'node' as const })),
    };
    one.cloud.on('GET /v1/transactions/{id}', () => ({ data: row }));
    one.cloud.on('GET /v1/transactions', () => ({
      data: { content: [row], page: 0, size: 20, totalElements: 1, totalPages: 1, next: null },
    }));
    const statuses = [
      (await one.edge.ask('GET', `/v1/transactions/${id}`)).status,
      (await one.edge.ask('GET', '/v1/transactions')).status,
    ];
    return statuses.every((status) => status === 200);
  };
  t.true(await isHandedOn(v1, [v1]));
  t.false(await isHandedOn(foreign, [foreign]), 'all versions were signed here');
  // The lease moves, and the application reprices at the other one.
  other.clock.nowMs += 1_000;
  other.cloud.push('instructions', { records: [one.cloud.instructions.at(-1)!] });
  other.cloud.on('PATCH /v1/transactions/unsigned/{id}', () => ({
    data: builtFor(WANTED, transactionFor(WANTED, { maxFeePerGas: 40_000_000_000n }), id),
  }));
  await eventually(
    'it is known there',
    async () => (await other.edge.ask('PATCH', `/v1/transactions/unsigned/${id}`)).status === 200,
  );
  t.is((await other.edge.ask('POST', `/v1/transactions/${id}/broadcast`)).status, 200);
  await eventually('it is shared', () => other.cloud.instructions.at(-1)?.broadcastAtMs !== null);
  const v2 = other.cloud.submitted.at(-1)!.txid;
  one.cloud.push('instructions', { records: [other.cloud.instructions.at(-1)!] });
  await eventually('it hears of it', () => isHandedOn(v2, [v1, v2]));
  t.not(v1, v2);
  // Signed here as well, it is one more of those that are known.
  t.is((await one.edge.ask('POST', `/v1/transactions/${id}/broadcast`)).status, 200);
  t.is(one.cloud.submitted.at(-1)!.txid, v2);
  t.true(await isHandedOn(v2, [v1, v2]));
});
