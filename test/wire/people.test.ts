import test from 'ava';
import { createClient } from '../../protocol/client.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { codeOf, raw, startTestCloud, type Person } from '../support/gateway.ts';

const cloud = await startTestCloud();
test.after.always(() => cloud.stop());

const asBearer = (bearer: string) => createClient({ baseUrl: cloud.url, bearer });
const cookieOf = (headers: Headers) => /flock_refresh=([^;]*)/.exec(headers.getSetCookie().at(-1) ?? '')?.[1];
const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  raw(cloud.url, 'POST', path, {
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

/** A browser that signed in: its token, its cookie, and what it asks with them. */
async function browser(who: Person, { step = 0, agent = 'Browser' } = {}) {
  const body = {
    email: who.email,
    password: who.password,
    ...(who.totpSecret === '' ? {} : { totp: codeOf(who, step) }),
  };
  const answer = await post('/v1/auth/login', body, { 'user-agent': agent });
  if (answer.status !== 200) throw new Error(answer.text);
  const token = answer.json.data.accessToken as string;
  return { token, client: asBearer(token), cookie: cookieOf(answer.headers)! };
}
const refresh = (cookie: string, headers: Record<string, string> = {}) =>
  raw(cloud.url, 'POST', '/v1/auth/refresh', { headers: { cookie: `flock_refresh=${cookie}`, ...headers } });
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());

test('console A12: your logins are listed, the asking one marked; one is ended, or all others, with their cookies and tokens', async (t) => {
  const { owner } = await cloud.organization();
  const mine = await browser(owner, { agent: 'Browser\u00ad A' });
  const other = await browser(owner, { step: 1, agent: `x${'y'.repeat(300)}` });
  const listed = (await mine.client.must('listLogins')).content;
  t.is(listed.length, 2);
  t.deepEqual(listed.map(({ current }) => current).sort(), [false, true]);
  t.like(
    listed.find(({ current }) => current),
    { method: 'password_totp', ip: '127.0.0.1' },
  );
  t.is(listed.find(({ current }) => !current)!.client.length, 200);
  const id = listed.find(({ current }) => !current)!.id;
  const stranger = await browser((await cloud.organization()).owner);
  t.like(await stranger.client.call('endLogin', { params: { id } }), { code: 'NOT_FOUND' });
  t.deepEqual(await mine.client.must('endLogin', { params: { id } }), { ended: 1 });
  t.like(await mine.client.call('endLogin', { params: { id } }), { code: 'NOT_FOUND' });
  t.like(await other.client.call('listLogins'), { code: 'UNAUTHORIZED', details: { reason: 'invalid_token' } });
  t.is((await refresh(other.cookie)).status, 401);
  t.deepEqual(await stranger.client.must('endOtherLogins'), { ended: 0 });
  t.is((await mine.client.must('listLogins')).content.length, 1);
});

test('console A13: an ended login is out at once; the stored role wins over the claim (a stale member keeps nothing)', async (t) => {
  const organization = await cloud.organization();
  const member = await cloud.person();
  await cloud.join(member, organization, 'owner');
  const { client, cookie, token } = await browser(member);
  t.like(claimsOf(token), { org_role: 'owner', sub: member.id });
  t.regex(claimsOf(token).sid, /^lgn_[a-z2-7]{26}$/);
  await cloud.join(member, organization, 'viewer');
  t.like(await client.call('mintApiKey', { body: { label: 'x', environment: 'sandbox' } }), {
    code: 'FORBIDDEN',
    details: { needs: 'owner', has: 'viewer' },
  });
  t.false(isRefusal(await client.call('listMembers')));
  await raw(cloud.url, 'POST', '/v1/auth/logout', { headers: { cookie: `flock_refresh=${cookie}` } });
  t.like(await client.call('listMembers'), { code: 'UNAUTHORIZED' });
});

test('console A14: a call with the cookie from a foreign page is refused, and changes nothing', async (t) => {
  const { owner } = await cloud.organization();
  const { cookie } = await browser(owner);
  for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:1'])
    for (const path of ['refresh', 'logout']) {
      const answer = await raw(cloud.url, 'POST', `/v1/auth/${path}`, {
        headers: { cookie: `flock_refresh=${cookie}`, origin },
      });
      t.deepEqual([answer.status, answer.json.error.code], [403, 'FORBIDDEN'], origin);
      t.is(answer.json.error.details['reason'], 'origin');
    }
  const own = JSON.parse(Buffer.from((await browser(owner, { step: 1 })).token.split('.')[1]!, 'base64url').toString());
  t.is((await refresh(cookie, { origin: own.iss })).status, 200);
});

test('console A15, A16: a user without organization stays signed in and founds one; a refreshed token keeps auth_time and has no factor', async (t) => {
  const who = await cloud.person();
  const { client, cookie, token } = await browser(who);
  t.is(claimsOf(token).org_id, undefined);
  const made = await client.must('createOrganization', { body: { name: 'First' } });
  await cloud.database
    .owner`update flock.login set created_at = created_at - interval '5 minutes' where user_id = ${who.id}`;
  const next = await refresh(cookie);
  t.like(next.json.data, { organizationId: null, totpAt: null });
  t.is(claimsOf(next.json.data.accessToken).auth_time, claimsOf(token).auth_time - 300);
  const moved = await asBearer(next.json.data.accessToken).must('switchOrganization', {
    body: { organizationId: made.id },
  });
  t.like(moved, { organizationId: made.id, role: 'owner' });
  t.is(claimsOf(moved.accessToken).sid, claimsOf(token).sid, 'the login goes on');
  t.like((await refresh(cookieOf(next.headers)!)).json.data, { organizationId: made.id, role: 'owner' });
});
