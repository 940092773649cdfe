/** Issue 4: what was built at one replica can be broadcast at any other, and a cloud that carries it can invent nothing. */
import test, { type ExecutionContext } from 'ava';
import { createIdentity } from '../../../edge/identity.ts';
import { signInstruction } from '../../../edge/instruction-record.ts';
import type { InstructionRecord } from '../../../protocol/frames.ts';
import { newId } from '../../../protocol/ids.ts';
import { HostileCloud } from '../../support/edge/hostile-cloud.ts';
import { builtFor, RECEIVER, THIEF, transactionFor, type Wanted } from '../../support/edge/built.ts';
import { newDirectory } from '../../support/edge/disk.ts';
import { eventually, FIRST, startTestEdge, type EdgeReply, type TestEdge } from '../../support/edge/edges.ts';

const WANTED: Wanted = { from: FIRST, to: RECEIVER, amount: 10n ** 18n };
const HOUR_MS = 3_600_000;

interface Replica { readonly cloud: HostileCloud; readonly edge: TestEdge; readonly clock: { nowMs: number } }

/** One replica with a cloud, a disk and a clock of its own: what passes between two of them is passed by the test. */
async function replica(t: ExecutionContext, env: Record<string, string> = {}): Promise<Replica> {
  const cloud = await HostileCloud.start();
  t.teardown(() => cloud.close());
  const clock = { nowMs: Date.now() };
  const edge = await startTestEdge(t, cloud.url, { env: { EDGE_CHAINS: 'eth', ...env }, ports: { wallMs: () => clock.nowMs }, dataDir: newDirectory() });
  await eventually('the edge is welcomed', () => edge.logged.some(({ msg }) => msg === 'welcomed'));
  return { cloud, edge, clock };
}

function build({ cloud, edge }: Replica, id: string): Promise<EdgeReply> {
  cloud.on('POST /v1/transactions/unsigned', () => ({ data: builtFor(WANTED, transactionFor(WANTED), id), status: 201 }));
  return edge.ask('POST', '/v1/transactions/unsigned', { chain: 'eth', from: FIRST, to: RECEIVER, amount: WANTED.amount.toString() });
}

async function built(t: ExecutionContext, builder: Replica): Promise<InstructionRecord> {
  const id = newId('txn', builder.clock.nowMs);
  t.is((await build(builder, id)).status, 201);
  await eventually('it is shared', () => builder.cloud.instructions.length > 0);
  return builder.cloud.instructions.at(-1)!;
}

const alarms = ({ edge }: Replica) => edge.logged.filter(({ msg, alarm }) => msg === 'foreign_instructions_refused' && alarm === true).length;

test('a withdrawal built at one replica is signed by another that has its record, pushed or with the ask to sign', async (t) => {
  const [builder, leader] = await Promise.all([replica(t), replica(t)]);
  const record = await built(t, builder);
  t.like(await leader.cloud.sign(record.transactionId), { ok: false, code: 'SIGNED_BATCH_REJECTED' });
  t.true((await leader.cloud.sign(record.transactionId, leader.cloud.leaseEpoch, record)).ok);
  const pushed = await built(t, builder);
  leader.cloud.push('instructions', { records: [pushed] });
  await eventually('it is known', async () => (await leader.edge.ask('POST', `/v1/transactions/${pushed.transactionId}/broadcast`)).status === 200);
  t.deepEqual(leader.cloud.submitted.map(({ id }) => id), [record.transactionId, pushed.transactionId]);
  t.deepEqual(builder.cloud.submitted, []);
  t.is(alarms(leader), 0);
});

test('decisions 6: a cloud that alters a record in any field, or signs one itself, gets no signature, and an alarm rings', async (t) => {
  const [builder, leader] = await Promise.all([replica(t), replica(t)]);
  const record = await built(t, builder);
  const thief = createIdentity(Buffer.alloc(32, 7));
  const { signature: _signature, ...unsigned } = record;
  const lies: InstructionRecord[] = [
    { ...record, transactionId: newId('txn', 1) },
    { ...record, environment: 'sandbox' },
    { ...record, instruction: record.instruction.replace(RECEIVER, THIEF) },
    { ...record, unsigned: record.unsigned.replace(RECEIVER, THIEF) },
    { ...record, askedAtMs: record.askedAtMs + 1 },
    { ...record, signature: record.signature.replace(/^./, (digit) => (digit === '0' ? '1' : '0')) },
    signInstruction(thief, unsigned),
  ];
  for (const [index, lie] of lies.entries()) {
    t.like(await leader.cloud.sign(lie.transactionId, leader.cloud.leaseEpoch, lie), { ok: false, code: 'SIGNED_BATCH_REJECTED' }, String(index));
    t.is(alarms(leader), index + 1);
  }
  t.deepEqual(leader.cloud.submitted, []);
  t.true((await leader.cloud.sign(record.transactionId, leader.cloud.leaseEpoch, record)).ok, 'the true one is signed');
});

