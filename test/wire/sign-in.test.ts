import test from 'ava';
import { createClient } from '../../protocol/client.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { EDGE_VERSION } from '../../protocol/frames.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import { patiently } from '../support/company.ts';
import { codeOf, enrol, newEvmKey, raw, startTestCloud, testEdge, type Person } from '../support/gateway.ts';

const cloud = await startTestCloud();
test.after.always(() => cloud.stop());
const open = createClient({ baseUrl: cloud.url });

const login = (who: Person, more: Record<string, string> = {}) =>
  raw(cloud.url, 'POST', '/v1/auth/login', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: who.email, password: who.password, ...more }),
  });
const asBearer = (bearer: string, environment: 'live' | 'sandbox' = 'live') =>
  createClient({ baseUrl: cloud.url, bearer, environment });
const cookieOf = (headers: Headers) => /flock_refresh=([^;]*)/.exec(headers.get('set-cookie') ?? '')?.[1];
const refresh = (cookie: string) =>
  raw(cloud.url, 'POST', '/v1/auth/refresh', { headers: { cookie: `a=b; flock_refresh=${cookie}` } });

test('decisions 2: email, password and a code give a token of 15 minutes and a refresh cookie', async (t) => {
  const { owner, id } = await cloud.organization();
  const answer = await login(owner, { totp: codeOf(owner) });
  t.is(answer.status, 200);
  t.like(answer.json.data, { tokenType: 'Bearer', expiresInSeconds: 900, organizationId: id, role: 'owner' });
  t.truthy(answer.json.data['totpAt']);
  const [device, refreshing] = answer.headers.getSetCookie();
  t.regex(device!, /^flock_device=[^;]+; Path=\/v1\/auth; HttpOnly; SameSite=Strict; Max-Age=31536000$/);
  t.regex(
    refreshing!,
    /^flock_refresh=[A-Za-z0-9_-]{68}; Path=\/v1\/auth; HttpOnly; SameSite=Strict; Max-Age=1209600$/,
  );
  const upper = await login({ ...owner, email: owner.email.toUpperCase() }, { totp: codeOf(owner, 1) });
  t.is(upper.status, 200, 'an email is the same in any case');
});

test('a wrong password and an unknown email are the same UNAUTHORIZED', async (t) => {
  const { owner } = await cloud.organization();
  const wrong = await login({ ...owner, password: 'wrong' });
  const unknown = await login({ ...owner, email: 'nobody@example.com' });
  for (const answer of [wrong, unknown])
    t.deepEqual(
      [answer.status, answer.json.error],
      [401, { code: 'UNAUTHORIZED', message: 'missing, invalid or revoked key', details: {} }],
    );
});

test('decisions 2: a refresh token that comes again ends its session, whoever holds the newest one; two at once do not', async (t) => {
  const { owner } = await cloud.organization();
  const [mine, other] = [
    cookieOf((await login(owner, { totp: codeOf(owner) })).headers)!,
    cookieOf((await login(owner, { totp: codeOf(owner, 1) })).headers)!,
  ];
  const twice = await Promise.all([refresh(mine), refresh(mine)]);
  t.deepEqual(twice.map(({ status }) => status).sort(), [200, 401], 'a token is taken once');
  const [good, late] = twice[0]!.status === 200 ? [twice[0]!, twice[1]!] : [twice[1]!, twice[0]!];
  t.is(late.headers.get('set-cookie'), null, 'the browser keeps the newer cookie');
  const next = cookieOf(good.headers)!;
  const third = cookieOf((await refresh(next)).headers)!;
  await cloud.database
    .owner`update refresh_token set turned_at = turned_at - interval '11 seconds' where user_id = ${owner.id}`;
  const again = await refresh(next);
  t.deepEqual([again.status, again.json.error.code], [401, 'UNAUTHORIZED']);
  t.regex(again.headers.get('set-cookie')!, /Max-Age=0/);
  t.is((await refresh(third)).status, 401, 'the newest of the family is over too');
  t.true(
    cloud.lines.some((line) => line.includes(owner.id) && line.includes('used again')),
    'the operator is told',
  );
  const turned = await refresh(other);
  t.is(turned.status, 200, 'another session of the user goes on');
  // One that is older than the last is no double submit, however soon it comes.
  const last = cookieOf((await refresh(cookieOf(turned.headers)!)).headers)!;
  t.is((await refresh(other)).status, 401);
  t.is((await refresh(last)).status, 401);
});

