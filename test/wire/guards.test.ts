import { randomBytes } from 'node:crypto';
import test from 'ava';
import { HDKey } from '@scure/bip32';
import { generateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { Webhook } from 'standardwebhooks';
import { createClient } from '../../protocol/client.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { BAND_TERMS } from '../../protocol/plans.ts';
import { codeOf, enrol, jsonOf, raw, startTestCloud } from '../support/gateway.ts';

const cloud = await startTestCloud({ ETH_RPC_URLS: 'http://127.0.0.1:9' });
test.after.always(() => cloud.stop());

const PHRASE = generateMnemonic(wordlist, 128);
const XPRV = HDKey.fromMasterSeed(randomBytes(32)).privateExtendedKey;
const HEX = randomBytes(32).toString('hex');

test('§2 "What bad input gets": a phrase or key anywhere is KEY_MATERIAL_REJECTED and names its rule only', async (t) => {
  const { sandbox } = await cloud.organization();
  const headers = jsonOf(sandbox.apiKey);
  const ask = (path: string, more: { headers?: Record<string, string>; body?: string } = {}) =>
    raw(cloud.url, more.body === undefined ? 'GET' : 'POST', path, {
      headers: { ...headers, ...more.headers },
      ...(more.body === undefined ? {} : { body: more.body }),
    });
  const cases: [what: string, answer: Awaited<ReturnType<typeof ask>>, rule: string][] = [
    ['a field', await ask('/v1/addresses', { body: JSON.stringify({ chain: 'eth', label: PHRASE }) }), 'mnemonic'],
    ['an unknown field', await ask('/v1/addresses', { body: JSON.stringify({ deep: [{ er: PHRASE }] }) }), 'mnemonic'],
    [
      'words in an array',
      await ask('/v1/addresses', { body: JSON.stringify({ words: PHRASE.split(' ') }) }),
      'mnemonic',
    ],
    ['broken JSON', await ask('/v1/addresses', { body: `{"chain":"eth","label":"${PHRASE}` }), 'mnemonic'],
    [
      'base64',
      await ask('/v1/addresses', { body: JSON.stringify({ label: Buffer.from(PHRASE).toString('base64') }) }),
      'mnemonic',
    ],
    [
      'an extended private key',
      await ask('/v1/addresses', { body: JSON.stringify({ label: XPRV }) }),
      'extended_private_key',
    ],
    ['64 hex digits', await ask('/v1/addresses', { body: JSON.stringify({ chain: 'eth', userRef: HEX }) }), 'hex_64'],
    ['a query', await ask(`/v1/addresses?userRef=${encodeURIComponent(PHRASE)}`), 'mnemonic'],
    ['a header', await ask('/v1/addresses', { headers: { 'x-note': PHRASE } }), 'mnemonic'],
    [
      'an idempotency key',
      await ask('/v1/addresses', { headers: { 'idempotency-key': HEX }, body: '{"chain":"eth"}' }),
      'hex_64',
    ],
    ['a path', await ask(`/v1/balances/eth/${encodeURIComponent(PHRASE)}`), 'mnemonic'],
    [
      'a sign-in',
      await raw(cloud.url, 'POST', '/v1/auth/login', {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'a@example.com', password: PHRASE }),
      }),
      'mnemonic',
    ],
  ];
  for (const [what, answer, rule] of cases) {
    t.deepEqual(
      [answer.status, answer.json.error.code, answer.json.error.details],
      [400, 'KEY_MATERIAL_REJECTED', { rule }],
      what,
    );
  }
  t.is(
    (
      await raw(cloud.url, 'POST', '/v1/addresses', {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ label: PHRASE }),
      })
    ).json.error.code,
    'UNAUTHORIZED',
    'who asks comes first',
  );
  t.like(
    await sandbox.client.call('simulateConfirmation', { body: { chain: 'eth', txid: `0x${HEX}`, confirmations: 1 } }),
    { code: 'NOT_FOUND' },
    'a txid may be 64 hex digits',
  );
});

test("decisions 3: a live account has its band's requests a minute, told in headers; the next one waits", async (t) => {
  const { live, sandbox } = await cloud.organization({ tier: 'free' });
  const list = ({ apiKey }: { apiKey: string }) =>
    raw(cloud.url, 'GET', '/v1/webhooks', { headers: { 'x-api-key': apiKey } });
  const answers = await Promise.all(Array.from({ length: 60 }, () => list(live)));
  t.true(answers.every(({ status }) => status === 200));
  t.deepEqual(
    answers.map(({ headers }) => Number(headers.get('ratelimit-remaining'))).toSorted((a, b) => a - b),
    Array.from({ length: 60 }, (_, at) => at),
  );
  const over = await list(live);
  t.deepEqual(
    [over.status, over.json.error.code, over.headers.get('ratelimit-limit'), over.headers.get('ratelimit-remaining')],
    [429, 'RATE_LIMIT_EXCEEDED', '60', '0'],
  );
  const retryAfter = Number(over.headers.get('retry-after'));
  t.true(Number.isInteger(retryAfter) && retryAfter >= 1 && retryAfter <= 60);
  t.is(over.json.error.details['retryAfterSeconds'], retryAfter);
  t.is((await list(sandbox)).headers.get('ratelimit-limit'), '6000', 'sandbox has one protective ceiling');
  t.is(
    (await list((await cloud.organization()).live)).headers.get('ratelimit-limit'),
    String(BAND_TERMS.launch.requestsPerMinute),
    'another account is not touched',
  );
  t.is(
    (await raw(cloud.url, 'GET', '/v1/webhooks', { headers: { 'x-api-key': 'flk_live_x' } })).status,
    401,
    'who asks comes first',
  );
});

