import { randomBytes, randomUUID } from 'node:crypto';
import test from 'ava';
import { findKeyMaterial } from '../../protocol/node/key-material.ts';
import {
  createGuardedFetch,
  Guarded,
  isPublicAddress,
  type GuardedFetch,
} from '../../gateway/http/auth/guarded-fetch.ts';
import { createOidc } from '../../gateway/http/auth/oidc.ts';
import { domainRound } from '../../gateway/http/auth/domain-record.ts';
import { createSsoStore } from '../../persistence/postgres/sso-store.ts';
import { createClient } from '../../protocol/client.ts';
import { codeOf, raw } from '../support/gateway.ts';
import type { ProviderLies } from '../support/identity-provider.ts';
import { startSsoWorld } from '../support/sso-world.ts';

const {
  records,
  provider,
  names,
  cloud,
  stop,
  as,
  reasonOf,
  newDomain,
  browser,
  withSso,
  arrive,
  person,
  byPassword,
  memberOf,
  linked,
  next,
} = await startSsoWorld();
test.after.always(stop);

test.serial(
  'console A35, A36, A42: an owner proves a domain by a TXT record and connects a provider; the domain of an email finds it, whoever it is',
  async (t) => {
    const organization = await cloud.organization();
    const owner = as(await cloud.signIn(organization.owner));
    const domain = newDomain();
    const { issuer, clientId, clientSecret } = provider;
    const viewer = await cloud.person();
    await cloud.join(viewer, organization, 'viewer');
    t.is(reasonOf(await as(await cloud.signIn(viewer)).call('listDomains')) === 'done', false, 'owners alone');
    const added = await owner.must('addDomain', { body: { domain: domain.toUpperCase() } });
    t.like(added, { domain, status: 'pending', record: { name: `_flock-challenge.${domain}`, type: 'TXT' } });
    t.deepEqual(reasonOf(await owner.call('addDomain', { body: { domain } })), ['CONFLICT', 'known']);
    t.deepEqual(reasonOf(await owner.call('addDomain', { body: { domain: 'gmail.com' } })), [
      'INVALID_INPUT',
      'consumer',
    ]);
    t.is(reasonOf(await owner.call('checkDomain', { params: { id: added.id } }))?.toString(), 'CONFLICT,record');
    records.set(added.record.name, 'flock-domain=another');
    t.deepEqual(reasonOf(await owner.call('checkDomain', { params: { id: added.id } })), ['CONFLICT', 'record']);
    records.set(added.record.name, added.record.value);
    t.like(await owner.must('checkDomain', { params: { id: added.id } }), { status: 'verified' });
    const at = browser();
    t.is((await at.post('discover', { email: `x@${domain}` })).data.connectionId, null, 'no provider yet');
    const connection = await owner.must('setSsoConnection', { body: { issuer, clientId, clientSecret } });
    t.like(connection, {
      kind: 'oidc',
      issuer,
      hasSecret: true,
      jitRole: 'viewer',
      redirectUri: 'http://cloud.test/console/sso',
    });
    t.false(JSON.stringify(await owner.must('listSsoConnections')).includes(clientSecret));
    for (const email of [`x@${domain}`, `nobody-at-all@${domain}`])
      t.deepEqual((await at.post('discover', { email })).data, { connectionId: connection.id });
    t.is(
      (await at.post('discover', { email: `x@sub.${domain}` })).data.connectionId,
      null,
      'a subdomain is one of its own',
    );
    const free = await cloud.organization({ tier: 'free' });
    const theirs = as(await cloud.signIn(free.owner));
    const locked = await theirs.call('setSsoConnection', { body: { issuer, clientId, clientSecret } });
    t.like(locked, { code: 'TIER_FEATURE_LOCKED', details: { feature: 'sso', tier: 'free', requiredTier: 'premium' } });
    t.like(await theirs.call('addDomain', { body: { domain: newDomain() } }), { code: 'TIER_FEATURE_LOCKED' });
    const other = await cloud.organization();
    const second = as(await cloud.signIn(other.owner));
    const again = await second.must('addDomain', { body: { domain } });
    records.set(again.record.name, again.record.value);
    t.deepEqual(reasonOf(await second.call('checkDomain', { params: { id: again.id } })), ['CONFLICT', 'taken']);
    t.is(
      reasonOf(await second.call('removeDomain', { params: { id: added.id } }))?.toString(),
      'NOT_FOUND,',
      'another’s',
    );
    for (let checks = 0; checks < 9; checks += 1) await second.call('checkDomain', { params: { id: again.id } });
    t.like(await second.call('checkDomain', { params: { id: again.id } }), { code: 'RATE_LIMIT_EXCEEDED' });
  },
);