test('§5.5 an enrolled second factor is asked for: missing, wrong, used and locked are TOTP_REQUIRED', async (t) => {
  const { owner } = await cloud.organization();
  const reason = async (more: Record<string, string>) => {
    const { status, json } = await login(owner, more);
    return [status, json.error?.code, json.error?.details['reason']];
  };
  t.deepEqual(await reason({}), [403, 'TOTP_REQUIRED', 'missing']);
  const code = codeOf(owner);
  t.deepEqual(await reason({ totp: code }), [200, undefined, undefined]);
  t.deepEqual(await reason({ totp: code }), [403, 'TOTP_REQUIRED', 'used'], 'a code is single-use');
  t.deepEqual(await reason({ totp: codeOf(owner, 5) }), [403, 'TOTP_REQUIRED', 'invalid'], 'more than a step away');
  for (let failure = 2; failure <= 4; failure += 1)
    t.deepEqual(await reason({ totp: codeOf(owner, 5 + failure) }), [403, 'TOTP_REQUIRED', 'invalid']);
  t.deepEqual(await reason({ totp: codeOf(owner, 20) }), [403, 'TOTP_REQUIRED', 'locked'], 'the fifth failure locks');
  t.deepEqual(await reason({ totp: codeOf(owner, 1) }), [403, 'TOTP_REQUIRED', 'locked'], 'a right code too');
  for (const totp of ['12345', '1234567', 'abcdef', ''])
    t.is((await login(owner, { totp })).json.error.code, 'INVALID_INPUT', totp);
});

test('decisions 2: what is tried during a lock does not lengthen it; after it a wrong code is invalid, and has its five tries', async (t) => {
  const { owner } = await cloud.organization();
  const client = asBearer(await cloud.signIn(owner));
  const reason = async (totp: string) => {
    const answer = await client.call('stepUp', { body: { totp } });
    return isRefusal(answer) ? answer.details['reason'] : 'let in';
  };
  for (let failure = 1; failure <= 4; failure += 1) t.is(await reason(codeOf(owner, 5 + failure)), 'invalid');
  t.is(await reason(codeOf(owner, 20)), 'locked');
  const until = () => cloud.identity.totpLockedUntil(owner.id);
  const locked = await until();
  for (let failure = 1; failure <= 5; failure += 1) t.is(await reason(codeOf(owner, 30 + failure)), 'locked');
  t.is(await until(), locked);
  await cloud.database
    .owner`update flock.console_user set totp_locked_until = now() - interval '1 second' where id = ${owner.id}`;
  for (let failure = 1; failure <= 4; failure += 1) t.is(await reason(codeOf(owner, 40 + failure)), 'invalid');
  t.is(await reason(codeOf(owner, 1)), 'let in');
});

test('§5.4 a step-up gives the role that the user has now, not the one of the token', async (t) => {
  const organization = await cloud.organization();
  const [demoted, removed] = [await cloud.person(), await cloud.person()];
  for (const who of [demoted, removed]) await cloud.join(who, organization, 'owner');
  const [first, second] = [await cloud.signIn(demoted), await cloud.signIn(removed)];
  await cloud.join(demoted, organization, 'viewer');
  await cloud.database.owner`delete from flock.membership where user_id = ${removed.id}`;
  t.like(await asBearer(first).must('stepUp', { body: { totp: codeOf(demoted, 1) } }), {
    organizationId: organization.id,
    role: 'viewer',
  });
  t.like(await asBearer(second).must('stepUp', { body: { totp: codeOf(removed, 1) } }), {
    organizationId: null,
    role: null,
  });
});