test('§5.10 canaries: nothing secret that was sent, made or refused is in the log or in an error', async (t) => {
  const organization = await cloud.organization();
  const { sandbox, owner } = organization;
  const edge = await enrol(cloud, sandbox);
  const { client } = sandbox;
  const open = createClient({ baseUrl: cloud.url });
  const answers: string[] = [];
  const keep = async (asked: Promise<unknown>) => {
    answers.push(JSON.stringify(await asked));
  };
  const login = await raw(cloud.url, 'POST', '/v1/auth/login', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: owner.email, password: owner.password, totp: codeOf(owner) }),
  });
  const bearer = login.json.data['accessToken'] as string;
  const cookie = /flock_refresh=([^;]+)/.exec(login.headers.get('set-cookie')!)![1]!;
  const signedIn = createClient({ baseUrl: cloud.url, bearer, environment: 'sandbox' });
  const webhook = await client.must('createWebhook', {
    body: { url: 'https://example.com/canary-path', events: ['deposit_detected'] },
  });
  const key = await signedIn.must('mintApiKey', {
    body: { label: 'canary', environment: 'sandbox', totp: codeOf(owner, 1) },
  });
  await keep(client.call('createAddress', { body: { chain: 'eth', userRef: 'u', label: PHRASE } }));
  await keep(client.call('createAddress', { body: { chain: 'eth', userRef: 'u', label: XPRV } }));
  await keep(client.call('listAddresses', { query: { userRef: 'canary-user-ref' } }));
  await keep(open.call('login', { body: { email: owner.email, password: 'canary-wrong-password' } }));
  await keep(open.with({ apiKey: `${key.key}x` }).call('listAddresses'));
  await keep(open.with({ bearer: `${bearer}x` }).call('listMembers'));
  await keep(edge.client.call('resumeEdge', { body: { edgeVersion: '1.0.0', sessionId: edge.sessionId } }));
  await keep(
    raw(cloud.url, 'GET', '/v1/addresses/%E0%A4%A', { headers: { 'x-api-key': key.key } }).then(({ text }) => text),
  );
  await keep(
    raw(cloud.url, 'POST', '/v1/addresses', { headers: jsonOf(key.key), body: '{"canary-broken-json' }).then(
      ({ text }) => text,
    ),
  );
  const xpub = (await cloud.database.owner`select xpub from account_key where account_id = ${sandbox.accountId}`)[0]![
    'xpub'
  ] as string;
  const secrets = {
    phrase: PHRASE,
    'part of the phrase': PHRASE.split(' ').slice(0, 4).join(' '),
    xprv: XPRV,
    xpub,
    webhook: webhook.secret,
    'API key': key.key,
    'account key': sandbox.apiKey,
    bearer,
    password: owner.password,
    'wrong password': 'canary-wrong-password',
    totp: owner.totpSecret,
    'user reference': 'canary-user-ref',
    path: 'canary-path',
    json: 'canary-broken-json',
    cookie,
  };
  const log = cloud.lines.join('\n');
  t.true(
    log.includes('"operationId":"createAddress"') && log.includes('"code":"KEY_MATERIAL_REJECTED"'),
    'the log is there',
  );
  for (const [name, secret] of Object.entries(secrets)) {
    t.false(log.includes(secret), `${name} in the log`);
    if (name !== 'user reference')
      t.false(
        answers.some((answer) => answer.includes(secret)),
        `${name} in an answer`,
      );
  }
});

test("every request is one line with its id, and an error's line carries the id that the caller got", async (t) => {
  const { sandbox } = await cloud.organization();
  const answer = await raw(cloud.url, 'GET', '/v1/addresses/adr_22222222222222222222222222', {
    headers: { 'x-api-key': sandbox.apiKey },
  });
  const line = cloud.lines
    .map((text) => JSON.parse(text) as Record<string, unknown>)
    .find(({ requestId, msg }) => requestId === answer.json.meta.requestId && msg === 'request');
  t.like(line, {
    operationId: 'getAddress',
    method: 'GET',
    status: 404,
    code: 'NOT_FOUND',
    accountId: sandbox.accountId,
    level: 'info',
    node: 'test',
  });
});

test('the secret of an endpoint is one that an independent verifier takes', async (t) => {
  const { sandbox } = await cloud.organization();
  const { secret } = await sandbox.client.must('createWebhook', {
    body: { url: 'https://example.com', events: ['deposit_detected'] },
  });
  const verifier = new Webhook(secret);
  const at = new Date();
  t.notThrows(() =>
    verifier.verify('{}', {
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': verifier.sign('evt_1', at, '{}'),
    }),
  );
});

test('a node that stops answers SERVICE_UNAVAILABLE with Retry-After and says so to its probe', async (t) => {
  const stopping = await startTestCloud();
  const { sandbox } = await stopping.organization();
  const addresses = () => createClient({ baseUrl: stopping.url, apiKey: sandbox.apiKey }).ask('listAddresses');
  t.false(isRefusal((await addresses()).outcome));
  const stopped = stopping.stop();
  const answer = await addresses();
  t.true(isRefusal(answer.outcome));
  t.regex((answer.outcome as { code: string }).code, /^(?:SERVICE|UPSTREAM)_UNAVAILABLE$/);
  await stopped;
});
