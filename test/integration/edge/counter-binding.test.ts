/** F43: the counter is bound at the broadcast, and whatever a cloud says, an instruction is signed under one. */
import test, { type ExecutionContext } from 'ava';
import { decodeSigned, type EvmTransaction } from '../../../chains/evm/envelope.ts';
import { newId } from '../../../protocol/node/ids.ts';
import type { BuiltJson } from '../../../protocol/schema/transactions.ts';
import { builtFor, RECEIVER, THIEF, transactionFor, USDC, type Wanted } from '../../support/edge/built.ts';
import { newDirectory } from '../../support/edge/disk.ts';
import { eventually, FIRST, startTestEdge, type EdgeReply, type TestEdge } from '../../support/edge/edges.ts';
import { HostileCloud } from '../../support/edge/hostile-cloud.ts';

const COUNTER = 'POST /v1/edge/transactions/{id}/counter';
const WANTED: Wanted = { from: FIRST, to: RECEIVER, amount: 10n ** 18n };

interface Replica {
  readonly cloud: HostileCloud;
  readonly edge: TestEdge;
  readonly dataDir: string;
}

/** One replica with a cloud of its own: what passes between two of them is passed by the test. */
async function replica(
  t: ExecutionContext,
  {
    role = 'leader',
    env = {},
    dataDir = newDirectory(),
    cloud,
  }: {
    role?: HostileCloud['role'];
    env?: Record<string, string>;
    dataDir?: string;
    cloud?: HostileCloud;
  } = {},
): Promise<Replica> {
  const its = cloud ?? (await HostileCloud.start());
  if (cloud === undefined) t.teardown(() => its.close());
  its.role = role;
  if (role === 'follower') its.on('POST /v1/transactions/{id}/broadcast', () => ({ code: 'EDGE_NO_LEADER' }));
  const edge = await startTestEdge(t, its.url, { env: { EDGE_CHAINS: 'eth', ...env }, dataDir });
  await eventually('the edge is welcomed', () => edge.logged.some(({ msg }) => msg === 'welcomed'));
  return { cloud: its, edge, dataDir };
}

let ids = 0;
/** Built under nonce 3. */
async function build(
  t: ExecutionContext,
  { cloud, edge }: Replica,
  wanted: Wanted = WANTED,
  paymentRef?: string,
): Promise<string> {
  ids += 1;
  const id = newId('txn', 1_700_000_000_000 + ids);
  cloud.on('POST /v1/transactions/unsigned', () => ({
    data: builtFor(wanted, transactionFor(wanted), id),
    status: 201,
  }));
  const body = {
    chain: 'eth',
    from: wanted.from,
    to: wanted.to,
    amount: wanted.amount.toString(),
    paymentRef: paymentRef ?? id,
  };
  const reply = await edge.ask('POST', '/v1/transactions/unsigned', body);
  t.is(reply.status, 201, reply.text);
  return id;
}

const boundTo = (nonce: number, id: string, more: Partial<EvmTransaction> = {}) =>
  builtFor(WANTED, transactionFor(WANTED, { nonce, ...more }), id);
const idOf = (path: string) => path.split('/')[4]!;
/** The cloud binds this nonce, whatever is asked. */
const binds = ({ cloud }: Replica, nonce: number) =>
  cloud.on(COUNTER, ({ path }) => ({ data: boundTo(nonce, idOf(path)) }));
const broadcast = ({ edge }: Replica, id: string): Promise<EdgeReply> =>
  edge.ask('POST', `/v1/transactions/${id}/broadcast`);
const nonces = ({ cloud }: Replica): (number | null)[] =>
  cloud.submitted.map(({ signedPayload }) => {
    const decoded = decodeSigned(signedPayload);
    return decoded.ok ? decoded.transaction.nonce : null;
  });
const alarms = ({ edge }: Replica, what: string) =>
  edge.logged.filter(({ msg, alarm }) => msg === what && alarm === true).length;
const recordOf = ({ cloud }: Replica, id: string) =>
  cloud.instructions.findLast(({ transactionId }) => transactionId === id) ?? null;

test('found F43: what is signed has the counter that was bound for it, and no second one is ever asked for', async (t) => {
  const one = await replica(t);
  const id = await build(t, one);
  binds(one, 8);
  t.is((await broadcast(one, id)).status, 200);
  binds(one, 9);
  t.is((await broadcast(one, id)).status, 200, 'asked again it is the same transaction');
  t.deepEqual(
    [
      new Set(one.cloud.submitted.map(({ signedPayload }) => signedPayload)).size,
      nonces(one)[0],
      one.cloud.countOf(COUNTER),
    ],
    [1, 8, 1],
  );
  t.true((await one.cloud.sign(id)).ok);
  t.deepEqual([...new Set(nonces(one))], [8]);
});