test('I22 of twenty that send one code at the same time one is let in', async (t) => {
  const { owner } = await cloud.organization();
  const bearer = await cloud.signIn(owner);
  const code = codeOf(owner, 1);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => asBearer(bearer).call('stepUp', { body: { totp: code } })),
  );
  t.is(answers.filter((answer) => !isRefusal(answer)).length, 1);
  t.true(
    answers
      .filter(isRefusal)
      .every(({ code: refused, details }) => refused === 'TOTP_REQUIRED' && details['reason'] === 'used'),
  );
});

test('the refresh cookie turns with each use; an old one, none and one after logout are refused', async (t) => {
  const { owner, id } = await cloud.organization();
  const first = cookieOf((await login(owner, { totp: codeOf(owner) })).headers)!;
  const second = await refresh(first);
  t.is(second.status, 200);
  t.like(
    second.json.data,
    { organizationId: id, role: 'owner', totpAt: null },
    'a refreshed session has no fresh factor',
  );
  const next = cookieOf(second.headers)!;
  t.not(next, first);
  t.is((await refresh(first)).status, 401);
  t.is((await refresh('')).status, 401);
  t.is((await raw(cloud.url, 'POST', '/v1/auth/refresh')).status, 401);
  const out = await raw(cloud.url, 'POST', '/v1/auth/logout', { headers: { cookie: `flock_refresh=${next}` } });
  t.deepEqual(out.json.data, { signedOut: true });
  t.regex(out.headers.get('set-cookie')!, /flock_refresh=; .*Max-Age=0/);
  t.is((await refresh(next)).status, 401);
});

test('who is not known yet may send little: a large body is refused before anybody looks through it', async (t) => {
  const body = JSON.stringify({ email: 'a@example.com', password: 'x'.repeat(17_000) });
  const announced = await raw(cloud.url, 'POST', '/v1/auth/login', {
    headers: { 'content-type': 'application/json' },
    body,
  });
  t.deepEqual([announced.status, announced.json.error.code], [413, 'PAYLOAD_TOO_LARGE']);
});

test('a brute force on one email is slowed: RATE_LIMIT_EXCEEDED with Retry-After', async (t) => {
  const { owner } = await cloud.organization();
  const answers = [];
  for (let attempt = 0; attempt < 11; attempt += 1)
    answers.push(await login({ ...owner, password: `wrong ${attempt}` }));
  t.deepEqual(
    answers.slice(0, 10).map(({ status }) => status),
    Array.from({ length: 10 }, () => 401),
  );
  t.is(answers[10]!.json.error.code, 'RATE_LIMIT_EXCEEDED');
  t.regex(answers[10]!.headers.get('retry-after')!, /^[1-9][0-9]?$/);
});

test("found, console B21: a person at the console has a window of 600 a minute, and takes nothing from that of the account's API keys", async (t) => {
  const { owner, live } = await cloud.organization({ tier: 'free' });
  const bearer = await cloud.signIn(owner);
  const byBearer = () => raw(cloud.url, 'GET', '/v1/webhooks', { headers: { authorization: `Bearer ${bearer}` } });
  const answers = [];
  for (let asked = 0; asked < 61; asked += 1) answers.push(await byBearer());
  t.deepEqual(answers.at(-1)!.headers.get('ratelimit-limit'), '600');
  t.true(answers.every(({ status }) => status === 200));
  const byKey = await raw(cloud.url, 'GET', '/v1/webhooks', { headers: { 'x-api-key': live.apiKey } });
  t.deepEqual([byKey.status, byKey.headers.get('ratelimit-remaining')], [200, '59']);
});

