import test from 'ava';
import { createMemberStore } from '../../persistence/postgres/member-store.ts';
import { constraintOf } from '../../persistence/postgres/sql.ts';
import { createClient } from '../../protocol/client.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { verifyExport } from '../../protocol/node/audit-chain.ts';
import { codeOf, raw, startTestCloud, type Person } from '../support/gateway.ts';

const cloud = await startTestCloud();
test.after.always(() => cloud.stop());

const members = createMemberStore(cloud.database.sql);
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
  const turned = await refresh(cookie, { origin: own.iss });
  t.is(turned.status, 200);
  // Without a PUBLIC_URL, and under another name of this machine, the page is of whom it asks.
  t.is((await refresh(cookieOf(turned.headers)!, { origin: cloud.url })).status, 200);
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

// ── The audit log ────────────────────────────────────────────────────────────────────────────────────────────────

/** What an owner reads of the log, newest first: `action outcome reason`. */
async function logOf(client: ReturnType<typeof asBearer>, query: Record<string, string> = {}) {
  const { content } = await client.must('listAuditLog', { query });
  return content.map(({ action, outcome, reason }) =>
    [action, outcome, reason].filter((part) => part !== null).join(' '),
  );
}

test('console U1, U2: writes of people and of the control plane, sign-ins and refusals are in the log, with who, whence, old and new', async (t) => {
  const organization = await cloud.organization({ tier: 'ultimate' });
  const viewer = await cloud.person();
  await cloud.join(viewer, organization, 'viewer');
  const { client, token } = await browser(organization.owner, { agent: 'Console' });
  const key = await client.must('mintApiKey', { body: { label: 'app', environment: 'sandbox' } });
  await client.must('revokeApiKey', { params: { id: key.id } });
  const hook = await client.must('createWebhook', {
    body: { url: 'https://example.com/in?token=canary-of-a-query', events: ['deposit_detected'] },
  });
  await client.must('replaceWebhook', {
    params: { webhookId: hook.id },
    body: { url: 'https://example.com/other', events: ['deposit_detected'] },
  });
  await organization.live.client.must('deleteWebhook', { params: { webhookId: hook.id } });
  const low = await browser(viewer);
  t.like(await low.client.call('mintApiKey', { body: { label: 'x', environment: 'live' } }), { code: 'FORBIDDEN' });
  t.like(await low.client.call('listAuditLog'), { code: 'FORBIDDEN' });
  await post('/v1/auth/login', { email: organization.owner.email, password: 'canary-of-a-password' });
  const wrong = await post('/v1/auth/login', {
    email: organization.owner.email,
    password: organization.owner.password,
    totp: codeOf(organization.owner, 8),
  });
  t.is(wrong.json.error.code, 'TOTP_REQUIRED');
  const admin = await cloud.person({ admin: true });
  const asAdmin = asBearer(await cloud.signIn(admin));
  await asAdmin.must('setSuspension', {
    params: { accountId: organization.live.accountId },
    body: { suspended: true },
  });
  t.deepEqual(await logOf(client), [
    'listAuditLog done',
    'setSuspension done',
    'login failed invalid',
    'login failed password',
    'mintApiKey refused FORBIDDEN',
    'login done',
    'deleteWebhook done',
    'replaceWebhook done',
    'createWebhook done',
    'revokeApiKey done',
    'mintApiKey done',
    'login done',
  ]);
  const { content } = await client.must('listAuditLog', { query: { action: 'replaceWebhook' } });
  t.like(content[0], { target: hook.id, environment: 'live', via: 'console', ip: '127.0.0.1', client: 'node' });
  t.deepEqual(content[0]!.actor, { kind: 'user', id: organization.owner.id, name: organization.owner.email });
  t.deepEqual(content[0]!.changes?.['url'], ['https://example.com/in', 'https://example.com/other']);
  const suspended = (await client.must('listAuditLog', { query: { actor: admin.id } })).content;
  t.like(suspended[0], { actor: { kind: 'admin', name: admin.email }, changes: { suspended: [false, true] } });
  const byKey = (await client.must('listAuditLog', { query: { action: 'deleteWebhook' } })).content[0]!;
  t.like(byKey, { via: 'api_key', actor: { kind: 'key', name: 'test' } });
  const texts = await cloud.database
    .owner`select text from flock.audit_entry where organization_id = ${organization.id}`;
  const whole = JSON.stringify(texts);
  for (const secret of [
    'canary',
    key.key,
    hook.secret,
    token,
    organization.owner.password,
    organization.owner.totpSecret,
  ])
    t.false(whole.includes(secret), 'a secret is in the log');
});

