import test from 'ava';
import { createClient } from '../../protocol/client.ts';
import { mintApiKey } from '../../gateway/http/auth/api-keys.ts';
import { newId } from '../../protocol/node/ids.ts';
import { validate } from '../../protocol/validation.ts';
import { pathOf } from '../../protocol/place.ts';
import { ROUTE_LIST } from '../../protocol/routes.ts';
import { ORG_ROLES, type OrgRole } from '../../protocol/slugs.ts';
import { rowOf, supportAnswer, type Row } from '../support/permissions.ts';
import { raw, startTestCloud } from '../support/gateway.ts';

const cloud = await startTestCloud();

// A window that no sweep fills.
const mine = await cloud.organization({ band: 'enterprise' });
const other = await cloud.organization({ band: 'enterprise' });
const [editor, viewer, nobodys, admin] = [
  await cloud.person(),
  await cloud.person(),
  await cloud.person(),
  await cloud.person({ admin: true }),
];
await cloud.join(editor, mine, 'editor');
await cloud.join(viewer, mine, 'viewer');
const tokens = new Map<string, Promise<string>>();
/** A code signs in once. */
function tokenOf(who: typeof admin): Promise<string> {
  const token = tokens.get(who.id) ?? cloud.signIn(who);
  tokens.set(who.id, token);
  return token;
}
/** The token of a session that staff began in the sandbox of `mine`. */
async function supportToken() {
  const as = async (who: typeof admin) => createClient({ baseUrl: cloud.url, bearer: await tokenOf(who) });
  const until = new Date(Date.now() + 3_600_000).toISOString();
  await (await as(mine.owner)).must('setSupportAccess', { body: { until } });
  const begun = await (
    await as(admin)
  ).must('startSupportSession', {
    body: { organizationId: mine.id, environment: 'sandbox', reason: 'x' },
  });
  return begun.accessToken;
}
/** A key of `mine` with terms of its own. */
async function keyWith(environment: 'live' | 'sandbox', terms: { role?: 'viewer'; expiresAtMs?: number }) {
  const { key: apiKey, hash, maskedPrefix } = mintApiKey(environment);
  await cloud.identity.insertApiKey({
    ...{ id: newId('key', Date.now()), accountId: mine[environment].accountId, organizationId: mine.id, environment },
    ...{ label: 'x', hash, maskedPrefix, createdAtMs: Date.now(), revokedAtMs: null, ...terms },
  });
  return apiKey;
}
const revoked = await cloud.organization();
for (const { id } of await cloud.identity.apiKeys(revoked.id))
  await cloud.identity.revokeApiKey(revoked.id, id, Date.now());

type Listed = (typeof ROUTE_LIST)[number];
interface AsCaller {
  readonly headers: Readonly<Record<string, string>>;
  /** The one code that who asks gets, or null where the rest of the way decides. */
  expects(row: Row, route: Listed): string | null;
}

const RANK: Readonly<Record<OrgRole, number>> = { viewer: 0, editor: 1, owner: 2 };
const isRole = (text: string): text is OrgRole => (ORG_ROLES as readonly string[]).includes(text);

/** A credential that proves nothing. */
const unknown = (headers: AsCaller['headers']): AsCaller => ({
  headers,
  expects: ({ bearer }) => (bearer === 'open' ? null : 'UNAUTHORIZED'),
});
const key = (apiKey: string, role: 'viewer' | 'editor', environment: 'live' | 'sandbox'): AsCaller => ({
  headers: { 'x-api-key': apiKey },
  expects({ bearer, key: least }, { sandboxOnly }) {
    if (bearer === 'open') return null;
    if (least === null) return 'UNAUTHORIZED';
    if (bearer === 'signed') return 'EDGE_SIGNATURE_INVALID';
    if (sandboxOnly === true && environment === 'live') return 'SANDBOX_ONLY';
    return RANK[role] >= RANK[least] ? null : 'FORBIDDEN';
  },
});
const person = async (who: typeof editor, role: OrgRole | null, isAdmin = false): Promise<AsCaller> => ({
  headers: { authorization: `Bearer ${await tokenOf(who)}`, 'x-environment': 'sandbox' },
  expects({ bearer }, { operationId }) {
    if (bearer === 'open' || bearer === 'any') return null;
    if (bearer === 'signed') return 'UNAUTHORIZED';
    if (bearer === 'admin') return isAdmin ? null : 'FORBIDDEN';
    // Whoever is a member may leave; only an owner removes somebody else.
    const least = operationId === 'removeMember' ? 'owner' : bearer;
    return isRole(least) && role !== null && RANK[role] >= RANK[least] ? null : 'FORBIDDEN';
  },
});