test('§4.4 an organization is created by a signed-in user, who owns it and can switch to it', async (t) => {
  const { owner } = await cloud.organization();
  const bearer = await cloud.signIn(owner);
  const made = await asBearer(bearer).must('createOrganization', { body: { name: 'Second' } });
  t.regex(made.id, /^org_[a-z2-7]{26}$/);
  t.like(made, { name: 'Second', role: 'owner' });
  t.like(await asBearer(bearer).call('createOrganization', { body: { name: '' } }), { code: 'INVALID_INPUT' });
  t.deepEqual((await asBearer(bearer).must('listOrganizations')).content.map(({ id }) => id).includes(made.id), true);
  const switched = await asBearer(bearer).must('switchOrganization', { body: { organizationId: made.id } });
  t.like(switched, { organizationId: made.id, role: 'owner' });
  t.truthy(switched.totpAt, 'the factor stays as fresh as it was');
  const usage = await asBearer(switched.accessToken).must('getUsage');
  t.like(usage.plan, { tier: 'free', band: 'launch', subscription: 'active' });
  const stranger = await cloud.organization();
  t.like(await asBearer(bearer).call('switchOrganization', { body: { organizationId: stranger.id } }), {
    code: 'NOT_FOUND',
  });
  t.deepEqual((await asBearer(switched.accessToken).must('listMembers')).content, [
    { userId: owner.id, email: owner.email, role: 'owner', totpConfirmed: true },
  ]);
});

test.serial(
  'I23 a key or organization is made with the answer to its Idempotency-Key or not at all: asked again, there is one',
  async (t) => {
    const { owner } = await cloud.organization(),
      newcomer = await cloud.person();
    const [old, fresh] = [asBearer(await cloud.signIn(owner)), asBearer(await cloud.signIn(newcomer))];
    const mint = { body: { label: 'once', environment: 'sandbox' as const }, idempotencyKey: 'mint' };
    const found = { body: { name: 'Once' }, idempotencyKey: 'found' };
    const count = async () => [
      (await old.must('listApiKeys')).content.filter(({ label }) => label === 'once').length,
      (await old.must('listOrganizations')).content.filter(({ name }) => name === 'Once').length,
      (await fresh.must('listOrganizations')).content.filter(({ name }) => name === 'Once').length,
    ];
    const { owner: db } = cloud.database;
    await db`alter table idempotency add constraint no_answer_is_kept check (false) not valid`;
    try {
      for (const answer of [
        await old.call('mintApiKey', mint),
        await old.call('createOrganization', found),
        await fresh.call('createOrganization', found),
      ]) {
        t.true(isRefusal(answer), JSON.stringify(answer));
      }
      t.deepEqual(await count(), [0, 0, 0]);
    } finally {
      await db`alter table idempotency drop constraint no_answer_is_kept`;
    }
    const made = [
      await old.must('mintApiKey', mint),
      await old.must('createOrganization', found),
      await fresh.must('createOrganization', found),
    ];
    const again = [
      await old.must('mintApiKey', mint),
      await old.must('createOrganization', found),
      await fresh.must('createOrganization', found),
    ];
    t.deepEqual(again, made);
    t.deepEqual(await count(), [1, 1, 1]);
    const [{ kept }] = await db<[{ kept: string }]>`select string_agg(body::text, ' ') as kept from idempotency`;
    t.false(kept.includes((made[0] as { key: string }).key), 'what is shown once is kept sealed');
  },
);