test('found F43: builds of one counter are broadcast in any order and at once: each is bound, signed and handed over before the next is bound', async (t) => {
  const one = await replica(t);
  const built: string[] = [];
  for (let n = 0; n < 6; n += 1) built.push(await build(t, one));
  const told: string[] = [];
  let next = 3;
  one.cloud.on(COUNTER, ({ path }) => {
    told.push(`bind ${idOf(path)}`);
    return { data: boundTo(next++, idOf(path)) };
  });
  one.cloud.on('POST /v1/edge/transactions/{id}/signed', ({ path, body }) => {
    told.push(`have ${idOf(path)}`);
    one.cloud.submitted.push({
      id: idOf(path),
      leaseEpoch: 1,
      ...(JSON.parse(body) as { signedPayload: string; txid: string }),
    });
    return { data: { id: idOf(path), status: 'broadcast' }, status: 201 };
  });
  const answers = await Promise.all(built.toReversed().flatMap((id) => [broadcast(one, id), broadcast(one, id)]));
  t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  t.deepEqual(nonces(one), [3, 4, 5, 6, 7, 8]);
  t.deepEqual(
    told.filter((_, index) => index % 2 === 0).map((text) => text.replace('bind', 'have')),
    told.filter((_, index) => index % 2 === 1),
  );
});

const LIES: Readonly<Record<string, (told: BuiltJson) => BuiltJson>> = {
  'another id': (told) => ({ ...told, id: newId('txn', 5) }),
  'another destination': (told) => ({
    ...told,
    to: THIEF,
    unsigned: builtFor({ ...WANTED, to: THIEF }, transactionFor({ ...WANTED, to: THIEF }, { nonce: 8 }), told.id)
      .unsigned,
  }),
  'another destination in the bytes alone': (told) => ({
    ...told,
    unsigned: { ...told.unsigned, payload: boundTo(8, told.id, { to: THIEF }).unsigned.payload },
  }),
  'another amount': (told) => ({
    ...told,
    unsigned: builtFor({ ...WANTED, amount: 2n }, transactionFor({ ...WANTED, amount: 2n }, { nonce: 8 }), told.id)
      .unsigned,
  }),
  'a token': (told) => ({ ...told, unsigned: { ...told.unsigned, tokenContract: USDC } }),
  'a higher fee': (told) => ({ ...told, unsigned: boundTo(8, told.id, { maxFeePerGas: 31_000_000_000n }).unsigned }),
  'a higher fee in the bytes alone': (told) => ({
    ...told,
    unsigned: { ...told.unsigned, payload: boundTo(8, told.id, { maxFeePerGas: 31_000_000_000n }).unsigned.payload },
  }),
  'another chain id': (told) => ({ ...told, unsigned: boundTo(8, told.id, { chainId: 56 }).unsigned }),
  'another path': (told) => ({ ...told, unsigned: { ...told.unsigned, fromPath: "m/44'/60'/0'/0/1" } }),
  'a counter that the bytes do not have': (told) => ({
    ...told,
    unsigned: { ...told.unsigned, replayKey: { kind: 'nonce', value: 9 } },
  }),
  'no counter': (told) => ({ ...told, unsigned: { ...told.unsigned, replayKey: { kind: 'expiry', value: '9' } } }),
  'a counter that lies in wait': (told) => boundTo(1_000_000, told.id),
  'no build': (told) => ({ ...told, unsigned: undefined as never }),
};

test('found F43: nothing but the counter may change, and not to any: each lie is refused with an alarm, and the truth is signed after it', async (t) => {
  const one = await replica(t);
  for (const [what, lie] of Object.entries(LIES)) {
    const id = await build(t, one),
      before = one.cloud.submitted.length;
    const rung = () =>
      alarms(one, 'binding_refused') +
      alarms(one, 'payload_refused') +
      one.edge.logged.filter(({ msg }) => msg === 'payload_above_bound').length;
    const quiet = rung();
    one.cloud.on(COUNTER, () => ({ data: lie(boundTo(8, id)) }));
    const refused = await broadcast(one, id);
    t.is(refused.error?.code, 'SIGNED_BATCH_REJECTED', `${what}: ${refused.text}`);
    t.is(one.cloud.submitted.length, before, what);
    t.true(rung() > quiet, what);
    binds(one, 100 + before);
    t.is((await broadcast(one, id)).status, 200, what);
  }
});

