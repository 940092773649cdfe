import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { exportJWK, SignJWT } from 'jose';
import { createBearers } from '../../../gateway/http/auth/bearer.ts';
import { createEdgeSignatures } from '../../../gateway/http/auth/edge-signature.ts';
import { hashPassword, isPassword } from '../../../gateway/http/auth/passwords.ts';
import { stepOf } from '../../../gateway/http/auth/totp.ts';
import { isFresh } from '../../../gateway/http/organization/second-factor.ts';
import { checkWebhookUrl } from '../../../gateway/http/webhook/webhook-url.ts';
import { createHandlers } from '../../../gateway/http/handlers.ts';
import { isRefusal, refuse, Refused } from '../../../protocol/errors.ts';
import { signRequest } from '../../../protocol/node/http-signature.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import { ROUTE_LIST } from '../../../protocol/routes.ts';
import { newSigner } from '../../support/gateway.ts';
import { vector } from '../../support/vectors.ts';

interface Totp {
  cases: {
    secretBase32: string;
    timeSeconds: number;
    code: string;
    previousStepCode: string;
    nextStepCode: string;
    twoStepsBackCode: string;
  }[];
}

test('RFC 6238: the code of now and of one step either side, no further', (t) => {
  const { cases } = vector<Totp>('auth/totp.json');
  t.true(cases.length > 5);
  for (const one of cases) {
    const step = Math.floor(one.timeSeconds / 30);
    const at = (code: string) => stepOf(one.secretBase32, code, one.timeSeconds * 1_000);
    t.is(at(one.code), step);
    t.is(at(one.previousStepCode), step - 1);
    t.is(at(one.nextStepCode), step + 1);
    t.is(at(one.twoStepsBackCode), null);
    t.is(at(''), null);
    t.is(at(`${one.code}0`), null);
  }
});

test('attack: a second factor is fresh for five minutes, and one that is to come is none', (t) => {
  const now = 1_764_000_000_000;
  for (const [provenAtMs, isIt] of [
    [null, false],
    [now, true],
    [now - 299_999, true],
    [now - 300_000, false],
    [now + 30_000, true], // another node's clock
    [now + 30_001, false],
    [now * 1_000, false], // an issuer that counts in milliseconds
    [Number.MAX_VALUE, false],
    [-now, false],
  ] as const)
    t.is(isFresh(provenAtMs, now), isIt, String(provenAtMs));
});

