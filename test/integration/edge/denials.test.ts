/**
 * What an edge hears of bytes that it signed, in whatever form: a denial stays one, an honest word is none. One edge
 * for all: each row pays under a paymentRef of its own.
 */
import test, { type ExecutionContext } from 'ava';
import { newId } from '../../../protocol/node/ids.ts';
import { THIEF } from '../../support/edge/built.ts';
import { eventually, startTestEdge, type EdgeReply, type TestEdge } from '../../support/edge/edges.ts';
import { askedOf, builtOf, recordOf, unsignedFor } from '../../support/edge/families.ts';
import { HostileCloud, type Told } from '../../support/edge/hostile-cloud.ts';
import { startReceiver } from '../../support/edge/receivers.ts';
import type { BuiltJson } from '../../../protocol/schema/transactions.ts';

const META = { requestId: 'req_22222222222222222222222222', timestamp: '2026-01-01T00:00:00.000Z' };

interface First {
  readonly told: BuiltJson;
  readonly id: string;
  readonly txid: string;
  readonly key: string;
  readonly paymentRef: string;
}

interface Stage {
  readonly cloud: HostileCloud;
  readonly edge: TestEdge;
  build(variant: number, paymentRef: string, key: string): Promise<{ told: BuiltJson; id: string }>;
  pay(variant: number, paymentRef: string, key: string): Promise<{ told: BuiltJson; id: string; sent: EdgeReply }>;
  tell(event: string, data: object): Promise<void>;
}

async function stage(t: ExecutionContext, role: HostileCloud['role'] = 'leader'): Promise<Stage> {
  const cloud = await HostileCloud.start();
  cloud.role = role;
  t.teardown(() => cloud.close());
  const receiver = await startReceiver(t);
  const edge = await startTestEdge(t, cloud.url, {
    env: { EDGE_CHAINS: 'sol', EDGE_WEBHOOK_ALLOWLIST: `127.0.0.1:${receiver.port}` },
  });
  await eventually('it leads', () => edge.logged.some(({ msg }) => msg === 'welcomed'));
  let delivered = 0;
  const build: Stage['build'] = async (variant, paymentRef, key) => {
    const told = builtOf(await unsignedFor({ chain: 'sol' }, variant, Date.now()), newId('txn', Date.now()));
    cloud.on('POST /v1/transactions/unsigned', () => ({ data: told, status: 201 }));
    const body = { ...askedOf({ chain: 'sol' }), paymentRef };
    const built = await edge.ask('POST', '/v1/transactions/unsigned', body, { 'idempotency-key': key });
    t.is(built.status, 201, built.text);
    return { told, id: told.id };
  };
  return {
    cloud,
    edge,
    build,
    async pay(variant, paymentRef, key) {
      const { told, id } = await build(variant, paymentRef, key);
      return { told, id, sent: await edge.ask('POST', `/v1/transactions/${id}/broadcast`) };
    },
    async tell(event, data) {
      delivered += 1;
      await cloud.deliver([
        {
          deliveryId: newId('dlv', delivered),
          attempt: 1,
          url: receiver.url,
          headers: {},
          body: JSON.stringify({ event, data }),
          timeoutMs: 5_000,
        },
      ]);
      await eventually('it is reported', () => cloud.attempts.length >= delivered);
    },
  };
}

const refusing = (code: string, status: number, details: object, message = 'it is so'): Told => ({
  raw: JSON.stringify({ success: false, data: null, error: { code, message, details }, meta: META }),
  status,
});

type Word = (cast: Stage, first: First) => Promise<unknown>;
const get =
  (told: (first: First) => Told): Word =>
  ({ cloud, edge }, first) => {
    cloud.on(`GET /v1/transactions/${first.id}`, () => told(first));
    return edge.ask('GET', `/v1/transactions/${first.id}`);
  };
const rebuild =
  (told: (first: First) => Told): Word =>
  ({ cloud, edge }, first) => {
    cloud.on('POST /v1/transactions/unsigned', () => told(first));
    const body = { ...askedOf({ chain: 'sol' }), paymentRef: first.paymentRef };
    return edge.ask('POST', '/v1/transactions/unsigned', body, { 'idempotency-key': first.key });
  };
const event =
  (name: string, data: (first: First) => object): Word =>
  ({ tell }, first) =>
    tell(name, data(first));