const CALLERS: Readonly<Record<string, AsCaller>> = {
  nobody: unknown({}),
  garbage: unknown({ authorization: 'Bearer x.y.z' }),
  'live key': key(mine.live.apiKey, 'editor', 'live'),
  'test key': key(mine.sandbox.apiKey, 'editor', 'sandbox'),
  'live key that reads': key(await keyWith('live', { role: 'viewer' }), 'viewer', 'live'),
  'test key that reads': key(await keyWith('sandbox', { role: 'viewer' }), 'viewer', 'sandbox'),
  'expired key': unknown({ 'x-api-key': await keyWith('live', { expiresAtMs: Date.now() - 1 }) }),
  'revoked key': unknown({ 'x-api-key': revoked.live.apiKey }),
  'local key': unknown({ 'x-api-key': `loc_test_${mine.sandbox.apiKey.slice(9)}` }),
  viewer: await person(viewer, 'viewer'),
  editor: await person(editor, 'editor'),
  owner: await person(mine.owner, 'owner'),
  'owner elsewhere': await person(other.owner, 'owner'),
  'no organization': await person(nobodys, null),
  administrator: await person(admin, null, true),
  'support session': {
    headers: { authorization: `Bearer ${await supportToken()}`, 'x-environment': 'sandbox' },
    expects: ({ bearer }, route) =>
      bearer === 'open' ? null : bearer === 'signed' ? 'UNAUTHORIZED' : supportAnswer(route),
  },
};

test.after.always(() => cloud.stop());

/** What says no to who asks, whatever is asked. */
const OF_WHO = new Set([
  'IMPERSONATION_FORBIDDEN',
  'IMPERSONATION_READ_ONLY',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'SANDBOX_ONLY',
  'EDGE_SIGNATURE_INVALID',
  'TOTP_REQUIRED',
]);
const IDS = { userId: 'usr_24pgoiqjq2dgpoqhm7nuhjd5zi', accountId: 'org_24pgoiqjq2dgpoqhm7nuhjd5zi_live' };
const paramsOf = (path: string): Record<string, string> =>
  Object.fromEntries(
    [...path.matchAll(/\{([a-zA-Z]+)\}/g)].map(([, name]) => [name!, (IDS as Record<string, string>)[name!] ?? 'x']),
  );

/** The code of an input that says nothing, or null where that is enough to go on. */
function inputCode(route: Listed, params: Record<string, string>): string | null {
  const body = route.method === 'GET' ? undefined : {};
  const input = validate(route, { params, query: {}, body });
  return input.ok ? null : input.code;
}

test('console A1, A3: each operation answers each caller with the one code of its row', async (t) => {
  const faults: string[] = [];
  let cells = 0;
  const served = ROUTE_LIST.filter(({ where }) => where !== 'edge');
  // What empties the sandbox comes last.
  for (const route of served.toSorted((left, right) =>
    left.operationId === 'resetSandbox' ? 1 : right.operationId === 'resetSandbox' ? -1 : 0,
  )) {
    const row = rowOf(route)!;
    const params = paramsOf(route.path);
    for (const [name, { headers, expects }] of Object.entries(CALLERS)) {
      const isWrite = route.method !== 'GET';
      const answer = await raw(cloud.url, route.method, pathOf(route.path, params), {
        headers: { ...headers, ...(isWrite ? { 'content-type': 'application/json' } : {}) },
        ...(isWrite ? { body: '{}' } : {}),
      });
      cells += 1;
      const code = answer.json?.error?.code ?? null;
      const expected = expects(row, route);
      // The right caller gets the word of its input, and where that is none, anything but a no to who asks.
      const isRight =
        expected !== null
          ? code === expected
          : inputCode(route, params) === null
            ? answer.status !== 500 && (!OF_WHO.has(code!) || row.bearer === 'open' || row.proof !== undefined)
            : code === inputCode(route, params);
      if (!isRight)
        faults.push(
          `${name}: ${route.operationId} answers ${answer.status} ${code}, not ${expected ?? inputCode(route, params) ?? 'its own'}`,
        );
    }
  }
  t.deepEqual(faults, []);
  t.log(`${served.length} operations × ${Object.keys(CALLERS).length} callers: ${cells} cells`);
});

test('console 2.1: every write of an administrator needs a second factor of the last five minutes, whatever its input', async (t) => {
  const weak = await cloud.person({ admin: true, totp: false });
  const headers = {
    authorization: `Bearer ${(await raw(cloud.url, 'POST', '/v1/auth/login', { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ email: weak.email, password: weak.password }) })).json.data.accessToken}`,
    'content-type': 'application/json',
  };
  const writes = ROUTE_LIST.filter(({ credential, method }) => credential === 'admin' && method !== 'GET');
  t.true(writes.length >= 5);
  for (const route of writes.filter(({ operationId }) => operationId !== 'recordCollection')) {
    const answer = await raw(cloud.url, route.method, pathOf(route.path, paramsOf(route.path)), {
      headers,
      body: '{}',
    });
    t.deepEqual(
      [answer.status, answer.json.error.code, answer.json.error.details['reason']],
      [403, 'TOTP_REQUIRED', 'not_enrolled'],
      route.operationId,
    );
  }
  t.is((await raw(cloud.url, 'GET', '/v1/admin/actors', { headers })).status, 200, 'reading needs none');
});