test('console U4, U6: the log is verified against a checkpoint from earlier, exported with a fresh factor, and checked offline', async (t) => {
  const organization = await cloud.organization({ tier: 'ultimate' });
  const { client, token, cookie } = await browser(organization.owner);
  await client.must('mintApiKey', { body: { label: '=HYPERLINK("x")', environment: 'sandbox' } });
  const kept = await client.must('getAuditCheckpoint');
  t.deepEqual((await client.must('verifyAuditLog', { body: { checkpoint: kept } })).problems, []);
  t.like(await client.call('verifyAuditLog', { body: { checkpoint: { ...kept, seq: kept.seq + 1 } } }), {
    code: 'INVALID_INPUT',
    details: { field: 'body.checkpoint' },
  });
  const get = (format: string, bearer = token) =>
    raw(cloud.url, 'GET', `/v1/settings/audit-log/export?format=${format}`, {
      headers: { authorization: `Bearer ${bearer}` },
    });
  const stale = (await refresh(cookie)).json.data.accessToken as string;
  t.is((await get('jsonl', stale)).json.error.code, 'TOTP_REQUIRED');
  const { text } = await get('jsonl');
  const { keys } = await client.must('getJwks');
  const lines = async function* (of: string) {
    yield* of.trimEnd().split('\n');
  };
  t.like(await verifyExport(lines(text), { keys, earlier: [kept] }), { ok: true, signed: true });
  t.like(await verifyExport(lines(text.replace('mintApiKey', 'mintNothing')), { keys }), { ok: false });
  const csv = (await get('csv')).text;
  t.regex(csv, /^seq,at,actor\.kind/);
  t.true(csv.includes('HYPERLINK') && !/(^|,)=/m.test(csv));

  await cloud.database.owner.unsafe(`alter table flock.audit_entry disable trigger user`);
  await cloud.database.owner`
    update flock.audit_entry set text = replace(text, 'mintApiKey', 'nothing') where organization_id = ${organization.id} and action = 'mintApiKey'`;
  await cloud.database.owner.unsafe(`alter table flock.audit_entry enable trigger user`);
  t.like(await client.must('verifyAuditLog', { body: {} }), { ok: false, problems: [{ seq: 2, problem: 'changed' }] });

  const small = await cloud.organization({ tier: 'premium' });
  t.like(
    await raw(cloud.url, 'GET', '/v1/settings/audit-log/export', {
      headers: { authorization: `Bearer ${(await browser(small.owner)).token}` },
    }).then(({ json }) => json.error),
    { code: 'TIER_FEATURE_LOCKED', details: { feature: 'auditExport', tier: 'premium', requiredTier: 'ultimate' } },
  );
});

// ── Members ──────────────────────────────────────────────────────────────────────────────────────────────────────

test('console A27 (faults 4): the last owner cannot step down, leave or be removed; of two who demote each other at once one stays', async (t) => {
  const organization = await cloud.organization();
  const { owner } = organization;
  const first = (await browser(owner)).client;
  const last = { code: 'CONFLICT', details: { reason: 'last_owner' } };
  t.like(await first.call('changeMember', { params: { userId: owner.id }, body: { role: 'viewer' } }), last);
  t.like(await first.call('removeMember', { params: { userId: owner.id } }), last);
  const second = await cloud.person();
  await cloud.join(second, organization, 'owner');
  const other = (await browser(second)).client;
  const both = await Promise.all([
    first.call('changeMember', { params: { userId: second.id }, body: { role: 'viewer' } }),
    other.call('changeMember', { params: { userId: owner.id }, body: { role: 'viewer' } }),
  ]);
  const [{ count }] = await cloud.database.owner<[{ count: number }]>`
    select count(*) as count from flock.membership where organization_id = ${organization.id} and role = 'owner'`;
  t.is(count, 1);
  t.is(both.filter((answer) => !isRefusal(answer)).length, 1);
  // The owner of the schema and the application, too.
  for (const sql of [cloud.database.owner, cloud.database.sql]) {
    const attack = sql`delete from flock.membership where organization_id = ${organization.id}`;
    t.is(
      constraintOf(
        await attack.then(
          () => null,
          (error: unknown) => error,
        ),
      ),
      'organization_has_owner',
    );
  }
});