test('a second factor is enrolled, confirmed with a first code, and not replaced without a fresh one', async (t) => {
  const organization = await cloud.organization();
  const who = await cloud.person({ totp: false });
  await cloud.join(who, organization, 'owner');
  const bearer = (await open.must('login', { body: { email: who.email, password: who.password } })).accessToken;
  const client = asBearer(bearer);
  t.like(await client.call('mintApiKey', { body: { label: 'x', environment: 'sandbox' } }), { code: 'TOTP_REQUIRED' });
  t.like(await client.call('confirmTotp', { body: { totp: '123456' } }), { code: 'TOTP_REQUIRED' });
  const { secret, otpauthUri } = await client.must('enrolTotp');
  t.regex(secret, /^[A-Z2-7]{32}$/);
  t.true(otpauthUri.includes(`secret=${secret}`) && otpauthUri.startsWith('otpauth://totp/Flock'));
  t.like(
    await client.call('stepUp', { body: { totp: codeOf({ totpSecret: secret }) } }),
    { code: 'TOTP_REQUIRED' },
    'not confirmed yet',
  );
  t.like(await client.call('confirmTotp', { body: { totp: codeOf({ totpSecret: secret }, 7) } }), {
    code: 'TOTP_REQUIRED',
  });
  const confirmed = await client.must('confirmTotp', { body: { totp: codeOf({ totpSecret: secret }) } });
  t.truthy(confirmed.totpAt);
  t.like(await client.call('confirmTotp', { body: { totp: codeOf({ totpSecret: secret }, 1) } }), { code: 'CONFLICT' });
  t.like(await client.call('enrolTotp'), { code: 'TOTP_REQUIRED' }, 'the stolen session');
  const fresh = asBearer(confirmed.accessToken);
  const next = await fresh.must('enrolTotp');
  t.like(
    await fresh.call('stepUp', { body: { totp: codeOf({ totpSecret: next.secret }, 1) } }),
    { code: 'TOTP_REQUIRED' },
    'console A20: the new one is none before its first code',
  );
  t.like(await login(who), { status: 403 }, 'nor may anybody sign in without the old one');
  t.truthy((await fresh.must('stepUp', { body: { totp: codeOf({ totpSecret: secret }, 1) } })).totpAt);
});

test('§5.5 minting an API key needs a fresh second factor; the key works, is listed masked and can be revoked', async (t) => {
  const { owner, sandbox } = await cloud.organization();
  const cookie = cookieOf((await login(owner, { totp: codeOf(owner) })).headers)!;
  const stale = asBearer((await refresh(cookie)).json.data['accessToken'] as string);
  t.like(await stale.call('mintApiKey', { body: { label: 'app', environment: 'sandbox' } }), {
    code: 'TOTP_REQUIRED',
    details: { reason: 'not_fresh', maxAgeSeconds: 300 },
  });
  const made = await stale.must('mintApiKey', {
    body: { label: 'app', environment: 'sandbox', totp: codeOf(owner, 1) },
  });
  t.regex(made.key, /^flk_test_/);
  t.true(made.key.startsWith(made.prefix.slice(0, -1)));
  const listed = (await stale.must('listApiKeys')).content;
  t.is(listed.length, 3);
  t.false(JSON.stringify(listed).includes(made.key));
  const app = createClient({ baseUrl: cloud.url, apiKey: made.key });
  t.false(isRefusal(await app.call('listAddresses')));
  const revoked = await stale.must('revokeApiKey', { params: { id: made.id } });
  t.truthy(revoked.revokedAt);
  t.like(await app.call('listAddresses'), { code: 'UNAUTHORIZED' }, 'at once where it was revoked');
  t.like(await stale.call('revokeApiKey', { params: { id: made.id } }), { code: 'NOT_FOUND' });
  const other = await cloud.organization();
  const [foreign] = (await asBearer(await cloud.signIn(other.owner)).must('listApiKeys')).content;
  t.like(await stale.call('revokeApiKey', { params: { id: foreign!.id } }), { code: 'NOT_FOUND' });
  t.false(isRefusal(await sandbox.client.call('listAddresses')));
});