test('found F43: a counter that this edge signed for another instruction is not signed again, wherever the cloud binds it', async (t) => {
  const one = await replica(t);
  const other: Wanted = { ...WANTED, amount: 7n };
  const [first, second] = [await build(t, one), await build(t, one, other)];
  const bindsOther = (nonce: number) =>
    one.cloud.on(COUNTER, ({ path }) => ({ data: builtFor(other, transactionFor(other, { nonce }), idOf(path)) }));
  one.cloud.on('GET /v1/transactions/{id}', ({ path }) => ({ data: { id: path.split('/')[3], status: 'broadcast' } }));
  binds(one, 8);
  t.is((await broadcast(one, first)).status, 200);
  bindsOther(8);
  t.is((await broadcast(one, second)).error?.details['reason'], 'nonce_used');
  bindsOther(9);
  t.is((await broadcast(one, second)).status, 200);
  t.deepEqual(nonces(one), [8, 9]);
});

test('found F43: what was bound and not signed is bound anew, also after a start; the cloud hears what was given up', async (t) => {
  const cap = { EDGE_WITHDRAWAL_CAP_ETH: (10n ** 18n / 2n).toString() };
  const one = await replica(t, { env: cap });
  const [id, small] = [await build(t, one), await build(t, one, { ...WANTED, amount: 7n })];
  binds(one, 8);
  t.is((await broadcast(one, id)).error?.code, 'AMOUNT_CAP_EXCEEDED');
  const asked: unknown[] = [];
  one.cloud.on(COUNTER, ({ body }) => {
    asked.push((JSON.parse(body) as { gaveUp: unknown }).gaveUp);
    return {
      data: builtFor({ ...WANTED, amount: 7n }, transactionFor({ ...WANTED, amount: 7n }, { nonce: 8 }), small),
    };
  });
  t.is((await broadcast(one, small)).status, 200);
  t.deepEqual(asked, [[id]]);
  await one.edge.edge.stop();
  const again = await replica(t, { dataDir: one.dataDir, cloud: one.cloud });
  binds(again, 9);
  t.is((await broadcast(again, id)).status, 200);
  t.deepEqual(nonces(again), [8, 9]);
});

test('found F43: a queue that is full is told as the cloud tells it, nothing is signed, and the next broadcast tries again', async (t) => {
  const one = await replica(t);
  const id = await build(t, one);
  one.cloud.on(COUNTER, () => ({
    code: 'CONFLICT',
    details: { reason: 'in_flight_limit', limit: 16, retryAfterSeconds: 12 },
  }));
  t.like((await broadcast(one, id)).error, {
    code: 'CONFLICT',
    details: { reason: 'in_flight_limit', retryAfterSeconds: 12 },
  });
  let asked = 0;
  one.cloud.on(COUNTER, ({ path }) => {
    asked += 1;
    return asked === 1
      ? { code: 'CONFLICT', details: { reason: 'another_is_bound' } }
      : { data: boundTo(4, idOf(path)) };
  });
  t.is((await broadcast(one, id)).status, 200, 'one that is bound elsewhere is waited for');
  t.deepEqual(nonces(one), [4]);
});

test('found F43: without a ledger in common only the replica that built it binds; a cloud that withholds its word gets no second counter', async (t) => {
  const [builder, other] = [await replica(t), await replica(t)];
  const id = await build(t, builder);
  const open = recordOf(builder, id)!;
  other.cloud.push('instructions', { records: [open] });
  binds(builder, 8);
  binds(other, 9);
  t.is((await broadcast(builder, id)).status, 200);
  const refused = await broadcast(other, id);
  t.like(refused.error, {
    code: 'SERVICE_UNAVAILABLE',
    details: { reason: 'counter_not_bound', setting: 'EDGE_SPEND_LEDGER', retryAfterSeconds: 1 },
  });
  t.like(await other.cloud.sign(id, other.cloud.leaseEpoch, recordOf(other, id)), { ok: false });
  t.deepEqual([nonces(builder), nonces(other), other.cloud.countOf(COUNTER)], [[8], [], 0]);
  // With the builder's word the other one signs the very same.
  await eventually('it is shared', () => recordOf(builder, id)!.broadcastAtMs !== null);
  other.cloud.push('instructions', { records: [recordOf(builder, id)!] });
  await eventually('it is served', async () => (await broadcast(other, id)).status === 200);
  t.deepEqual(
    new Set([...builder.cloud.submitted, ...other.cloud.submitted].map(({ signedPayload }) => signedPayload)).size,
    1,
  );
  t.is(alarms(other, 'foreign_instructions_refused'), 0);
});