test.serial(
  'console A37, A16: a first arrival with a verified email of the domain becomes a member, never an owner, and later comes by its subject whatever its email is',
  async (t) => {
    const { organization, domain, connection } = await withSso({ jitRole: 'editor' });
    const who = person(domain);
    const first = await arrive(who, connection.id);
    t.is(first.status, 200, first.answer.text);
    t.like(first.data, { organizationId: organization.id, role: 'editor', totpAt: null });
    const me = await as(first.data.accessToken).must('getMe');
    t.is(me.email, who.email);
    t.is(await memberOf(organization, me.id), 'editor');
    const later = await arrive(
      { sub: who.sub, email: 'other@elsewhere.example', email_verified: false },
      connection.id,
    );
    t.is((await as(later.data.accessToken).must('getMe')).id, me.id);
    t.true((await as(later.data.accessToken).must('listLogins')).content.every(({ method }) => method === 'sso'));
    t.regex(first.answer.headers.getSetCookie().join('\n'), /flock_sso=; .*Max-Age=0/);
    const entries = await cloud.database.owner`
    select 1 from flock.audit_entry where organization_id = ${organization.id} and action = 'finishSso' and outcome = 'done'`;
    t.is(entries.length, 1);
    await cloud.database.owner`delete from flock.membership where user_id = ${me.id}`;
    const removed = await arrive(who, connection.id);
    t.like(removed.data, { organizationId: null, role: null }, 'who was removed does not become a member again');
  },
);

test.serial(
  'console A37, F15: an email that is not verified, not exactly true, absent or of another domain lets nobody in',
  async (t) => {
    const { domain, connection } = await withSso();
    for (const claims of [
      { email: `a@${domain}` },
      { email: `a@${domain}`, email_verified: 'true' },
      { email: `a@${domain}`, email_verified: 1 },
      { email: `a@${domain}`, email_verified: false },
      { email: `a@sub.${domain}`, email_verified: true },
      { email: 'a@elsewhere.example', email_verified: true },
      { email_verified: true },
      { email: `a@${domain}@elsewhere.example`, email_verified: true },
    ]) {
      const answer = await arrive({ sub: 'x', ...claims }, connection.id);
      t.deepEqual([answer.status, answer.reason], [403, 'sso_email'], JSON.stringify(claims));
    }
  },
);

test.serial(
  'console A37: an email that has a user is linked after password and factor alone, once, in the browser that arrived',
  async (t) => {
    const { organization, domain, connection } = await withSso();
    const known = await cloud.person();
    const email = `known-${next()}@${domain}`;
    await cloud.database.owner`update flock.console_user set email = ${email} where id = ${known.id}`;
    const who = { sub: `k-${next()}`, email, email_verified: true };
    const arrived = await arrive(who, connection.id);
    t.deepEqual([arrived.status, arrived.reason], [409, 'prove_account']);
    t.is(await memberOf(organization, known.id), null, 'nothing is linked yet');
    const { at } = arrived;
    t.is((await browser().post('link', byPassword(known, { totp: codeOf(known) }))).reason, 'used', 'another browser');
    t.deepEqual((await at.post('link', byPassword({ ...known, password: 'wrong' }))).reason, 'wrong');
    t.deepEqual((await at.post('link', byPassword(known))).reason, 'missing', 'the factor too');
    const linked = await at.post('link', byPassword(known, { totp: codeOf(known) }));
    t.is(linked.status, 200, linked.answer.text);
    t.is((await as(linked.data.accessToken).must('getMe')).id, known.id);
    t.is(await memberOf(organization, known.id), 'viewer');
    t.is((await at.post('link', byPassword(known, { totp: codeOf(known, 1) }))).reason, 'used');
    t.is((await arrive(who, connection.id)).status, 200, 'from then on by the provider alone');
  },
);