const DENIALS: Readonly<Record<string, Word>> = {
  'a rebuilt key: transactionId in details': rebuild(({ id }) =>
    refusing('CONFLICT', 409, { reason: 'transaction_failed', transactionId: id }),
  ),
  'a rebuilt key: in the message only': rebuild(({ id, txid }) =>
    refusing('CONFLICT', 409, { reason: 'x' }, `${id} (${txid}) failed`),
  ),
  'a rebuilt key: in lists': rebuild(({ id, txid }) => refusing('CONFLICT', 409, { failed: [id], txids: [txid] })),
  'a rebuilt key: nothing named': rebuild(() => refusing('CONFLICT', 409, { reason: 'build_expired', signed: false })),
  'a record refused with a state': get(({ id, txid }) =>
    refusing('CONFLICT', 409, { state: 'failed', transactionId: id, txid }),
  ),
  'a code that nobody knows': get(() => refusing('TRANSACTION_FAILED', 422, {})),
  'broadcast with a failure': get(({ told, txid }) => ({
    data: { ...recordOf(told, 'broadcast', txid), failure: { code: 'x', reason: 'it never lands' } },
  })),
  'built without a txid': get(({ told }) => ({ data: recordOf(told, 'built', null) })),
  'broadcast without its txid': get(({ told }) => ({ data: recordOf(told, 'broadcast', null) })),
  'an event of its broadcast with a note': event('withdrawal_broadcast', ({ id }) => ({
    transactionId: id,
    note: 'it never lands',
  })),
  'an event of a deposit that names it': event('deposit_detected', ({ id }) => ({ transactionId: id, failure: {} })),
  'the refusal of another path that names it': async ({ cloud, edge }, { id }) => {
    cloud.on('GET /v1/addresses', () => refusing('CONFLICT', 409, { earlier: [id] }, `${id} failed`));
    return edge.ask('GET', '/v1/addresses');
  },
};

/** Events that this edge knows to be false: they reach nobody, and so are no denial. */
const UNHEARD: Readonly<Record<string, Word>> = {
  'an event of its broadcast with a failure': event('withdrawal_broadcast', ({ id }) => ({
    transactionId: id,
    failure: { code: 'x', reason: 'y' },
  })),
  'an event of its broadcast with another txid': event('withdrawal_broadcast', ({ id }) => ({
    transactionId: id,
    txid: '5'.repeat(88),
  })),
};

/** What an honest cloud says of signed bytes, or while it restarts. */
const HONEST: Readonly<Record<string, Word>> = {
  'its record, on its way': async (cast, first) => {
    for (const status of ['signing', 'broadcast', 'confirming'])
      await get(({ told, txid }) => ({ data: recordOf(told, status, txid) }))(cast, first);
  },
  '503, 429, 500 and a cut connection': async (cast, first) => {
    for (const code of ['SERVICE_UNAVAILABLE', 'RATE_LIMIT_EXCEEDED', 'INTERNAL_ERROR', 'CHAIN_UNAVAILABLE'] as const) {
      await get(() => ({ code, details: { reason: 'stopping', retryAfterSeconds: 1 } }))(cast, first);
      await rebuild(() => ({ code, details: { reason: 'stopping', retryAfterSeconds: 1 } }))(cast, first);
    }
    await get(() => ({ raw: 'bad gateway', status: 502 }))(cast, first);
  },
  'the build again, under its key': rebuild(({ told }) => ({ data: told, status: 201 })),
  'an event of its broadcast': event('withdrawal_broadcast', ({ id, txid }) => ({
    transactionId: id,
    txid,
    failure: null,
  })),
  'a deposit by its txid': event('deposit_detected', ({ txid }) => ({ depositId: 'dep_1', txid })),
};

test('found: whatever form a denial of signed bytes has, a later "confirmed" frees no equal payment; an honest word is no denial', async (t) => {
  const cast = await stage(t),
    { cloud, edge, pay } = cast;
  let variant = 0;
  for (const [words, freed] of [
    [DENIALS, false],
    [UNHEARD, true],
    [HONEST, true],
  ] as const) {
    for (const [name, say] of Object.entries(words)) {
      const key = `key ${variant}`,
        paymentRef = `ref ${variant}`;
      const { told, id, sent } = await pay((variant += 1), paymentRef, key);
      t.is(sent.status, 200, sent.text);
      const { txid } = cloud.submitted.at(-1)!;
      await say(cast, { told, id, txid, key, paymentRef });
      cloud.on(`GET /v1/transactions/${id}`, () => ({ data: recordOf(told, 'confirmed', txid) }));
      t.is((await edge.ask('GET', `/v1/transactions/${id}`)).status, 200);
      const again = (await pay((variant += 1), paymentRef, `${key} again`)).sent;
      t.is(again.error?.details['reason'], freed ? undefined : 'equal_payment_signed', `${name}\n${again.text}`);
    }
  }
});

