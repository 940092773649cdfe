import test from 'ava';
import { webhookSecretContext } from '../../actors/webhook/sign.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { createSecretBox } from '../../persistence/secret-box.ts';
import { envelopeOf } from '../../protocol/schema/events.ts';
import { EVENTS, type EventName } from '../../protocol/slugs.ts';
import { enrol, eventually, jsonOf, raw, startTestCloud, type TestAccountKey } from '../support/gateway.ts';

const cloud = await startTestCloud({ ETH_RPC_URLS: 'http://127.0.0.1:9' });
test.after.always(() => cloud.stop());

const URL_ = 'https://example.com/hooks';
const create = ({ apiKey }: TestAccountKey, body: unknown, headers: Record<string, string> = {}) =>
  raw(cloud.url, 'POST', '/v1/webhooks', { headers: jsonOf(apiKey, headers), body: JSON.stringify(body) });

async function deposited(client: TestAccountKey['client'], autoConfirm = true) {
  const { address } = await client.must('createAddress', { body: { chain: 'eth', userRef: 'u1' } });
  const { txid } = await client.must('simulateDeposit', {
    body: { chain: 'eth', address, amount: '1.5', autoConfirm },
  });
  return { address, txid };
}

test('§2.7 the secret of an endpoint is shown once, later reads have a preview', async (t) => {
  const { sandbox } = await cloud.organization();
  const made = await create(sandbox, { url: URL_, events: ['deposit_confirmed', 'edge_offline'] });
  t.is(made.status, 201);
  const { id, secret, ...view } = made.json.data as { id: string; secret: string; secretPreview: string };
  t.regex(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  t.regex(secret, /^whsec_[A-Za-z0-9+/]{32}$/);
  t.like(view, { url: URL_, events: ['deposit_confirmed', 'edge_offline'], status: 'enabled', rotating: false });
  t.is(view.secretPreview, `${secret.slice(0, 10)}…`);
  for (const read of [
    await sandbox.client.must('getWebhook', { params: { webhookId: id } }),
    (await sandbox.client.must('listWebhooks')).content[0]!,
  ]) {
    t.deepEqual(read, { id, ...view } as never);
    t.false(JSON.stringify(read).includes(secret));
  }
  const rows = await cloud.database.owner`select * from webhook where id = ${id}`;
  t.false(JSON.stringify(rows).includes(secret), 'sealed at rest');
});

test('I23 a repeated creation shows the same secret again', async (t) => {
  const { sandbox } = await cloud.organization();
  const body = { url: URL_, events: ['deposit_confirmed'] };
  const [first, second] = [
    await create(sandbox, body, { 'idempotency-key': 'w' }),
    await create(sandbox, body, { 'idempotency-key': 'w' }),
  ];
  t.deepEqual(second.json.data, first.json.data);
  t.is(second.headers.get('idempotent-replayed'), 'true');
  t.is((await sandbox.client.must('listWebhooks')).totalElements, 1);
  const stored = await cloud.database.owner`select body from idempotency where account_id = ${sandbox.accountId}`;
  t.false(JSON.stringify(stored).includes(first.json.data.secret as string), 'not even there in the clear');
});

test('decisions 9 and issue 2: a webhook URL is http or https without credentials; in live https, or http inside', async (t) => {
  const { live, sandbox } = await cloud.organization();
  const never = [
    '',
    'ftp://example.com',
    'javascript:alert(1)',
    'file:///etc/passwd',
    '//example.com',
    'example.com',
    'https://user:pass@example.com',
    'https://user@example.com',
    'https://',
    'https://example.com/#x',
    'https://example.com/\n',
    'https://exa\tmple.com/',
    `https://example.com/${'x'.repeat(2_049)}`,
  ];
  for (const url of never)
    for (const account of [live, sandbox])
      t.is((await create(account, { url, events: ['deposit_confirmed'] })).json.error?.code, 'INVALID_INPUT', url);
  for (const url of [
    'http://example.com/x',
    'http://8.8.8.8/',
    'http://169.254.169.254/latest',
    'http://[2606:4700::1111]/',
    'http://2130706433.example.com/',
  ]) {
    t.is((await create(live, { url, events: ['deposit_confirmed'] })).json.error?.code, 'INVALID_INPUT', url);
    t.is((await create(sandbox, { url, events: ['deposit_confirmed'] })).status, 201, `sandbox ${url}`);
  }
  for (const url of [
    'https://example.com/x',
    'http://app:8080/hooks',
    'http://10.1.2.3/x',
    'http://127.0.0.1:9000/',
    'http://[::1]/',
    'http://[fd00::1]/',
    'http://hooks.internal/x',
    'http://printer.local',
  ]) {
    t.is((await create(live, { url, events: ['deposit_confirmed'] })).status, 201, url);
  }
});

test('§2.7 events are named, each once, at least one', async (t) => {
  const { sandbox } = await cloud.organization();
  for (const events of [
    [],
    ['deposit_confirmed', 'deposit_confirmed'],
    ['nothing'],
    ['DEPOSIT_CONFIRMED'],
    'deposit_confirmed',
    [1],
    undefined,
  ]) {
    t.is((await create(sandbox, { url: URL_, events })).json.error?.code, 'INVALID_INPUT', JSON.stringify(events));
  }
  t.is((await create(sandbox, { url: URL_, events: [...EVENTS] })).status, 201);
});

test('§4.1 PUT replaces everything, DELETE stops at once and keeps the history', async (t) => {
  const { sandbox } = await cloud.organization();
  await enrol(cloud, sandbox);
  const { client } = sandbox;
  const made = await client.must('createWebhook', { body: { url: URL_, events: ['deposit_confirmed'] } });
  const params = { webhookId: made.id };
  await cloud.database.owner`update webhook set status = 'disabled' where id = ${made.id}`;
  t.is((await client.must('getWebhook', { params })).status, 'disabled');
  const replaced = await client.must('replaceWebhook', {
    params,
    body: { url: `${URL_}/2`, events: ['deposit_detected'] },
  });
  t.like(replaced, {
    id: made.id,
    url: `${URL_}/2`,
    events: ['deposit_detected'],
    status: 'enabled',
    secretPreview: made.secretPreview,
  });
  t.like(
    await client.call('replaceWebhook', { params, body: { url: `${URL_}/2` } as never }),
    { code: 'INVALID_INPUT' },
    'the full configuration',
  );
  await deposited(client);
  const history = await eventually(
    'a delivery is there',
    () => client.must('listWebhookDeliveries', { params }),
    ({ totalElements }) => totalElements === 1,
  );
  t.like(history.content[0], {
    event: 'deposit_detected',
    webhookId: made.id,
    url: `${URL_}/2`,
    replay: 0,
    status: 'pending',
    attempts: [],
  });
  t.is((await client.must('deleteWebhook', { params })).status, 'deleted');
  t.like(await client.call('getWebhook', { params }), { code: 'NOT_FOUND' });
  t.like(await client.call('replaceWebhook', { params, body: { url: URL_, events: ['deposit_detected'] } }), {
    code: 'NOT_FOUND',
  });
  t.like(await client.call('deleteWebhook', { params }), { code: 'NOT_FOUND' });
  t.is((await client.must('listWebhooks')).totalElements, 0);
  t.is((await client.must('listWebhookDeliveries', { params })).totalElements, 1);
  const { id: webhookId } = await client.must('createWebhook', { body: { url: URL_, events: ['pool_low'] } });
  await client.must('deleteWebhook', { params: { webhookId } });
  t.is((await client.must('listWebhookDeliveries', { params: { webhookId } })).totalElements, 0, 'nothing came of it');
});

test('decisions 4: while a secret is being rotated there are two; then the previous one is dropped', async (t) => {
  const {
    sandbox: { client },
  } = await cloud.organization();
  const made = await client.must('createWebhook', { body: { url: URL_, events: ['deposit_confirmed'] } });
  const params = { webhookId: made.id };
  t.like(await client.call('dropPreviousWebhookSecret', { params }), { code: 'CONFLICT' });
  const rotated = await client.must('rotateWebhookSecret', { params });
  t.not(rotated.secret, made.secret);
  t.true(rotated.rotating);
  const [row] = await cloud.database.owner`select sealed_secrets from webhook where id = ${made.id}`;
  t.is((row!['sealedSecrets'] as string[]).length, 2);
  await client.must('rotateWebhookSecret', { params });
  const [again] = await cloud.database.owner`select sealed_secrets from webhook where id = ${made.id}`;
  t.is((again!['sealedSecrets'] as string[]).length, 2, 'never more than two');
  t.false((await client.must('dropPreviousWebhookSecret', { params })).rotating);
  t.like(await client.call('rotateWebhookSecret', { params: { webhookId: '0198c0de-0000-7000-8000-000000000001' } }), {
    code: 'NOT_FOUND',
  });
  t.like(await client.call('getWebhook', { params: { webhookId: 'not-a-uuid' } }), { code: 'NOT_FOUND' });
});

test('decisions 4: rotations and replacements at the same time: every secret that was shown last still signs', async (t) => {
  const {
    sandbox: { client },
  } = await cloud.organization();
  const made = await client.must('createWebhook', { body: { url: URL_, events: ['deposit_confirmed'] } });
  const params = { webhookId: made.id };
  const rotations = Array.from({ length: 6 }, () => client.must('rotateWebhookSecret', { params }));
  const replaced = Array.from({ length: 6 }, (_, n) =>
    client.must('replaceWebhook', { params, body: { url: `${URL_}/${n}`, events: ['deposit_detected'] } }),
  );
  const shown = new Set((await Promise.all(rotations)).map(({ secret }) => secret));
  t.is(shown.size, 6);
  t.true((await Promise.all(replaced)).every(({ events }) => events.length === 1));
  const [row] = await cloud.database.owner`select sealed_secrets, secret_preview from webhook where id = ${made.id}`;
  const secrets = createSecretBox([cloud.sealKey]);
  const kept = (row!['sealedSecrets'] as string[]).map((sealed) => secrets.open(sealed, webhookSecretContext(made.id)));
  t.is(kept.length, 2);
  t.true(
    kept.every((secret) => shown.has(secret)),
    'the newest two were both shown',
  );
  t.is(row!['secretPreview'], `${kept[0]!.slice(0, 10)}…`);
});

test('C5-46 replays of one delivery at the same time are as many deliveries', async (t) => {
  const { sandbox } = await cloud.organization();
  await enrol(cloud, sandbox);
  const { client } = sandbox;
  await client.must('createWebhook', { body: { url: URL_, events: ['deposit_detected'] } });
  await deposited(client);
  const {
    content: [first],
  } = await eventually(
    'the delivery is there',
    () => client.must('listDeliveries'),
    ({ totalElements }) => totalElements === 1,
  );
  const made = await Promise.all(
    Array.from({ length: 20 }, () => client.must('replayDelivery', { params: { id: first!.id } })),
  );
  t.is(new Set(made.map(({ deliveryId }) => deliveryId)).size, 20);
  const all = (await client.must('listDeliveries', { query: { size: '50' } })).content;
  t.deepEqual(
    all.map(({ replay }) => replay).sort((a, b) => a - b),
    Array.from({ length: 21 }, (_, n) => n),
  );
});

test('§6 replay is possible for 7 days of the event: a replay of a replay does not begin them anew', async (t) => {
  const { sandbox } = await cloud.organization();
  await enrol(cloud, sandbox);
  const { client } = sandbox;
  await client.must('createWebhook', { body: { url: URL_, events: ['deposit_detected'] } });
  await deposited(client);
  const {
    content: [first],
  } = await eventually(
    'the delivery is there',
    () => client.must('listDeliveries'),
    ({ totalElements }) => totalElements === 1,
  );
  const { deliveryId: again } = await client.must('replayDelivery', { params: { id: first!.id } });
  await cloud.database.admin.begin(async (sql) => {
    await sql`set local session_replication_role = replica`; // no trigger: only a test may move the past
    await sql`update flock.publication set created_at = created_at - interval '8 days' where event_id = ${first!.eventId}`;
  });
  for (const id of [first!.id, again])
    t.like(await client.call('replayDelivery', { params: { id } }), { code: 'CONFLICT' });
});

test('§4.1 deliveries are listed by status, event and endpoint; one is replayed as a new delivery of the same event', async (t) => {
  const { sandbox } = await cloud.organization();
  await enrol(cloud, sandbox);
  const { client } = sandbox;
  const made = await client.must('createWebhook', {
    body: { url: URL_, events: ['deposit_detected', 'deposit_confirmed'] },
  });
  await deposited(client);
  const all = await eventually(
    'both deliveries are there',
    () => client.must('listDeliveries'),
    ({ totalElements }) => totalElements === 2,
  );
  const detected = all.content.find(({ event }) => event === 'deposit_detected')!;
  t.is((await client.must('listDeliveries', { query: { event: 'deposit_confirmed' } })).totalElements, 1);
  t.is((await client.must('listDeliveries', { query: { status: 'failed' } })).totalElements, 0);
  t.is((await client.must('listDeliveries', { query: { webhookId: made.id, status: 'pending' } })).totalElements, 2);
  t.is((await client.must('listDeadLetters')).totalElements, 0);
  await cloud.database
    .owner`update delivery set status = 'dead_lettered', attempts = 4, next_attempt_at = null where id = ${detected.id}`;
  t.deepEqual(
    (await client.must('listDeadLetters')).content.map(({ id }) => id),
    [detected.id],
  );
  const { deliveryId } = await client.must('replayDelivery', { params: { id: detected.id } });
  const replay = (await client.must('listDeliveries', { query: { event: 'deposit_detected' } })).content.find(
    ({ id }) => id === deliveryId,
  )!;
  t.like(replay, { eventId: detected.eventId, webhookId: made.id, replay: 1, status: 'pending' });
  const second = await client.must('replayDelivery', { params: { id: detected.id } });
  t.not(second.deliveryId, deliveryId, 'C5-46 a second replay is another delivery');
  const other = await cloud.organization();
  t.like(await other.sandbox.client.call('replayDelivery', { params: { id: detected.id } }), { code: 'NOT_FOUND' });
  const duplicate = await client.must('simulateDuplicateDelivery', { body: { eventId: detected.eventId } });
  t.is(duplicate.deliveryIds.length, 1);
  t.like(await client.call('simulateDuplicateDelivery', { body: { eventId: `evt_${'2'.repeat(26)}` } }), {
    code: 'NOT_FOUND',
  });
});

test('decisions 4: a time range is counted first, then replayed', async (t) => {
  const { sandbox } = await cloud.organization();
  await enrol(cloud, sandbox);
  const { client } = sandbox;
  await client.must('createWebhook', { body: { url: URL_, events: ['deposit_detected', 'deposit_confirmed'] } });
  await deposited(client);
  await eventually(
    'both deliveries are there',
    () => client.must('listDeliveries'),
    ({ totalElements }) => totalElements === 2,
  );
  const range = {
    from: new Date(Date.now() - 3_600_000).toISOString(),
    to: new Date(Date.now() + 3_600_000).toISOString(),
  };
  t.deepEqual(await client.must('replayDeliveries', { body: range }), { count: 2, replayed: 0, dryRun: true });
  t.is((await client.must('listDeliveries')).totalElements, 2, 'a dry run changes nothing');
  t.deepEqual(
    await client.must('replayDeliveries', { body: { ...range, event: 'deposit_confirmed', dryRun: false } }),
    { count: 1, replayed: 1, dryRun: false },
  );
  t.is((await client.must('listDeliveries')).totalElements, 3);
  t.deepEqual(await client.must('replayDeliveries', { body: { ...range, dryRun: false }, idempotencyKey: 'r' }), {
    count: 2,
    replayed: 2,
    dryRun: false,
  });
  t.deepEqual(await client.must('replayDeliveries', { body: { ...range, dryRun: false }, idempotencyKey: 'r' }), {
    count: 2,
    replayed: 2,
    dryRun: false,
  });
  t.is((await client.must('listDeliveries')).totalElements, 5, 'once per key');
  t.like(await client.call('replayDeliveries', { body: { from: range.to, to: range.from } }), {
    code: 'INVALID_INPUT',
  });
  t.deepEqual(
    await client.must('replayDeliveries', {
      body: { from: range.to, to: new Date(Date.now() + 7_200_000).toISOString() },
    }),
    { count: 0, replayed: 0, dryRun: true },
  );
});

test('decisions 4: a range leaves out what a deleted endpoint had and what is older than 7 days, in the count too', async (t) => {
  const { sandbox } = await cloud.organization();
  await enrol(cloud, sandbox);
  const { client } = sandbox;
  const [gone] = await Promise.all(
    [1, 2].map(() =>
      client.must('createWebhook', { body: { url: URL_, events: ['deposit_detected', 'deposit_confirmed'] } }),
    ),
  );
  await deposited(client);
  const all = await eventually(
    'all deliveries are there',
    () => client.must('listDeliveries'),
    ({ totalElements }) => totalElements === 4,
  );
  await client.must('deleteWebhook', { params: { webhookId: gone!.id } });
  const range = {
    from: new Date(Date.now() - 86_400_000 * 30).toISOString(),
    to: new Date(Date.now() + 3_600_000).toISOString(),
  };
  t.like(await client.must('replayDeliveries', { body: range }), { count: 2 });
  const { eventId } = all.content.find(({ event }) => event === 'deposit_detected')!;
  await cloud.database.admin.begin(async (sql) => {
    await sql`set local session_replication_role = replica`;
    await sql`update flock.publication set created_at = created_at - interval '7 days 1 hour' where event_id = ${eventId}`;
  });
  t.like(await client.must('replayDeliveries', { body: { ...range, dryRun: false } }), { count: 1, replayed: 1 });
  t.like(
    await client.call('replayDelivery', {
      params: { id: all.content.find(({ webhookId }) => webhookId === gone!.id)!.id },
    }),
    { code: 'NOT_FOUND' },
  );
});

test('§4.1 deliveries come in pages, newest first, each once', async (t) => {
  const { sandbox } = await cloud.organization();
  await enrol(cloud, sandbox);
  const { client } = sandbox;
  await client.must('createWebhook', { body: { url: URL_, events: ['deposit_detected'] } });
  for (let n = 0; n < 5; n += 1) await deposited(client, false);
  const whole = await eventually(
    'all deliveries are there',
    () => client.must('listDeliveries'),
    ({ totalElements }) => totalElements === 5,
  );
  const pages = await Promise.all(
    ['0', '1', '2', '3'].map((page) => client.must('listDeliveries', { query: { page, size: '2' } })),
  );
  t.deepEqual(
    pages.map(({ content, page, size, totalElements, totalPages }) => [
      content.length,
      page,
      size,
      totalElements,
      totalPages,
    ]),
    [
      [2, 0, 2, 5, 3],
      [2, 1, 2, 5, 3],
      [1, 2, 2, 5, 3],
      [0, 3, 2, 5, 3],
    ],
  );
  t.deepEqual(
    pages.flatMap(({ content }) => content.map(({ id }) => id)),
    whole.content.map(({ id }) => id),
  );
  t.deepEqual(
    whole.content.map(({ id }) => id),
    whole.content
      .map(({ id }) => id)
      .toSorted()
      .reverse(),
  );
  t.like(await client.call('listDeliveries', { query: { size: '201' } }), { code: 'INVALID_INPUT' });
});

test('§6 what the account publishes is what the catalogue describes', async (t) => {
  const { sandbox } = await cloud.organization();
  await enrol(cloud, sandbox);
  const { client } = sandbox;
  await client.must('createWebhook', { body: { url: URL_, events: [...EVENTS] } });
  await deposited(client);
  await deposited(client, false);
  await client.must('simulateReorg', { body: { chain: 'eth', depth: 1 } });
  const bodies = async () =>
    (await cloud.database.owner`select event, body from publication where account_id = ${sandbox.accountId}`).map(
      (row) => ({ event: row['event'] as EventName, body: JSON.parse(row['body'] as string) as unknown }),
    );
  const published = await eventually(
    'a reversal is published',
    async () => bodies(),
    (rows) => rows.some(({ event }) => event === 'deposit_reversed'),
  );
  t.true(published.length >= 4);
  for (const { event, body } of published) {
    const parsed = envelopeOf(event).safeParse(body);
    t.true(parsed.success, `${event}: ${JSON.stringify(parsed.error?.issues)}`);
    t.deepEqual(parsed.data, body, `${event} has a field that the catalogue does not name`);
  }
});

// ── Sandbox ──────────────────────────────────────────────────────────────────────────────────────────────────────

test('§4.7 a simulated deposit is detected, confirmed on request, taken back by a reorg; reset begins anew', async (t) => {
  const { sandbox } = await cloud.organization();
  await enrol(cloud, sandbox);
  const { client } = sandbox;
  const { txid, address } = await deposited(client, false);
  const status = async () =>
    (await client.must('listTransactions')).content.map((row) => [row.txid === txid, row.status, row.amount]);
  t.deepEqual(await eventually('it is detected', status, (rows) => rows.length === 1), [
    [true, 'detected', '1500000000000000000'],
  ]);
  t.true(
    (await client.must('listTransactions')).content[0]!.explorerUrl!.endsWith(`/sandbox/explorer/eth/${txid}`),
    'a page of our own',
  );
  t.deepEqual(await client.must('simulateConfirmation', { body: { chain: 'eth', txid, confirmations: 12 } }), {
    confirmations: 12,
  });
  await eventually('it is confirmed', status, (rows) => rows[0]?.[1] === 'confirmed');
  t.is((await client.must('getBalance', { params: { chain: 'eth', address } })).amountFormatted, '1.5');
  t.deepEqual(await client.must('simulateReorg', { body: { chain: 'eth', depth: 12 } }), { depth: 12 });
  await eventually('it is reversed', status, (rows) => rows[0]?.[1] === 'reversed');
  const outage = await client.must('simulateChainDown', { body: { chain: 'eth', seconds: 60 } });
  t.true(Date.parse(outage.until) > Date.now());
  t.like(await client.call('getBalance', { params: { chain: 'eth', address } }), { code: 'CHAIN_UNAVAILABLE' });
  await client.must('simulateChainDown', { body: { chain: 'eth', seconds: 0 } });
  t.deepEqual(await client.must('resetSandbox'), { reset: true });
  t.is((await client.must('listAddresses')).totalElements, 0);
  t.is((await client.must('listTransactions')).totalElements, 0);
  t.is(
    (await client.must('createAddress', { body: { chain: 'eth', userRef: 'customer-1' } })).derivationPath,
    "m/44'/60'/0'/0/0",
    'the index begins again',
  );
});

test('§4.7 what the sandbox refuses', async (t) => {
  const { sandbox } = await cloud.organization();
  await enrol(cloud, sandbox);
  const { client } = sandbox;
  const { address } = await client.must('createAddress', { body: { chain: 'eth', userRef: 'customer-1' } });
  const deposit = (body: Record<string, unknown>) =>
    client.call('simulateDeposit', { body: { chain: 'eth', address, amount: '1', ...body } as never });
  for (const amount of ['0', '-1', '1e3', '0.0', '', 'x', '1.0000000000000000001'])
    t.like(await deposit({ amount }), { code: 'INVALID_AMOUNT' }, amount);
  t.like(await deposit({ amount: 1 }), { code: 'INVALID_INPUT' });
  t.like(await deposit({ address: '0x52908400098527886E0F7030069857D2E4169EE7' }), { code: 'NOT_FOUND' });
  t.like(await deposit({ address: 'x' }), { code: 'INVALID_ADDRESS' });
  t.like(await deposit({ chain: 'ETH' }), { code: 'INVALID_CHAIN' });
  t.like(await deposit({ confirmAfterSeconds: -1 }), { code: 'INVALID_INPUT' });
  t.like(
    await client.call('simulateConfirmation', {
      body: { chain: 'eth', txid: `0x${'0'.repeat(64)}`, confirmations: 1 },
    }),
    { code: 'NOT_FOUND' },
  );
  t.like(await client.call('simulateReorg', { body: { chain: 'eth', depth: 0 } }), { code: 'INVALID_INPUT' });
  t.false(isRefusal(await deposit({})));
});

test('§4.7 while a sandbox is begun anew it takes nothing new; a reset that somebody else is at is asked for again', async (t) => {
  const { sandbox } = await cloud.organization();
  await enrol(cloud, sandbox);
  const { address } = await deposited(sandbox.client);
  const { accountId, apiKey } = sandbox;
  await cloud.database.admin`insert into flock.sandbox_reset (account_id) values (${accountId})`;
  const reset = () => raw(cloud.url, 'DELETE', '/v1/sandbox/reset', { headers: { 'x-api-key': apiKey } });
  await cloud.database.admin.begin(async (sql) => {
    await sql`select 1 from flock.sandbox_reset where account_id = ${accountId} for update`;
    const post = (path: string, body: unknown) =>
      raw(cloud.url, 'POST', path, { headers: jsonOf(apiKey), body: JSON.stringify(body) });
    for (const reply of [
      await reset(),
      await post('/v1/addresses', { chain: 'eth', userRef: 'u2' }),
      await post('/v1/sandbox/simulate-deposit', { chain: 'eth', address, amount: '1' }),
      await post('/v1/webhooks', { url: URL_, events: ['deposit_confirmed'] }),
    ]) {
      t.is(reply.status, 503);
      t.like(reply.json.error, { code: 'SERVICE_UNAVAILABLE', details: { reason: 'sandbox_reset' } });
      t.truthy(reply.headers.get('retry-after'));
    }
    t.is((await sandbox.client.must('listAddresses')).totalElements, 1, 'reading goes on');
  });
  t.deepEqual((await reset()).json.data, { reset: true });
  const again = await sandbox.client.must('createAddress', { body: { chain: 'eth', userRef: 'u2' } });
  t.is(again.derivationPath, "m/44'/60'/0'/0/0");
  t.is((await sandbox.client.must('listAddresses')).totalElements, 1);
});

test('ecosystem X21 no test without an edge, of an endpoint that is switched off, or whose secret does not open', async (t) => {
  const { sandbox } = await cloud.organization();
  const { client } = sandbox;
  const made = await client.must('createWebhook', { body: { url: URL_, events: ['deposit_confirmed'] } });
  const params = { webhookId: made.id };
  t.like(await client.call('testWebhook', { params }), { code: 'EDGE_OFFLINE' });
  await cloud.database.owner`update webhook set sealed_secrets = array['none'] where id = ${made.id}`;
  t.like(await client.call('testWebhook', { params }), {
    code: 'CONFLICT',
    details: { reason: 'secret_unreadable', next: 'make a new secret of this endpoint' },
  });
  await cloud.database.owner`update webhook set status = 'disabled' where id = ${made.id}`;
  t.like(await client.call('testWebhook', { params }), { code: 'CONFLICT', details: { reason: 'endpoint_disabled' } });
  await client.must('deleteWebhook', { params });
  t.like(await client.call('testWebhook', { params }), { code: 'NOT_FOUND' });
});