const SSO_LOGIN = ['FORBIDDEN', 'sso_login'];

test.serial(
  'console A13, A37: a login by a provider is for the organization of its connection alone: no other one of the person, nothing of staff',
  async (t) => {
    const of = await withSso();
    const { known, who } = await linked(of, { admin: true });
    const other = await cloud.organization();
    await cloud.join(known, other, 'owner');
    const { at, data } = await arrive(who, of.connection.id);
    const theirs = as(data.accessToken);
    t.deepEqual(
      (await theirs.must('listOrganizations')).content.map(({ id }) => id),
      [of.organization.id],
    );
    const move = { body: { organizationId: other.id } };
    t.deepEqual(reasonOf(await theirs.call('switchOrganization', move)), SSO_LOGIN);
    t.deepEqual(
      reasonOf(await theirs.call('switchOrganization', { body: { organizationId: `org_${'a'.repeat(26)}` } })),
      SSO_LOGIN,
      'whether one is a member is not told',
    );
    t.is(reasonOf(await theirs.call('switchOrganization', { body: { organizationId: of.organization.id } })), 'done');
    t.deepEqual(reasonOf(await theirs.call('createOrganization', { body: { name: 'Mine' } })), SSO_LOGIN);
    t.like(await theirs.call('listNodes'), { code: 'FORBIDDEN' }, 'nothing of staff');
    // A token of the other organization, as a release before issued it, and a login that goes on with it.
    await cloud.database.owner`
      update flock.refresh_token set organization_id = ${other.id}
       where login_id in (select id from flock.login where user_id = ${known.id} and method = 'sso')`;
    const answer = await raw(cloud.url, 'POST', '/v1/auth/refresh', {
      headers: { cookie: [...at.jar].map(([name, value]) => `${name}=${value}`).join('; ') },
    });
    t.is(answer.status, 200, answer.text);
    t.like(await as(answer.json.data.accessToken).call('listMembers'), { code: 'FORBIDDEN' });
    const { email, password } = known;
    const body = { email, password, totp: codeOf(known, 1), organizationId: other.id };
    const byFactor = as((await createClient({ baseUrl: cloud.url }).must('login', { body })).accessToken);
    t.is(reasonOf(await byFactor.call('listMembers')), 'done', 'by password and factor');
    t.is((await byFactor.must('listOrganizations')).content.length, 2);
  },
);

test.serial(
  'console A13, A37: a login by a provider ends with its connection, with another issuer in its place, and is none of a release before',
  async (t) => {
    for (const how of ['removed', 'issuer', 'unnamed'] as const) {
      const of = await withSso();
      const { known, who } = await linked(of);
      const { at, data } = await arrive(who, of.connection.id);
      if (how === 'removed')
        t.is(reasonOf(await of.owner.call('removeSsoConnection', { params: { id: of.connection.id } })), 'done');
      if (how === 'issuer')
        await cloud.database.owner`delete from flock.sso_identity where connection_id = ${of.connection.id}`;
      if (how === 'unnamed')
        await cloud.database.owner`update flock.login set connection_id = null where user_id = ${known.id}`;
      t.like(await as(data.accessToken).call('getMe'), { code: 'UNAUTHORIZED' }, how);
      const headers = { cookie: [...at.jar].map(([name, value]) => `${name}=${value}`).join('; ') };
      const answer = await raw(cloud.url, 'POST', '/v1/auth/refresh', { headers });
      t.is(answer.status, 401, `${how}: nor is it renewed`);
    }
  },
);

