import { createHmac, createPrivateKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import test from 'ava';
import { SignJWT, exportJWK } from 'jose';
import { mintApiKey } from '../../gateway/http/auth/api-keys.ts';
import { pathOf } from '../../protocol/place.ts';
import { ROUTE_LIST } from '../../protocol/routes.ts';
import { newId } from '../../protocol/node/ids.ts';
import { jsonOf, raw, startTestCloud } from '../support/gateway.ts';

const cloud = await startTestCloud({ PUBLIC_URL: 'http://cloud.test' });
const mine = await cloud.organization();
const [editor, viewer, admin] = [await cloud.person(), await cloud.person(), await cloud.person({ admin: true })];
await cloud.join(editor, mine, 'editor');
await cloud.join(viewer, mine, 'viewer');
const bearers = {
  owner: await cloud.signIn(mine.owner),
  editor: await cloud.signIn(editor),
  viewer: await cloud.signIn(viewer),
  admin: await cloud.signIn(admin),
};
test.after.always(() => cloud.stop());

const bearerOf = (token: string, more: Record<string, string> = {}) => ({ authorization: `Bearer ${token}`, ...more });
const PARAMS = {
  id: 'adr_24pgoiqjq2dgpoqhm7nuhjd5zi',
  webhookId: '0198c0de-0000-7000-8000-000000000001',
  slug: 'no-such-slug',
  projectId: 'mig_24pgoiqjq2dgpoqhm7nuhjd5zi',
  uploadId: 'upl_24pgoiqjq2dgpoqhm7nuhjd5zi',
  policyId: '0198c0de-0000-7000-8000-000000000002',
  reviewId: 'rvw_24pgoiqjq2dgpoqhm7nuhjd5zi',
  scanId: 'scn_24pgoiqjq2dgpoqhm7nuhjd5zi',
  batchId: 'imp_24pgoiqjq2dgpoqhm7nuhjd5zi',
  chain: 'eth',
  token: 'x',
  userId: 'usr_24pgoiqjq2dgpoqhm7nuhjd5zi',
  path: 'schedules',
  accountId: 'org_24pgoiqjq2dgpoqhm7nuhjd5zi_live',
  address: '0x52908400098527886E0F7030069857D2E4169EE7',
};
const CLOUD_ROUTES = ROUTE_LIST.filter((route) => route.where !== 'edge');
const ask = (route: (typeof ROUTE_LIST)[number], headers: Record<string, string>) =>
  raw(cloud.url, route.method, pathOf(route.path, PARAMS), {
    headers: { ...headers, ...(route.method === 'GET' ? {} : { 'content-type': 'application/json' }) },
    ...(route.method === 'GET' ? {} : { body: '{}' }),
  });

test('§5 every path that needs a credential answers 401 without one, whatever the body', async (t) => {
  for (const route of CLOUD_ROUTES.filter(({ credential }) => credential !== 'none')) {
    const answer = await ask(route, {});
    t.deepEqual([answer.status, answer.json.error.code], [401, 'UNAUTHORIZED'], route.operationId);
    t.truthy(answer.headers.get('www-authenticate'));
  }
});

test('§5.1 a key that is malformed, unknown, edge-local or of the other prefix is UNAUTHORIZED', async (t) => {
  const unknown = mintApiKey('sandbox').key;
  const wrong = [
    'x',
    '',
    unknown,
    `loc_test_${unknown.slice(9)}`,
    mine.sandbox.apiKey.replace('flk_test_', 'flk_live_'),
    mine.live.apiKey.replace('flk_live_', 'flk_test_'),
    mine.sandbox.apiKey.slice(0, -1),
    `${mine.sandbox.apiKey}a`,
    mine.sandbox.apiKey.toUpperCase(),
    `Bearer ${mine.sandbox.apiKey}`,
  ];
  for (const key of wrong) {
    const answer = await raw(cloud.url, 'GET', '/v1/addresses', { headers: { 'x-api-key': key } });
    t.deepEqual([answer.status, answer.json.error.code], [401, 'UNAUTHORIZED'], key.slice(0, 10));
    const expected = key.startsWith('loc_')
      ? 'local_key'
      : /^flk_(?:live|test)_[a-z2-7]{39}$/.test(key)
        ? 'unknown_key'
        : 'malformed_key';
    t.is(
      answer.json.error.details.reason,
      expected,
      `found F76: a key that is not taken is told why, and a local one at the cloud is named as one: ${key.slice(0, 10)}`,
    );
    t.truthy(answer.json.error.details.next);
  }
  t.is((await raw(cloud.url, 'GET', '/v1/addresses', { headers: { 'x-api-key': mine.sandbox.apiKey } })).status, 200);
});

test("found F76: no answer tells which keys exist: an unknown, a revoked and another environment's key are answered alike", async (t) => {
  const { id, live, sandbox } = await cloud.organization();
  const [row] = (await cloud.identity.apiKeys(id)).filter(({ environment }) => environment === 'sandbox');
  await cloud.identity.revokeApiKey(id, row!.id, Date.now());
  const answers = await Promise.all(
    [mintApiKey('sandbox').key, sandbox.apiKey, live.apiKey.replace('flk_live_', 'flk_test_')].map(
      async (key) => (await raw(cloud.url, 'GET', '/v1/addresses', { headers: { 'x-api-key': key } })).json.error,
    ),
  );
  for (const answer of answers) t.deepEqual(answer, answers[0]);
  t.is(answers[0]!.code, 'UNAUTHORIZED');
});

test('found F76: a credential that is missing, in the wrong place or of the wrong kind is told so, with the next step', async (t) => {
  const key = mine.sandbox.apiKey,
    cases: readonly [path: string, headers: Record<string, string>, reason: string][] = [
      ['/v1/addresses', {}, 'no_credential'],
      ['/v1/addresses', { authorization: `Bearer ${key}` }, 'key_as_bearer'],
      ['/v1/addresses', { authorization: 'Bearer x.y.z' }, 'invalid_token'],
      ['/v1/addresses', { authorization: 'Basic eDp5' }, 'invalid_token'],
      ['/v1/settings/api-keys', {}, 'no_credential'],
      ['/v1/settings/api-keys', { 'x-api-key': key }, 'key_not_taken_here'],
      ['/v1/addresses', { 'x-api-key': `"${key}"` }, 'malformed_key'],
    ];
  for (const [path, headers, reason] of cases) {
    const {
      status,
      json: { error },
    } = await raw(cloud.url, 'GET', path, { headers });
    t.deepEqual(
      [status, error.code, error.details.reason],
      [401, 'UNAUTHORIZED', reason],
      `${path} ${JSON.stringify(headers).slice(0, 30)}`,
    );
    t.truthy(error.details.next);
    t.false(JSON.stringify(error).includes(key));
  }
});

test('§5.1 a live key does not reach the sandbox; a test key makes sandbox data', async (t) => {
  for (const route of CLOUD_ROUTES.filter(({ sandboxOnly }) => sandboxOnly === true)) {
    const answer = await ask(route, { 'x-api-key': mine.live.apiKey });
    t.deepEqual([answer.status, answer.json.error.code], [403, 'SANDBOX_ONLY'], route.operationId);
    t.regex(answer.json.error.details.next, /flk_test_/);
  }
  const owner = await raw(cloud.url, 'DELETE', '/v1/sandbox/reset', { headers: bearerOf(bearers.owner) });
  t.is(owner.json.error.code, 'SANDBOX_ONLY', 'a bearer works in live unless it says otherwise');
});

test('§5.5 settings, organizations and the band take a bearer, not an API key', async (t) => {
  for (const route of CLOUD_ROUTES.filter(({ credential }) => credential === 'bearer' || credential === 'admin')) {
    const answer = await ask(route, { 'x-api-key': mine.sandbox.apiKey });
    t.deepEqual([answer.status, answer.json.error.code], [401, 'UNAUTHORIZED'], route.operationId);
  }
});

test('§5.4 roles: viewers read, editors write, owners do everything; administrators alone inspect actors', async (t) => {
  const rank = { viewer: 0, editor: 1, owner: 2 };
  for (const route of CLOUD_ROUTES) {
    if (route.role === null || route.operationId === 'resetSandbox') continue;
    for (const role of ['viewer', 'editor', 'owner'] as const) {
      const answer = await ask(route, bearerOf(bearers[role], { 'x-environment': 'sandbox' }));
      // Whoever is a member may leave; only an owner removes somebody else.
      const least = route.operationId === 'removeMember' ? 'owner' : route.role;
      const allowed = rank[role] >= rank[least];
      t.is(
        answer.json?.error?.code === 'FORBIDDEN',
        !allowed,
        `${role} ${route.operationId}: ${answer.status} ${answer.json?.error?.code ?? ''}`,
      );
      t.not(answer.status, 500, route.operationId);
    }
  }
  for (const role of ['viewer', 'editor', 'owner'] as const)
    t.is(
      (await raw(cloud.url, 'GET', '/v1/admin/actors', { headers: bearerOf(bearers[role]) })).json.error.code,
      'FORBIDDEN',
      role,
    );
  t.is((await raw(cloud.url, 'GET', '/v1/admin/actors', { headers: bearerOf(bearers.admin) })).status, 200);
  t.is(
    (await raw(cloud.url, 'GET', '/v1/addresses', { headers: bearerOf(bearers.admin) })).json.error.code,
    'FORBIDDEN',
    'no organization, no role',
  );
});

test('decisions 2: X-Environment chooses the account of a bearer', async (t) => {
  await raw(cloud.url, 'POST', '/v1/webhooks', {
    headers: jsonOf(mine.sandbox.apiKey),
    body: JSON.stringify({ url: 'http://localhost:9/x', events: ['deposit_confirmed'] }),
  });
  const list = async (headers: Record<string, string>) =>
    (await raw(cloud.url, 'GET', '/v1/webhooks', { headers: bearerOf(bearers.viewer, headers) })).json;
  t.is((await list({ 'x-environment': 'sandbox' })).data['totalElements'], 1);
  t.is((await list({ 'x-environment': 'live' })).data['totalElements'], 0);
  t.is((await list({})).data['totalElements'], 0);
  t.is((await list({ 'x-environment': 'test' })).error.code, 'INVALID_INPUT');
});

// ── Tokens that prove nothing ────────────────────────────────────────────────────────────────────────────────────

const claims = { sub: viewer.id, org_id: mine.id, org_role: 'owner' };
const now = () => Math.floor(Date.now() / 1_000);
const foreignKey = generateKeyPairSync('ed25519').privateKey;

/** A token with the node's own key: what only its claims can make invalid. */
async function forged(
  payload: Record<string, unknown>,
  { header = {}, key }: { header?: Record<string, unknown>; key?: Parameters<SignJWT['sign']>[0] } = {},
): Promise<string> {
  const [row] = await cloud.identity.signingKeys();
  return new SignJWT({ iss: 'http://cloud.test', aud: 'flock', iat: now(), exp: now() + 600, ...payload })
    .setProtectedHeader({ alg: 'EdDSA', kid: row!.kid, ...header })
    .sign(key ?? foreignKey);
}

const whoAmI = async (token: string) => raw(cloud.url, 'GET', '/v1/settings/members', { headers: bearerOf(token) });

test('reliability 3.5: no algorithm, a symmetric one, a foreign key, an unknown kid and broken texts prove nothing', async (t) => {
  const jwks = (await raw(cloud.url, 'GET', '/.well-known/jwks.json')).json as unknown as {
    keys: { kid: string; x: string; kty: string; d?: string }[];
  };
  t.is(jwks.keys.length, 1);
  t.is(jwks.keys[0]!.d, undefined, 'only the public half is served');
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const payload = encode({ iss: 'http://cloud.test', aud: 'flock', exp: now() + 600, ...claims });
  const none = `${encode({ alg: 'none', kid: jwks.keys[0]!.kid })}.${payload}.`;
  const hmacHead = encode({ alg: 'HS256', kid: jwks.keys[0]!.kid });
  const hmac = `${hmacHead}.${payload}.${createHmac('sha256', Buffer.from(jwks.keys[0]!.x, 'base64url')).update(`${hmacHead}.${payload}`).digest('base64url')}`;
  const embedded = await forged(claims, {
    header: { jwk: await exportJWK(createPrivateKey(foreignKey.export({ format: 'pem', type: 'pkcs8' }))) },
  });
  const wrong = {
    none,
    hmac,
    foreign: await forged(claims),
    kid: await forged(claims, { header: { kid: 'key_other' } }),
    embedded,
    cut: bearers.owner.slice(0, -3),
    text: 'not.a.token',
    long: 'a'.repeat(9_000),
  };
  for (const [name, token] of Object.entries(wrong)) {
    const answer = await whoAmI(token);
    t.deepEqual([answer.status, answer.json.error.code], [401, 'UNAUTHORIZED'], name);
  }
  const [head, body, signature] = bearers.viewer.split('.') as [string, string, string];
  const raised = encode({ ...(JSON.parse(Buffer.from(body, 'base64url').toString()) as object), org_role: 'owner' });
  t.is((await whoAmI(`${head}.${raised}.${signature}`)).status, 401, 'changed claims');
  t.is((await whoAmI(bearers.viewer)).status, 200);
});

test('reliability 3.5: expired tokens, another audience or issuer, and roles that are no roles', async (t) => {
  // A second key of the issuer, as a rotation would put it there: the node reads it when it meets its kid.
  const pair = generateKeyPairSync('ed25519');
  const kid = newId('key', Date.now());
  const { createSecretBox } = await import('../../persistence/secret-box.ts');
  await cloud.identity.insertSigningKey({
    kid,
    createdAtMs: 0,
    publicJwk: { ...pair.publicKey.export({ format: 'jwk' }), kid, alg: 'EdDSA', use: 'sig' },
    sealedPrivateJwk: createSecretBox([cloud.sealKey]).seal(
      JSON.stringify(pair.privateKey.export({ format: 'jwk' })),
      `signing_key|jwk|${kid}`,
    ),
  });
  const issue = (payload: Record<string, unknown>) =>
    forged({ ...claims, ...payload }, { header: { kid }, key: pair.privateKey });
  t.is((await whoAmI(await issue({}))).status, 200);
  for (const [name, payload] of Object.entries({
    expired: { exp: now() - 6 },
    'not yet': { nbf: now() + 60 },
    audience: { aud: 'other' },
    issuer: { iss: 'http://evil.test' },
    'no subject': { sub: undefined },
    'no end': { exp: undefined },
  }))
    t.is((await whoAmI(await issue(payload))).status, 401, name);
  t.is((await whoAmI(await issue({ exp: now() - 3 }))).status, 200, 'clocks may differ by five seconds');
  for (const role of [['owner'], { role: 'owner' }, 'OWNER', 'admin', '', null, undefined]) {
    const answer = await whoAmI(await issue({ org_role: role, realm_access: { roles: ['owner'] }, roles: ['owner'] }));
    t.deepEqual([answer.status, answer.json.error.code], [403, 'FORBIDDEN'], JSON.stringify(role));
  }
  for (const organization of ['org_x', '../org', 7, undefined])
    t.is((await whoAmI(await issue({ org_id: organization }))).json.error.code, 'FORBIDDEN', String(organization));
});

// ── Tenants ──────────────────────────────────────────────────────────────────────────────────────────────────────

const NOBODYS = '0198c0de-0000-7000-8000-00000000dead';
test('§5.6 what belongs to another tenant does not exist', async (t) => {
  const [first, other] = [await cloud.organization(), await cloud.organization()];
  const made = await raw(cloud.url, 'POST', '/v1/webhooks', {
    headers: jsonOf(first.live.apiKey),
    body: JSON.stringify({ url: 'https://example.com/x', events: ['deposit_confirmed'] }),
  });
  const { id } = made.json.data as { id: string };
  const body = JSON.stringify({ url: 'https://example.com/y', events: ['deposit_confirmed'] });
  for (const [method, path, sent] of [
    ['GET', `/v1/webhooks/${id}`],
    ['PUT', `/v1/webhooks/${id}`, body],
    ['DELETE', `/v1/webhooks/${id}`],
    ['GET', `/v1/webhooks/${id}/deliveries`],
    ['POST', `/v1/webhooks/${id}/secret`],
    ['DELETE', `/v1/webhooks/${id}/secret/previous`],
  ] as const) {
    for (const { apiKey } of [other.live, other.sandbox, first.sandbox]) {
      const answer = await raw(cloud.url, method, path, {
        headers: sent === undefined ? { 'x-api-key': apiKey } : jsonOf(apiKey),
        ...(sent === undefined ? {} : { body: sent }),
      });
      const nobodys = await raw(cloud.url, method, path.replace(id, NOBODYS), {
        headers: sent === undefined ? { 'x-api-key': apiKey } : jsonOf(apiKey),
        ...(sent === undefined ? {} : { body: sent }),
      });
      t.deepEqual([answer.status, answer.json.error.code], [404, 'NOT_FOUND'], `${method} ${path}`);
      t.deepEqual(
        { ...answer.json.error.details, id: NOBODYS },
        nobodys.json.error.details,
        "another's is answered as nobody's",
      );
    }
  }
  t.is(
    (await raw(cloud.url, 'GET', `/v1/webhooks/${id}`, { headers: { 'x-api-key': first.live.apiKey } })).json.data[
      'url'
    ],
    'https://example.com/x',
  );
});

test('decisions 2: a key is 192 random bits, stored as a hash, shown masked', (t) => {
  const { key, hash, maskedPrefix } = mintApiKey('live', randomBytes(24));
  t.regex(key, /^flk_live_[a-z2-7]{39}$/);
  t.regex(hash, /^[0-9a-f]{64}$/);
  t.is(maskedPrefix, `${key.slice(0, 17)}…`);
  t.not(mintApiKey('live').key, mintApiKey('live').key);
});