test('console A13, A29 (faults 4, 5, 6): a demoted or removed member is out at once; anyone can leave; minted keys are counted', async (t) => {
  const organization = await cloud.organization();
  const { client } = await browser(organization.owner);
  const member = await cloud.person();
  await cloud.join(member, organization, 'owner');
  const theirs = await browser(member);
  const key = await theirs.client.must('mintApiKey', { body: { label: 'theirs', environment: 'sandbox' } });
  const params = { userId: member.id };
  t.deepEqual(await client.must('changeMember', { params, body: { role: 'editor' } }), { ...params, role: 'editor' });
  t.like(await theirs.client.call('mintApiKey', { body: { label: 'x', environment: 'sandbox' } }), {
    code: 'FORBIDDEN',
  });
  t.like(await theirs.client.call('removeMember', { params: { userId: organization.owner.id } }), {
    code: 'FORBIDDEN',
  });
  t.like(
    await client.call('changeMember', {
      params: { userId: `usr_${'a'.repeat(26)}` },
      body: { role: 'viewer' },
    }),
    { code: 'NOT_FOUND' },
  );
  const stale = asBearer(
    (await refresh((await browser(organization.owner, { step: 1 })).cookie)).json.data.accessToken,
  );
  t.like(await stale.call('changeMember', { params, body: { role: 'owner' } }), { code: 'TOTP_REQUIRED' });
  t.deepEqual(await theirs.client.must('removeMember', { params }), { ...params, removed: true, apiKeysMinted: 1 });
  t.like(await theirs.client.call('listMembers'), { code: 'FORBIDDEN' });
  t.like(await client.call('removeMember', { params }), { code: 'NOT_FOUND' });
  t.false(isRefusal(await createClient({ baseUrl: cloud.url, apiKey: key.key }).call('listAddresses')), 'keys stay');
  const log = await client.must('listAuditLog', { query: { target: member.id } });
  t.deepEqual(
    log.content.map(({ action, changes }) => [action, changes?.['role']]),
    [
      ['removeMember', ['editor', null]],
      ['changeMember', undefined],
      ['changeMember', ['owner', 'editor']],
    ],
  );
});

test('console A28: an organization is handed over to a member with a second factor, with a code made for it, in one step', async (t) => {
  const organization = await cloud.organization();
  const { client } = await browser(organization.owner);
  const [next, without] = [await cloud.person(), await cloud.person({ totp: false })];
  for (const who of [next, without]) await cloud.join(who, organization, 'viewer');
  const params = { id: organization.id };
  t.like(await client.call('transferOrganization', { params, body: { userId: next.id, then: 'leave' } }), {
    code: 'TOTP_REQUIRED',
    details: { reason: 'missing', accepts: ['totp'] },
  });
  const foreign = { id: (await cloud.organization()).id };
  t.like(await client.call('transferOrganization', { params: foreign, body: { userId: next.id, then: 'leave' } }), {
    code: 'NOT_FOUND',
  });
  const body = { userId: without.id, then: 'leave' as const, totp: codeOf(organization.owner, 1) };
  t.like(await client.call('transferOrganization', { params, body }), {
    code: 'CONFLICT',
    details: { reason: 'not_ready' },
  });
  t.like(await client.call('transferOrganization', { params, body: { ...body, userId: next.id } }), {
    code: 'TOTP_REQUIRED',
    details: { reason: 'used' },
  });
  const [{ role }] = await cloud.database.owner<[{ role: string }]>`
    select role from flock.membership where organization_id = ${organization.id} and user_id = ${organization.owner.id}`;
  t.is(role, 'owner', 'nothing happened');
  t.is(await members.transfer(organization.id, organization.owner.id, next.id, 'editor'), 'done');
  t.deepEqual(
    (await members.organizationsOf(next.id)).map((one) => [one.id, one.role]),
    [[organization.id, 'owner']],
  );
  t.is(await members.roleOf(organization.id, organization.owner.id), 'editor');
  t.is(
    await members.transfer(organization.id, organization.owner.id, next.id, 'leave'),
    'unknown',
    'no owner any more',
  );
  t.is(await members.transfer(organization.id, next.id, organization.owner.id, 'leave'), 'done');
  t.is(await members.roleOf(organization.id, next.id), null);
});