test.serial(
  'console A20, A37: a login by a provider sets no first factor of a person up without the password',
  async (t) => {
    const of = await withSso();
    const { known, who } = await linked(of, { totp: false });
    const { data } = await arrive(who, of.connection.id);
    const theirs = as(data.accessToken);
    const refused = await theirs.call('enrolTotp', { body: {} });
    t.like(refused, { code: 'TOTP_REQUIRED', details: { reason: 'not_fresh', accepts: ['password'] } });
    t.is(reasonOf(await theirs.call('enrolTotp', { body: { password: known.password } })), 'done');
  },
);

test.serial(
  'console A35: a sign-in that was under way when the organization went to free ends there, and so does one that waits for its proof',
  async (t) => {
    const of = await withSso();
    const who = person(of.domain);
    const { known, who: theirs } = await linked(of);
    const [under, proving] = [browser(), browser()];
    const given = provider.agree((await under.post('start', { connectionId: of.connection.id })).data.url, theirs);
    await cloud.database.owner`delete from flock.sso_identity where user_id = ${known.id}`;
    t.is((await arrive(theirs, of.connection.id, { at: proving })).reason, 'prove_account');
    const first = await arrive(who, of.connection.id);
    t.is(first.status, 200);
    const admin = as(await cloud.signIn(await cloud.person({ admin: true })));
    await admin.must('setPlan', { params: { accountId: of.organization.live.accountId }, body: { tier: 'free' } });
    const finished = await under.post('finish', given);
    t.is(finished.error?.code, 'TIER_FEATURE_LOCKED', finished.answer.text);
    const link = await proving.post('link', byPassword(known, { totp: codeOf(known, 1) }));
    t.is(link.error?.code, 'TIER_FEATURE_LOCKED', link.answer.text);
  },
);

test.serial('console A38: forged, late, foreign and replayed answers of a provider let nobody in', async (t) => {
  const { domain, connection } = await withSso();
  const who = person(domain);
  for (const [name, options] of Object.entries({
    'a key that it does not show': { why: 'invalid_response', lies: { foreignKey: true } },
    'no signature': { why: 'unsupported_operation', lies: { unsigned: true } },
    'a symmetric signature': { why: 'unsupported_operation', lies: { symmetric: true } },
    'another issuer': { why: 'jwt_claim_comparison_failed', lies: { claims: { iss: 'http://evil.test' } } },
    'another audience': { why: 'jwt_claim_comparison_failed', lies: { claims: { aud: 'somebody-else' } } },
    'another nonce': { why: 'jwt_claim_comparison_failed', lies: { claims: { nonce: 'x' } } },
    'no nonce': { why: 'invalid_response', lies: { claims: { nonce: undefined } } },
    'a token that ended': { why: 'jwt_timestamp_check_failed', lies: { secondsAgo: 3_600 + 61 } },
    'a mix-up: the iss of another provider': { why: 'invalid_response', more: { iss: 'http://evil.test' } },
    'no iss': { why: 'invalid_response', more: { iss: undefined } },
    'an error': { why: 'authorization_response_error', more: { code: undefined, error: 'access_denied' } },
    'a code of nobody': { why: 'response_body_error', more: { code: 'made-up' } },
  } as Record<string, { why: string; lies?: ProviderLies; more?: object }>)) {
    const answer = await arrive(who, connection.id, options);
    t.deepEqual([answer.status, answer.reason], [401, 'sso'], `${name}: ${answer.answer.text}`);
    const { requestId } = answer.answer.json.meta;
    const line = cloud.lines.find((one) => one.includes(requestId) && one.includes('by a provider was refused'));
    t.is(JSON.parse(line ?? '{}').reason, options.why, `${name}: for this reason, and no other`);
  }
  t.is(
    (await arrive(who, connection.id, { lies: { secondsAgo: 3_600 + 30 } })).status,
    200,
    'a clock may be off by a minute',
  );
  const good = await arrive(who, connection.id);
  t.is(good.status, 200);
  t.is((await good.at.post('finish', good.given!)).reason, 'used', 'an answer comes once');
  const mine = browser();
  const started = await mine.post('start', { connectionId: connection.id });
  const given = provider.agree(started.data.url, who);
  t.is(
    (await browser().post('finish', given)).reason,
    'used',
    'in another browser: no login of a stranger is put upon anybody',
  );
  t.is((await mine.post('finish', { ...given, state: `${given['state']}x` })).reason, 'used', 'another state');
  t.is((await mine.post('finish', given)).status, 200);
  const late = browser();
  const begun = await late.post('start', { connectionId: connection.id });
  await cloud.database.owner`update flock.sso_flow set expires_at = now() - interval '1 second'`;
  t.is((await late.post('finish', provider.agree(begun.data.url, who))).reason, 'used', 'ten minutes are over');
});

