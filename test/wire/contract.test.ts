import test from 'ava';
import fc from 'fast-check';
import { canonicalJson } from '../../protocol/canonical-json.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { enrol, jsonOf, raw, startTestCloud } from '../support/gateway.ts';

const cloud = await startTestCloud();
test.after.always(() => cloud.stop());

async function sandboxed() {
  const organization = await cloud.organization();
  return { ...organization, edge: await enrol(cloud, organization.sandbox), client: organization.sandbox.client };
}

test('found F41: userRef is required in POST /v1/addresses, 1–255 characters; tag and label may be left out', async (t) => {
  const { sandbox } = await sandboxed();
  const post = (body: object) =>
    raw(cloud.url, 'POST', '/v1/addresses', { headers: jsonOf(sandbox.apiKey), body: JSON.stringify(body) });
  for (const userRef of [undefined, null, '', 7, 'x'.repeat(256), ['u'], 'a\u0000b']) {
    const { status, json } = await post({ chain: 'eth', userRef, tag: 't' });
    t.deepEqual(
      [status, json.error?.code, json.error?.details['field']],
      [400, 'INVALID_INPUT', 'userRef'],
      JSON.stringify(userRef),
    );
  }
  for (const userRef of ['u', 'x'.repeat(255)]) {
    const { status, json } = await post({ chain: 'eth', userRef });
    t.is(status, 201, json.error?.message);
    t.like(json.data, { userRef, tag: null, label: null });
  }
});

test('found F42: an explicit autoConfirm false wins over confirmAfterSeconds', async (t) => {
  const { sandbox, client } = await sandboxed();
  const { address } = await client.must('createAddress', { body: { chain: 'eth', userRef: 'u' } });
  const status = async (more: object): Promise<string> => {
    const { txid } = await client.must('simulateDeposit', { body: { chain: 'eth', address, amount: '1', ...more } });
    const due = await cloud.database.owner<
      { id: string }[]
    >`select id from sandbox_task where account_id = ${sandbox.accountId} and task ->> 'txid' = ${txid}`;
    if (due.length > 0) return 'due';
    const page = await client.must('listTransactions');
    return page.content.find((one) => one.txid === txid)?.status ?? 'none';
  };
  t.is(await status({ autoConfirm: false, confirmAfterSeconds: 0 }), 'detected');
  t.is(await status({ autoConfirm: false, confirmAfterSeconds: 3_600 }), 'detected', 'nothing is scheduled');
  t.is(await status({ confirmAfterSeconds: 3_600 }), 'due');
  t.is(await status({ autoConfirm: true, confirmAfterSeconds: 3_600 }), 'due');
  t.is(await status({ autoConfirm: true }), 'confirmed');
});

test('found F45: an idempotency key is bound to the parsed body: key order and white space are no other body, on every route', async (t) => {
  const { sandbox, client } = await sandboxed();
  const headers = (key: string) => jsonOf(sandbox.apiKey, { 'idempotency-key': key });
  const post = (path: string, key: string, body: string) =>
    raw(cloud.url, 'POST', path, { headers: headers(key), body });
  const first = await post('/v1/addresses', 'a', '{"chain":"eth","userRef":"käse","tag":"t"}');
  t.is(first.status, 201);
  for (const again of [
    '{"tag":"t","userRef":"käse","chain":"eth"}',
    ' {\n"chain" : "eth",\t"tag":"t",  "userRef":"k\\u00e4se" }\r\n',
  ]) {
    const { status, json, headers: answered } = await post('/v1/addresses', 'a', again);
    t.deepEqual(
      [status, json.data, answered.get('idempotent-replayed')],
      [201, first.json.data, 'true'],
      json.error?.message,
    );
  }
  for (const other of [
    '{"chain":"eth","userRef":"käse"}',
    '{"chain":"eth","userRef":"kase","tag":"t"}',
    '{"chain":"bsc","userRef":"käse","tag":"t"}',
  ]) {
    t.is((await post('/v1/addresses', 'a', other)).json.error?.code, 'IDEMPOTENCY_CONFLICT');
  }
  // Kept by the store, and refusals, alike; also while the first use is at work.
  const hook = [
    '{"url":"https://example.com/h","events":["deposit_detected","deposit_confirmed"]}',
    '{ "events": ["deposit_detected", "deposit_confirmed"], "url": "https://example.com/h" }',
  ];
  const hooks = await Promise.all(Array.from({ length: 6 }, (_, n) => post('/v1/webhooks', 'w', hook[n % 2]!)));
  t.is(new Set(hooks.map(({ json }) => JSON.stringify(json.data))).size, 1, JSON.stringify(hooks[1]!.json.error));
  t.is(
    (
      await post(
        '/v1/webhooks',
        'w',
        '{"url":"https://example.com/h","events":["deposit_confirmed","deposit_detected"]}',
      )
    ).json.error?.code,
    'IDEMPOTENCY_CONFLICT',
    'an array has an order',
  );
  const { address } = await client.must('createAddress', { body: { chain: 'eth', userRef: 'sender' } });
  const poor = (body: string) => post('/v1/transactions/unsigned', 'p', body);
  const to = '0x52908400098527886E0F7030069857D2E4169EE7';
  t.is(
    (await poor(`{"chain":"eth","from":"${address}","to":"${to}","amount":"1"}`)).json.error?.code,
    'INSUFFICIENT_FUNDS',
  );
  t.is(
    (await poor(`{"amount":"1","to":"${to}","from":"${address}","chain":"eth"}`)).headers.get('idempotent-replayed'),
    'true',
  );
  t.false(isRefusal(await client.call('listAddresses')));
});

test('found F45: one text for one JSON value, another for every other', (t) => {
  const shuffled = (value: unknown, turn: number): unknown => {
    if (Array.isArray(value)) return value.map((item) => shuffled(item, turn));
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value),
      at = entries.length === 0 ? 0 : turn % entries.length;
    return Object.fromEntries(
      [...entries.slice(at), ...entries.slice(0, at)].map(([name, item]) => [name, shuffled(item, turn)]),
    );
  };
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(50), (value, turn) => {
      const text = canonicalJson(value);
      t.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)));
      t.is(canonicalJson(shuffled(value, turn)), text);
      t.is(canonicalJson(JSON.parse(JSON.stringify(value, null, 3))), text);
    }),
  );
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, two) => {
      const same = JSON.stringify(shuffled(one, 0)) === JSON.stringify(shuffled(two, 0));
      if (same) t.is(canonicalJson(one), canonicalJson(two));
      else if (canonicalJson(one) === canonicalJson(two))
        t.deepEqual(JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(two)));
    }),
  );
  const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
  t.is(
    canonicalJson(JSON.parse('{"__proto__":1,"b":{"d":[],"c":{}},"a":null}')),
    '{"__proto__":1,"a":null,"b":{"c":{},"d":[]}}',
  );
  t.is(canonicalJson(JSON.parse(deep)), deep);
});