test('console A27, U2: an owner gives the organization another name, which the log keeps; nobody else does', async (t) => {
  const organization = await cloud.organization();
  const { client } = await browser(organization.owner);
  const params = { id: organization.id };
  const editor = await cloud.person();
  await cloud.join(editor, organization, 'editor');
  const theirs = (await browser(editor)).client;
  t.like(await theirs.call('renameOrganization', { params, body: { name: 'Theirs' } }), {
    code: 'FORBIDDEN',
    details: { needs: 'owner', has: 'editor' },
  });
  const foreign = { id: (await cloud.organization()).id };
  t.like(await client.call('renameOrganization', { params: foreign, body: { name: 'x' } }), { code: 'NOT_FOUND' });
  t.like(await client.call('renameOrganization', { params, body: { name: '' } }), { code: 'INVALID_INPUT' });
  const name = 'A new name <b>\u202e';
  t.deepEqual(await client.must('renameOrganization', { params, body: { name } }), { id: organization.id, name });
  t.is((await client.must('listOrganizations')).content.find(({ id }) => id === organization.id)?.name, name);
  const [entry] = (await client.must('listAuditLog', { query: { action: 'renameOrganization' } })).content.filter(
    ({ outcome }) => outcome === 'done',
  );
  t.is(entry?.changes?.['name']?.[1], name);
});

test('console C16: members are found by a part of their email', async (t) => {
  const organization = await cloud.organization();
  const { client } = await browser(organization.owner);
  const other = await cloud.person();
  await cloud.join(other, organization, 'viewer');
  const found = async (email: string) =>
    (await client.must('listMembers', { query: { email } })).content.map(({ userId }) => userId);
  t.deepEqual(await found(other.email.slice(4, 20).toUpperCase()), [other.id]);
  t.is((await found('@example.com')).length, 2);
  t.deepEqual(await found('nobody@'), []);
});

test('console A46: a person whom an administrator suspends is answered as with a wrong password, and all that they were signed in by ends; taken back, they sign in again', async (t) => {
  const organization = await cloud.organization();
  const who = await cloud.person();
  await cloud.join(who, organization, 'editor');
  const before = await browser(who);
  const admin = await cloud.person({ admin: true });
  const staff = asBearer(await cloud.signIn(admin));
  const set = (userId: string, suspended: boolean) =>
    staff.call('setUserSuspension', { params: { userId }, body: { suspended } });
  t.like(await set(admin.id, true), { code: 'CONFLICT', details: { reason: 'oneself' } });
  t.like(await set(`usr_${'a'.repeat(26)}`, true), { code: 'NOT_FOUND' });
  t.like(
    await (
      await browser(organization.owner)
    ).client.call('setUserSuspension', { params: { userId: who.id }, body: { suspended: true } }),
    {
      code: 'FORBIDDEN',
    },
  );
  t.deepEqual(await set(who.id, true), { userId: who.id, suspended: true });
  t.like(await before.client.call('getMe'), { code: 'UNAUTHORIZED' }, 'at once on this node');
  t.is((await refresh(before.cookie)).status, 401);
  const typed = { email: who.email, password: who.password };
  const errorOf = async (body: object) => {
    const { status, json } = await post('/v1/auth/login', body);
    return { status, code: json.error.code, message: json.error.message, details: json.error.details };
  };
  const wrong = await errorOf({ ...typed, password: 'another' });
  t.is(wrong.status, 401);
  t.deepEqual(await errorOf(typed), wrong, 'no word of a factor');
  t.deepEqual(await errorOf({ ...typed, totp: codeOf(who, 1) }), wrong);
  const owner = (await browser(organization.owner, { step: 1 })).client;
  const log = (await owner.must('listAuditLog', { query: { target: who.id } })).content;
  t.like(log[0], { action: 'setUserSuspension', actor: { kind: 'admin', name: admin.email } });
  t.deepEqual(await set(who.id, false), { userId: who.id, suspended: false });
  t.is((await refresh(before.cookie)).status, 401, 'what ended stays so');
  t.is((await post('/v1/auth/login', { ...typed, totp: codeOf(who, 1) })).status, 200);
});