test.serial(
  'console A38: a provider that is away, redirects, sends too much, or says another issuer is refused by name, and nothing is kept of it',
  async (t) => {
    const organization = await cloud.organization();
    const owner = as(await cloud.signIn(organization.owner));
    const { issuer, clientId } = provider;
    for (const [answer, reason] of [
      ['redirect', 'redirect'],
      ['endless', 'too_large'],
    ] as const) {
      provider.lies = { answer };
      const refused = await owner.call('setSsoConnection', { body: { issuer, clientId } });
      t.like(refused, { code: 'INVALID_INPUT', details: { field: 'issuer', reason } });
    }
    for (const lies of [
      { answer: 'error' },
      { answer: 'html' },
      { issuer: `${issuer}/` },
      { issuer: 'https://evil.test' },
    ] as const) {
      provider.lies = lies;
      t.like(
        await owner.call('setSsoConnection', { body: { issuer, clientId } }),
        { code: 'INVALID_INPUT' },
        JSON.stringify(lies),
      );
    }
    provider.lies = { authorization: 'javascript:alert(1)//' };
    const script = await owner.call('setSsoConnection', { body: { issuer, clientId } });
    t.like(script, { code: 'INVALID_INPUT', details: { field: 'issuer', reason: 'request_protocol_forbidden' } });
    provider.lies = {};
    for (const [url, reason] of [
      ['http://198.51.100.1', 'scheme'],
      ['https://127.0.0.1:8443', 'address'],
      ['https://localhost:8443', 'address'],
      ['https://[::1]:8443', 'address'],
      ['https://169.254.169.254', 'address'],
    ] as const)
      t.like(await owner.call('setSsoConnection', { body: { issuer: url, clientId } }), { details: { reason } }, url);
    t.deepEqual((await owner.must('listSsoConnections')).content, []);
  },
);

test.serial('console A36: connections and domains of another organization are as ones that nobody has', async (t) => {
  const theirs = await withSso(),
    mine = await withSso();
  const { content: domains } = await theirs.owner.must('listDomains', {});
  t.true(domains.length > 0);
  for (const id of [domains[0]!.id, `${domains[0]!.id.slice(0, 4)}${'a'.repeat(26)}`])
    for (const operation of ['checkDomain', 'removeDomain'] as const)
      t.like(await mine.owner.call(operation, { params: { id } }), { code: 'NOT_FOUND' }, operation);
  for (const id of [theirs.connection.id, `${theirs.connection.id.slice(0, 4)}${'a'.repeat(26)}`])
    t.like(await mine.owner.call('removeSsoConnection', { params: { id } }), { code: 'NOT_FOUND' });
  t.is((await theirs.owner.must('listDomains', {})).content.length, domains.length);
});

test('console A38: which addresses are of the internet', (t) => {
  for (const address of ['1.1.1.1', '8.8.8.8', '2606:4700::1111', '172.15.0.1', '172.32.0.1'])
    t.true(isPublicAddress(address), address);
  for (const address of [
    ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '169.254.169.254', '172.16.0.1', '192.168.1.1', '198.18.0.1'],
    ...['224.0.0.1', '255.255.255.255', '::', '::1', 'fe80::1', 'fc00::1', '::ffff:127.0.0.1', '64:ff9b::7f00:1'],
    ...['168.63.129.16', '2002:7f00:1::', '2001::1', '2001:db8::1', 'x'],
  ])
    t.false(isPublicAddress(address), address);
});