test('§5.5 a key that was minted under an Idempotency-Key is shown again with a fresh second factor only', async (t) => {
  const { owner } = await cloud.organization();
  const answer = await login(owner, { totp: codeOf(owner) });
  const fresh = asBearer(answer.json.data['accessToken'] as string);
  const stale = asBearer((await refresh(cookieOf(answer.headers)!)).json.data['accessToken'] as string);
  const ask = { body: { label: 'app', environment: 'sandbox' as const }, idempotencyKey: 'mint' };
  const { key } = await fresh.must('mintApiKey', ask);
  t.is((await fresh.must('mintApiKey', ask)).key, key);
  t.like(await stale.call('mintApiKey', ask), { code: 'TOTP_REQUIRED', details: { reason: 'not_fresh' } });
  const coded = { ...ask, body: { ...ask.body, totp: codeOf(owner, 1) }, idempotencyKey: 'mint again' };
  const second = await stale.must('mintApiKey', coded);
  t.is(
    (await stale.must('mintApiKey', coded)).key,
    second.key,
    'whoever knows the code of then may repeat the request',
  );
});

for (const decision of ['approve', 'reject'] as const) {
  test(`§3.1 an owner with a fresh code ${decision}s an identity rotation`, async (t) => {
    const { owner, sandbox } = await cloud.organization();
    const first = await enrol(cloud, sandbox);
    const second = testEdge(cloud, sandbox.apiKey);
    await second.client.call('syncEdge', {
      body: { edgeVersion: EDGE_VERSION, sessionId: second.sessionId, keys: [newEvmKey()], pools: [] },
    });
    const cookie = cookieOf((await login(owner, { totp: codeOf(owner) })).headers)!;
    const stale = asBearer((await refresh(cookie)).json.data['accessToken'] as string, 'sandbox');
    const [rotation] = (await stale.must('listRotations')).content;
    t.like(rotation, { publicKey: second.signer.keyId, families: ['evm'] });
    const operation = decision === 'approve' ? 'approveRotation' : 'rejectRotation';
    const params = { id: rotation!.id };
    t.like(await stale.call(operation, { params, body: {} }), { code: 'TOTP_REQUIRED' });
    t.like(await stale.call(operation, { params, body: { totp: codeOf(owner, 9) } }), { code: 'TOTP_REQUIRED' });
    const decided = await stale.must(operation, { params, body: { totp: codeOf(owner, 1) } });
    t.deepEqual(decided, { id: rotation!.id, decision: decision === 'approve' ? 'approved' : 'rejected' });
    t.is((await stale.must('listRotations')).content.length, 0);
    const resume = (edge: typeof first) =>
      edge.client.call('resumeEdge', { body: { edgeVersion: EDGE_VERSION, sessionId: edge.sessionId } });
    const [winner, loser] = decision === 'approve' ? [second, first] : [first, second];
    t.false(isRefusal(await resume(winner)));
    t.like(await resume(loser), { code: 'EDGE_SIGNATURE_INVALID' });
    t.is((await sandbox.client.must('getEdgeReadiness')).content.find(({ chain }) => chain === 'eth')!.state, 'ready');
  });
}

test('§3.8 §4.4 an owner changes the band: a larger one at once, a smaller one at the end of the period', async (t) => {
  const organization = await cloud.organization({ tier: 'premium', band: 'launch' });
  const owner = asBearer(await cloud.signIn(organization.owner));
  t.like(await owner.must('changeBand', { body: { band: 'scale' } }), { band: 'scale', pendingBand: null });
  const waiting = await owner.must('changeBand', { body: { band: 'growth' }, idempotencyKey: 'down' });
  const now = new Date(),
    effectiveAt = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString();
  t.like(waiting, { band: 'scale', pendingBand: { band: 'growth', effectiveAt } });
  t.deepEqual(await owner.must('changeBand', { body: { band: 'growth' }, idempotencyKey: 'down' }), waiting);
  const usage = await owner.must('getUsage');
  t.like(usage, {
    plan: { band: 'scale', pendingBand: { band: 'growth', effectiveAt } },
    activeAddresses: { limit: 100_000 },
  });
  const editor = await cloud.person();
  await cloud.join(editor, organization, 'editor');
  t.like(await asBearer(await cloud.signIn(editor)).call('changeBand', { body: { band: 'growth' } }), {
    code: 'FORBIDDEN',
  });
});