test("decisions 2: passwords are argon2id hashes; nobody's hash matches nothing", async (t) => {
  const hash = await hashPassword('a long password');
  t.regex(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  t.true(await isPassword(hash, 'a long password'));
  t.false(await isPassword(hash, 'a long passwore'));
  t.false(await isPassword(null, 'correct horse battery staple, but longer'));
});

/** An outside issuer's tokens are asked of nobody here. */
const NOBODYS = { of: () => Promise.reject(new Error('no login of ours')) };

test('decisions 2: an outside issuer is believed with its own audience and pinned algorithms, and makes no administrator', async (t) => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const jwk = { ...(await exportJWK(rsa.publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' };
  let asked = 0;
  const server = createServer((request, response) => {
    asked += 1;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(request.url === '/keys' ? { keys: [jwk] } : { issuer, jwks_uri: `${issuer}/keys` }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const bearers = createBearers({
    issuer: {
      issue: async () => '',
      issueSupport: async () => '',
      signText: () => ({ kid: '', signature: '' }),
      publicKeys: () => [],
      reload: async () => undefined,
    },
    nowMs: Date.now,
    standings: NOBODYS,
    support: { standing: async () => null },
    config: { publicUrl: 'http://cloud.test', oidc: { issuer, audience: 'flock-console' } },
  });
  const organization = `org_${'a'.repeat(26)}`;
  const token = (payload: Record<string, unknown> = {}, header: Record<string, unknown> = {}) =>
    new SignJWT({ org_id: organization, org_role: 'editor', platform_role: 'admin', ...payload })
      .setProtectedHeader({ alg: 'RS256', kid: 'k1', ...header })
      .setSubject('oidc|1')
      .setIssuer(issuer)
      .setAudience((payload['aud'] as string | undefined) ?? 'flock-console')
      .setExpirationTime('5m')
      .sign(rsa.privateKey);
  t.deepEqual(await bearers.authenticate(await token()), {
    userId: 'oidc|1',
    loginId: null,
    organizationId: organization,
    role: 'editor',
    platformAdmin: false,
    authAtMs: 0,
    totpAtMs: null,
  });
  t.is(await bearers.authenticate(await token({ aud: 'flock' })), null, 'another audience');
  t.is((await bearers.authenticate(await token({ org_role: ['owner'] })))?.role, null);
  t.is(await bearers.authenticate(await token({}, { alg: 'RS512' })), null, 'an algorithm that is not pinned');
  for (let flood = 0; flood < 20; flood += 1) await bearers.authenticate(await token({}, { kid: `unknown-${flood}` }));
  t.true(asked <= 4, `a flood of key ids made ${asked} requests`);
  server.close();
  server.closeAllConnections();
});

test('decisions 2: an outside issuer that does not answer proves nothing and disproves nothing: SERVICE_UNAVAILABLE, and it is asked anew', async (t) => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const jwk = { ...(await exportJWK(rsa.publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' };
  let ill: string | null = '/.well-known/openid-configuration';
  const server = createServer((request, response) => {
    if (request.url === ill) response.statusCode = 500;
    response.end(
      ill === request.url
        ? 'no'
        : JSON.stringify(request.url === '/keys' ? { keys: [jwk] } : { issuer, jwks_uri: `${issuer}/keys` }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const bearers = createBearers({
    issuer: {
      issue: async () => '',
      issueSupport: async () => '',
      signText: () => ({ kid: '', signature: '' }),
      publicKeys: () => [],
      reload: async () => undefined,
    },
    nowMs: Date.now,
    standings: NOBODYS,
    support: { standing: async () => null },
    config: { publicUrl: 'http://cloud.test', oidc: { issuer, audience: 'flock-console' } },
  });
  const token = await new SignJWT({})
    .setProtectedHeader({ alg: 'RS256', kid: 'k1' })
    .setSubject('oidc|1')
    .setIssuer(issuer)
    .setAudience('flock-console')
    .setExpirationTime('5m')
    .sign(rsa.privateKey);
  for (const path of ['/.well-known/openid-configuration', '/keys']) {
    ill = path;
    const error = await t.throwsAsync(bearers.authenticate(token), { instanceOf: Refused }, path);
    t.is(error.refusal.code, 'SERVICE_UNAVAILABLE', path);
  }
  ill = null;
  t.is((await bearers.authenticate(token))?.userId, 'oidc|1');
  server.close();
  server.closeAllConnections();
});

test('§5.3 the window of a signature is 300 seconds, to the second, before and after', async (t) => {
  const signer = newSigner(new Uint8Array(32).fill(7));
  const nowMs = 1_700_000_000_999;
  const signatures = createEdgeSignatures({
    edge: { claimNonce: async () => true },
    nowMs: () => nowMs,
    accounts: { ask: async () => refuse('NOT_FOUND') as never },
  });
  const code = async (secondsOff: number) => {
    const headers = signRequest(
      { method: 'POST', url: 'http://cloud.test/v1/edge/sync' },
      signer,
      'nonce-of-a-test',
      nowMs + secondsOff * 1_000,
    );
    const head = { method: 'POST', authority: 'cloud.test', path: '/v1/edge/sync', query: '?', headers };
    const answer = await signatures.verify(head, 'org_a_live' as AccountId, { required: true, pin: false });
    return isRefusal(answer) ? answer.code : 'taken';
  };
  t.deepEqual(
    [await code(-301), await code(-300), await code(0), await code(300), await code(301)],
    ['EDGE_SIGNATURE_SKEW', 'taken', 'taken', 'taken', 'EDGE_SIGNATURE_SKEW'],
  );
});

test('decisions 9: spellings of a public or link-local address are no way to clear text in live', (t) => {
  const refused = (url: string) => checkWebhookUrl(url, 'live') !== null;
  for (const url of [
    'http://134744072/',
    'http://0x08.8.8.8/',
    'http://[::ffff:8.8.8.8]/',
    'http://169.254.169.254/',
    'http://0.0.0.0/',
    'http://localhost.example.com/',
  ])
    t.true(refused(url), url);
  for (const url of [
    'http://2130706433/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://localhost:3000/',
    'http://①②⑦.0.0.1/',
    'http://svc.internal./x',
    'https://169.254.169.254/',
  ])
    t.false(refused(url), `${url}: the edge's policy decides`);
});

test('every route that the cloud serves has somebody who answers it, and nobody answers another', (t) => {
  // Handlers are made of their ports and ask nothing of them before they are called.
  const handlers = createHandlers({
    stores: { changes: {} },
    config: { publicUrl: 'http://cloud.test' },
    auth: {},
    checkout: {},
  } as never);
  t.deepEqual(
    Object.keys(handlers).toSorted(),
    ROUTE_LIST.filter(({ where }) => where !== 'edge')
      .map(({ operationId }) => operationId)
      .toSorted(),
  );
  for (const { operationId, idempotent, where } of ROUTE_LIST) {
    if (where === 'edge') continue;
    t.is(
      typeof handlers[operationId] !== 'function',
      idempotent === 'actor',
      `${operationId}: an account's stored answer needs a way back`,
    );
  }
});