test('found F43: the replica that built it hears of a broadcast elsewhere and binds; what it handed out it never binds anew', async (t) => {
  const [builder, other] = [await replica(t, { role: 'follower' }), await replica(t)];
  const id = await build(t, builder);
  other.cloud.push('instructions', { records: [recordOf(builder, id)!] });
  binds(builder, 8);
  t.is((await broadcast(other, id)).error?.details['reason'], 'counter_not_bound');
  await eventually('it says so', () => recordOf(other, id) !== null);
  builder.cloud.push('instructions', { records: [recordOf(other, id)!] });
  await eventually('it is bound', () => recordOf(builder, id)!.unsigned.includes('"bound":true'));
  other.cloud.push('instructions', { records: [recordOf(builder, id)!] });
  await eventually('it is served', async () => (await broadcast(other, id)).status === 200);
  t.deepEqual(nonces(other), [8]);
  // The one that built it leads now, and hears nothing of the signature.
  builder.cloud.role = 'leader';
  builder.cloud.leaseEpoch += 1;
  builder.cloud.push('lease', { role: 'leader', leaseEpoch: builder.cloud.leaseEpoch, leaseTtlMs: 30_000 });
  binds(builder, 9);
  builder.cloud.on('POST /v1/transactions/{id}/broadcast', () => ({ code: 'EDGE_NO_LEADER' }));
  await eventually('it leads', async () => (await broadcast(builder, id)).status === 200);
  t.deepEqual([...new Set(nonces(builder))], [8]);
});

test('attack: what was broadcast here and only another replica may bind stands in the way of an equal payment here, and its refusal says that it may be signed (F3)', async (t) => {
  for (const role of ['leader', 'follower'] as const) {
    const [builder, other] = [await replica(t), await replica(t, { role })];
    const first = await build(t, builder, WANTED, 'payout 1');
    other.cloud.push('instructions', { records: [recordOf(builder, first)!] });
    binds(builder, 8);
    binds(other, 9);
    t.false((await other.cloud.sign(first)).ok, 'frames come in order: the record was taken');
    t.like((await broadcast(other, first)).error?.details, { mayBeSigned: true });
    // The cloud has it signed where it was built, and keeps the word of that.
    await eventually('it is shared', () => recordOf(other, first) !== null);
    builder.cloud.push('instructions', { records: [recordOf(other, first)!] });
    await eventually('it is signed', async () => (await builder.cloud.sign(first)).ok);
    if (role === 'follower') {
      other.cloud.role = 'leader';
      other.cloud.push('lease', { role: 'leader', leaseEpoch: (other.cloud.leaseEpoch += 1), leaseTtlMs: 30_000 });
      await eventually('it leads', () =>
        other.edge.logged.some(({ msg, role: now }) => msg === 'lease_changed' && now === 'leader'),
      );
    }
    t.like((await broadcast(other, await build(t, other, WANTED, 'payout 1'))).error?.details, {
      reason: 'equal_payment_signed',
      earlier: [first],
    });
    t.is(
      (await broadcast(other, await build(t, other, WANTED, 'payout 2'))).status,
      200,
      'another payment is none of it',
    );
    // What the builder handed out is signed here under its counter, and under no other.
    await eventually('the word of the builder is there', () =>
      recordOf(builder, first)!.unsigned.includes('"bound":true'),
    );
    other.cloud.push('instructions', { records: [recordOf(builder, first)!] });
    await eventually('it is served', async () => (await broadcast(other, first)).status === 200);
    t.is(
      new Set(
        [...builder.cloud.submitted, ...other.cloud.submitted]
          .filter(({ id }) => id === first)
          .map(({ signedPayload }) => signedPayload),
      ).size,
      1,
    );
  }
});

test('found F43: with one EDGE_SPEND_LEDGER any replica binds, and no second counter passes the ledger', async (t) => {
  const env = { EDGE_SPEND_LEDGER: newDirectory() };
  const [builder, other] = [await replica(t, { env }), await replica(t, { env })];
  const [id, next] = [await build(t, builder), await build(t, builder)];
  other.cloud.push('instructions', { records: [recordOf(builder, id)!, recordOf(builder, next)!] });
  binds(builder, 8);
  t.is((await broadcast(builder, id)).status, 200);
  binds(other, 9);
  await eventually(
    'it is known there',
    async () => (await broadcast(other, id)).error?.details['reason'] === 'signed_under_another_key',
  );
  t.deepEqual(nonces(other), []);
  t.is((await broadcast(other, next)).status, 200, 'what nobody signed is bound wherever it is broadcast');
  binds(other, 8);
  t.is((await broadcast(other, id)).status, 200, 'under the same counter it is the same transaction');
  t.deepEqual(nonces(other), [9, 8]);
  t.is(
    new Set(
      [...builder.cloud.submitted, ...other.cloud.submitted]
        .filter((sent) => sent.id === id)
        .map(({ signedPayload }) => signedPayload),
    ).size,
    1,
  );
});

test('found F43: a cloud of before binds when it builds: what it built is signed, and under no other counter', async (t) => {
  const one = await replica(t);
  const id = await build(t, one);
  t.is((await broadcast(one, id)).status, 200);
  binds(one, 9);
  t.is((await broadcast(one, id)).status, 200);
  t.deepEqual([...new Set(nonces(one))], [3]);
});