test('§4.3 the run command for the account names what is missing and holds no secret', async (t) => {
  const { owner } = await cloud.organization();
  const client = asBearer(await cloud.signIn(owner), 'sandbox');
  const setup = await client.must('getEdgeSetup');
  t.is(setup.environment, 'sandbox');
  for (const command of [setup.command, setup.checkoutCommand]) {
    for (const name of ['API_KEY', 'CLOUD_URL', 'MNEMONIC_FILE', 'EDGE_DATA_DIR']) t.true(command.includes(name), name);
    t.notRegex(command, /flk_(?:test|live)_[a-z2-7]{39}/);
  }
});

test('issue 2.10: an administrator sees what an account could not take, and has it tried again', async (t) => {
  const admin = asBearer(await cloud.signIn(await cloud.person({ admin: true })));
  const {
    sandbox: { accountId },
  } = await cloud.organization();
  await cloud.database.owner`
    insert into flock.inbox (account_id, subject, fact_key, fact, created_at) values (${accountId}, 'a|b|0', 'seen', '"nonsense"', now() - interval '1 hour')`;
  const mine = (view: ReplyOf<'listFactsSetAside'>) => view.facts.find((fact) => fact.accountId === accountId);
  const first = await patiently<ReplyOf<'listFactsSetAside'>>(
    'set aside',
    () => admin.must('listFactsSetAside'),
    (view) => mine(view) !== undefined,
  );
  t.like(mine(first), { subject: 'a|b|0', fact: 'nonsense', behind: 0 });
  t.true(Date.parse(mine(first)!.retryAt) > Date.parse(mine(first)!.recordedAt));
  t.true(first.count >= 1);
  t.regex(await (await fetch(`${cloud.url}/metrics`)).text(), /^svc_facts_set_aside [1-9]/m);
  t.true(cloud.lines.some((line) => line.includes('a fact was set aside') && line.includes(accountId)));
  t.deepEqual(await admin.must('retryFacts', { body: { accountId } }), { accounts: 1 });
  await patiently<ReplyOf<'listFactsSetAside'>>(
    'tried again',
    () => admin.must('listFactsSetAside'),
    (view) => (mine(view)?.tries ?? 0) > mine(first)!.tries,
  );
  t.like(await admin.call('retryFacts', { body: { id: '999999999' } }), { code: 'NOT_FOUND' });
});

test('issue 2.10: an administrator sees the actors and restarts one', async (t) => {
  const admin = await cloud.person({ admin: true });
  const client = asBearer(await cloud.signIn(admin));
  const { sandbox } = await cloud.organization();
  await enrol(cloud, sandbox);
  const tree = await client.must('listActors', { query: { depth: '4', children: '1000' } });
  const found: { path: string; kind: string; state: unknown }[] = [];
  const walk = (node: typeof tree) => {
    found.push(node);
    node.children.forEach(walk);
  };
  walk(tree);
  const mine = found.find(({ path }) => path.includes(sandbox.accountId))!;
  t.is(mine.kind, 'account');
  t.notRegex(JSON.stringify(mine.state), /xpub|whsec|[0-9a-f]{64}/);
  const one = await client.must('getActor', { params: { path: mine.path } });
  t.like(one, { path: mine.path, restarts: 0, lastFault: null, mailboxDepth: 0 });
  t.true(one.messages > 0);
  t.deepEqual(await client.must('restartActor', { params: { path: mine.path } }), { path: mine.path, restarted: true });
  t.false(isRefusal(await sandbox.client.call('createAddress', { body: { chain: 'eth', userRef: 'customer-1' } })));
  t.like(await client.call('getActor', { params: { path: 'nothing/here' } }), { code: 'NOT_FOUND' });
  t.like(await client.call('restartActor', { params: { path: 'nothing/here' } }), { code: 'NOT_FOUND' });
});