test('found: `built`, read before the signed bytes reached the cloud, is answered as signed with the txid, and is no denial; afterwards it is one, and rings', async (t) => {
  const cast = await stage(t),
    { cloud, edge, build, pay } = cast;
  for (const [isTaken, freed] of [
    [false, true],
    [true, false],
  ] as const) {
    const paymentRef = `submitting ${isTaken}`;
    const { told, id } = await build(isTaken ? 11 : 12, paymentRef, paymentRef);
    const gate = Promise.withResolvers<void>();
    let txid = '';
    cloud.on('POST /v1/edge/transactions/{id}/signed', async ({ body }) => {
      ({ txid } = JSON.parse(body) as { txid: string });
      await gate.promise;
      return { data: recordOf(told, 'broadcast', txid), status: 201 };
    });
    const sent = edge.ask('POST', `/v1/transactions/${id}/broadcast`);
    await eventually('it is submitted', () => txid !== '');
    if (isTaken) {
      gate.resolve();
      t.is((await sent).status, 200);
    }
    const row = recordOf(told, 'built', null);
    cloud.on('GET /v1/transactions/{id}', () => ({ data: row }));
    cloud.on('GET /v1/transactions', () => ({
      data: { content: [row], page: 0, size: 20, totalElements: 1, totalPages: 1, next: null },
    }));
    const asItIs = { id, status: 'signing', txid, versions: [{ txid, at: 'signed' }] };
    const one = await edge.ask('GET', `/v1/transactions/${id}`);
    t.like(one.data, asItIs, one.text);
    const page = (await edge.ask('GET', '/v1/transactions')).data as { content: object[] };
    t.like(page.content[0], asItIs);
    gate.resolve();
    t.is((await sent).status, 200);
    cloud.on('GET /v1/transactions/{id}', () => ({ data: recordOf(told, 'confirmed', txid) }));
    t.is((await edge.ask('GET', `/v1/transactions/${id}`)).status, 200);
    const again = (await pay(isTaken ? 13 : 14, paymentRef, `${paymentRef} again`)).sent;
    t.is(again.error?.details['reason'], freed ? undefined : 'equal_payment_signed', again.text);
    t.is(
      edge.logged.some(({ msg, transactionId }) => msg === 'signed_called_unsigned' && transactionId === id),
      isTaken,
    );
  }
});

test('found: at a replica that does not lead, `built` is no denial while its own caller waits for the leader, and one afterwards', async (t) => {
  const cast = await stage(t, 'follower'),
    { cloud, edge, build, pay } = cast;
  const refs = ['meanwhile', 'afterwards'] as const;
  for (const [index, paymentRef] of refs.entries()) {
    const { told, id } = await build(21 + index, paymentRef, paymentRef);
    const asked = Promise.withResolvers<void>(),
      gate = Promise.withResolvers<void>();
    const txid = `${5 + index}`.repeat(88);
    cloud.on('POST /v1/transactions/{id}/broadcast', async () => {
      asked.resolve();
      await gate.promise;
      return { data: recordOf(told, 'broadcast', txid) };
    });
    const sent = edge.ask('POST', `/v1/transactions/${id}/broadcast`);
    await asked.promise;
    const readBuilt = async () => {
      cloud.on('GET /v1/transactions/{id}', () => ({ data: recordOf(told, 'built', null) }));
      t.like((await edge.ask('GET', `/v1/transactions/${id}`)).data, { status: 'built' });
    };
    if (paymentRef === 'meanwhile') await readBuilt();
    gate.resolve();
    t.is((await sent).status, 200);
    if (paymentRef === 'afterwards') await readBuilt();
    cloud.on('GET /v1/transactions/{id}', () => ({ data: recordOf(told, 'confirmed', txid) }));
    t.is((await edge.ask('GET', `/v1/transactions/${id}`)).status, 200);
  }
  cloud.role = 'leader';
  cloud.leaseEpoch += 1;
  cloud.push('lease', { role: 'leader', leaseEpoch: cloud.leaseEpoch, leaseTtlMs: 30_000 });
  await eventually('it leads', () => edge.logged.some(({ msg, role }) => msg === 'lease_changed' && role === 'leader'));
  const reasons = [];
  for (const [index, paymentRef] of refs.entries())
    reasons.push((await pay(31 + index, paymentRef, `${paymentRef} again`)).sent.error?.details['reason']);
  t.deepEqual(reasons, [undefined, 'equal_payment_signed']);
});