test('console A38: a name that leads inside is not fetched, and a redirect is not followed', async (t) => {
  const fetch = createGuardedFetch([]);
  await t.throwsAsync(fetch('https://localhost:8443/'), { message: 'not fetched: address' });
  await t.throwsAsync(fetch('http://example.com/'), { message: 'not fetched: scheme' });
});

test('console A38: a provider that does not answer is asked once a second, however many begin to sign in', async (t) => {
  let asked = 0,
    nowMs = 0;
  const guarded: GuardedFetch = async () => {
    asked += 1;
    throw new Guarded('away');
  };
  const oidc = createOidc({ guarded, allowed: [], elapsedMs: () => nowMs });
  const away = { key: 'k', issuer: 'https://away.example', clientId: 'c', secret: null };
  const begin = () => t.throwsAsync(oidc.begin(away, 'https://cloud.test/console/sso'), { message: 'away: away' });
  for (let at = 0; at < 5; at += 1) await begin();
  t.is(asked, 1);
  nowMs += 1_000;
  await begin();
  t.is(asked, 2);
});

test('console A43: a thousand bodies of a sign-in by a provider pass the guard of key material', (t) => {
  for (let made = 0; made < 1_000; made += 1) {
    const [one, two] = [randomBytes(32).toString('base64url'), randomBytes(48).toString('base64url')];
    const uuids = `${randomUUID()}.${randomUUID()}.${randomUUID()}`;
    for (const body of [
      { state: one, code: two, iss: 'https://login.example.com/tenant' },
      { state: one, code: uuids },
      { issuer: 'https://login.example.com', clientId: randomUUID(), clientSecret: two, jitRole: 'viewer' },
    ])
      t.is(findKeyMaterial(Buffer.from(JSON.stringify(body))), null, JSON.stringify(body));
  }
});

test.serial(
  'console A36: a verified domain is looked at each week; three weeks without its record end it: owners are mailed, nobody new comes, who came before goes on',
  async (t) => {
    const { organization, owner, domain, connection } = await withSso();
    const { id, record } = (await owner.must('listDomains')).content[0]!;
    const who = person(domain);
    t.is((await arrive(who, connection.id)).status, 200);
    const sso = createSsoStore(cloud.database.sql);
    const [start, week, dns] = [Date.now(), 7 * 86_400_000, { dnsServers: [names.at] }];
    const look = (weeks: number, settings = dns) => domainRound(sso, settings, start + weeks * week + 60_000);
    const status = async () => (await owner.must('listDomains')).content[0]!.status;
    const rows = async () =>
      (await cloud.database.owner<{ missed: number }[]>`select missed from flock.sso_domain where id = ${id}`)[0]!
        .missed;
    t.is(await look(0.9), 0, 'not yet');
    records.delete(record.name);
    await look(1);
    await look(1);
    t.is(await rows(), 1, 'once a week');
    await look(2);
    records.set(record.name, record.value);
    await look(3);
    t.is(await rows(), 0, 'it is back');
    records.delete(record.name);
    await look(4);
    await look(5);
    await look(6, { dnsServers: ['127.0.0.1:9'] });
    t.deepEqual([await rows(), await status()], [2, 'verified'], 'nobody answered: it is not the domain’s fault');
    await look(7);
    t.is(await status(), 'unverified');
    const letters = await cloud.database.owner<{ recipient: string }[]>`
      select recipient from flock.letter where kind = 'domain_lapsed' and organization_id = ${organization.id}`;
    t.deepEqual(
      letters.map(({ recipient }) => recipient),
      [organization.owner.email],
    );
    t.deepEqual((await arrive(person(domain), connection.id)).reason, 'sso_email', 'nobody new');
    t.is((await arrive(who, connection.id)).status, 200, 'who came before goes on');
    t.is((await browser().post('discover', { email: who.email })).data.connectionId, connection.id);
    records.set(record.name, record.value);
    t.like(await owner.must('checkDomain', { params: { id } }), { status: 'verified' });
    t.is((await arrive(person(domain), connection.id)).status, 200);
  },
);