test('issue 4: the cloud gets no signature for an instruction older than EDGE_INSTRUCTION_TTL; its own caller does', async (t) => {
  const one = await replica(t), other = await replica(t);
  const record = await built(t, one);
  one.clock.nowMs += HOUR_MS + 1;
  other.clock.nowMs += HOUR_MS + 1;
  for (const { cloud } of [one, other]) {
    const refused = await cloud.sign(record.transactionId, cloud.leaseEpoch, record);
    t.like(refused, { ok: false, code: 'SIGNED_BATCH_REJECTED', details: { reason: 'instruction_expired' } });
    t.deepEqual(cloud.submitted, []);
  }
  t.true(one.edge.logged.some(({ msg, alarm }) => msg === 'old_instruction_refused' && alarm === true));
  t.is((await one.edge.ask('POST', `/v1/transactions/${record.transactionId}/broadcast`)).status, 200);
  await eventually('the fresh record is shared', () => one.cloud.instructions.some(({ askedAtMs }) => askedAtMs > record.askedAtMs));
  one.clock.nowMs += HOUR_MS + 1;
  t.true((await one.cloud.sign(record.transactionId)).ok, 'what is signed is only submitted again');
  t.is(new Set(one.cloud.submitted.map(({ signedPayload }) => signedPayload)).size, 1);
});

test('decisions 6: a clock that is set back makes no instruction fresh again', async (t) => {
  const one = await replica(t);
  const record = await built(t, one);
  one.clock.nowMs -= HOUR_MS;
  const refused = await one.cloud.sign(record.transactionId, one.cloud.leaseEpoch, record);
  t.like(refused, { ok: false, code: 'SIGNED_BATCH_REJECTED', details: { reason: 'instruction_expired' } });
  t.deepEqual(one.cloud.submitted, []);
  t.is((await one.edge.ask('POST', `/v1/transactions/${record.transactionId}/broadcast`)).status, 200, 'its own caller is served');
});

test('a replayed older record changes nothing; the same bytes come out wherever an instruction is signed', async (t) => {
  const [builder, leader] = await Promise.all([replica(t), replica(t)]);
  const record = await built(t, builder);
  builder.clock.nowMs += 1_000;
  const repriced = transactionFor(WANTED, { maxFeePerGas: 40_000_000_000n });
  builder.cloud.on('PATCH /v1/transactions/unsigned/{id}', () => ({ data: builtFor(WANTED, repriced, record.transactionId) }));
  t.is((await builder.edge.ask('PATCH', `/v1/transactions/unsigned/${record.transactionId}`)).status, 200);
  await eventually('the new version is shared', () => builder.cloud.instructions.length >= 2);
  const newer = builder.cloud.instructions.at(-1)!;
  leader.cloud.push('instructions', { records: [newer] });
  leader.cloud.push('instructions', { records: [record] });
  t.true((await leader.cloud.sign(record.transactionId, leader.cloud.leaseEpoch, record)).ok);
  t.is((await builder.edge.ask('POST', `/v1/transactions/${record.transactionId}/broadcast`)).status, 200);
  t.deepEqual(leader.cloud.submitted.map(({ signedPayload }) => signedPayload), builder.cloud.submitted.map(({ signedPayload }) => signedPayload));
  t.is(alarms(leader), 0);
});

test('1.6-7: a version under another nonce is recorded nowhere: signed at two replicas, both would land', async (t) => {
  const [builder, leader] = await Promise.all([replica(t), replica(t)]);
  const record = await built(t, builder);
  t.true((await leader.cloud.sign(record.transactionId, leader.cloud.leaseEpoch, record)).ok, 'signed where the builder does not see it');
  const answer = builtFor(WANTED, transactionFor(WANTED, { nonce: 4 }), record.transactionId);
  builder.cloud.on('PATCH /v1/transactions/unsigned/{id}', () => ({ data: answer }));
  builder.cloud.on('POST /v1/transactions/unsigned', () => ({ data: answer, status: 201 }));
  const repriced = await builder.edge.ask('PATCH', `/v1/transactions/unsigned/${record.transactionId}`);
  t.is(repriced.error?.details['reason'], 'repricing_changed_the_replay_key');
  const again = await builder.edge.ask('POST', '/v1/transactions/unsigned', { chain: 'eth', from: FIRST, to: RECEIVER, amount: WANTED.amount.toString() });
  t.is(again.error?.details['reason'], 'id_used_before');
  t.is((await builder.edge.ask('POST', `/v1/transactions/${record.transactionId}/broadcast`)).status, 200);
  t.is(new Set([...leader.cloud.submitted, ...builder.cloud.submitted].map(({ signedPayload }) => signedPayload)).size, 1);
});

test('SIGTERM of the leader: what is at work is finished, then the lease is released', async (t) => {
  const { cloud, edge } = await replica(t);
  await edge.edge.stop();
  t.deepEqual(cloud.released, [cloud.leaseEpoch]);
});