test('found: every refusal that concerns signed bytes says so, with their txid', async (t) => {
  const cast = await stage(t),
    { cloud, edge } = cast;
  const { told, id } = await cast.pay(1, 'ref', 'key');
  const { txid } = cloud.submitted[0]!;
  const first: First = { told, id, txid, key: 'key', paymentRef: 'ref' };
  cloud.on('PATCH /v1/transactions/unsigned/{id}', () => refusing('CONFLICT', 409, { reason: 'x', signed: false }));
  const expired = () => refusing('CONFLICT', 409, { reason: 'build_expired', status: 'expired', signed: false });
  const replies = [
    await edge.ask('PATCH', `/v1/transactions/unsigned/${id}`),
    ...(await Promise.all([rebuild(expired)(cast, first), get(expired)(cast, first)])),
    await get(() => refusing('NOT_FOUND', 404, { signed: false, txid: null }))(cast, first),
    await get(() => refusing('NEWER_CODE', 422, {}))(cast, first),
    await get(() => ({ data: { ...recordOf(told, 'broadcast', txid), address: 'x' } }))(cast, first),
  ] as EdgeReply[];
  for (const { error, text } of replies) {
    t.true(error?.details['signed'], text);
    t.true(text.includes(txid), text);
  }
});

test('found: a refusal of the cloud carries no address, key or member of its own, and no code that this edge does not know', async (t) => {
  const { cloud, edge } = await stage(t);
  const ask = async (told: Told, path = '/v1/addresses') => {
    cloud.on('GET /v1/addresses', () => told);
    return edge.ask('GET', path);
  };
  const foreign = { data: { address: THIEF }, next: `send it to ${THIEF}`, known: [THIEF, 'eth'], field: 'userRef' };
  const spaced = THIEF.replace(/(.{4})/g, '$1-');
  const replies = [
    await ask(refusing('CONFLICT', 409, foreign, `use ${THIEF}`)),
    await ask(refusing('INVALID_INPUT', 400, foreign, `use ${spaced}`)),
    await ask(refusing('NOT_FOUND', 404, { ...foreign, what: 'address', reason: spaced })),
    await ask(refusing('SERVICE_UNAVAILABLE', 503, { ...foreign, checks: { [THIEF]: THIEF } }, THIEF)),
    await ask(refusing(`USE_${THIEF}`, 418, foreign)),
  ];
  for (const { text } of replies) {
    t.false(text.replaceAll('-', '').toLowerCase().includes(THIEF.toLowerCase()), text);
    t.false(text.includes('"data":{'), text);
  }
  const nothingLeft = await ask(refusing('CONFLICT', 409, { txids: [THIEF], earlier: [THIEF, 'txn_a'] }));
  t.deepEqual(nothingLeft.error?.details, { earlier: ['txn_a'] }, 'an empty list would say that there are none');
  t.like(replies[1], { status: 400, error: { code: 'INVALID_INPUT', details: { field: 'userRef', known: ['eth'] } } });
  t.like(replies[4], { status: 503, error: { code: 'UPSTREAM_UNAVAILABLE', details: { reason: 'unknown_code' } } });
  const honest = await ask(refusing('CONFLICT', 409, { reason: 'label_taken' }, 'the label is taken'));
  t.like(honest.error, { message: 'the cloud says: the label is taken', details: { reason: 'label_taken' } });
  const own = await ask(refusing('INVALID_ADDRESS', 400, { address: THIEF }), `/v1/addresses?address=${THIEF}`);
  t.is(own.error?.details['address'], THIEF, 'what the caller wrote comes back to it');
});

test('found F5: an Idempotency-Key is one key however its path is spelled: another body under it is refused here', async (t) => {
  const cast = await stage(t);
  await cast.build(1, 'one', 'k-spelled');
  const other = { ...askedOf({ chain: 'sol' }), paymentRef: 'two' };
  for (const path of ['/v1/transactions/unsigned', '/v1/transactions/%75nsigned', '/v1/%74ransactions/unsigned']) {
    const answer = await cast.edge.ask('POST', path, other, { 'idempotency-key': 'k-spelled' });
    t.is(JSON.parse(answer.text).error?.code, 'IDEMPOTENCY_CONFLICT', path);
  }
});
