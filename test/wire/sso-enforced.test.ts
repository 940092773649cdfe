import { randomBytes } from 'node:crypto';
import test from 'ava';
import { createClient } from '../../protocol/client.ts';
import { codeOf, raw, type Person } from '../support/gateway.ts';
import { mailbox } from '../support/letters.ts';
import { startSsoWorld } from '../support/sso-world.ts';

const letters = mailbox();
const { provider, cloud, stop, as, reasonOf, browser, withSso, arrive, person, memberOf, linked, newDomain } =
  await startSsoWorld({
    ...{ MAIL_DIR: letters.directory, CLUSTER_SECRET: randomBytes(32).toString('hex'), INTERNAL_PORT: '0' },
  });
const there = await cloud.another('there');
test.after.always(async () => {
  await there.stop();
  await stop();
});

const REQUIRED = ['FORBIDDEN', 'sso_required'];
const sql = () => cloud.database.owner;
/** A code of a person, as often as one is needed: each step is taken once, and this test does not wait for the next. */
const freshCode = async (who: Person): Promise<string> => {
  await forgetSteps(who);
  return codeOf(who);
};
const forgetSteps = ({ id }: Person) =>
  cloud.database.admin.unsafe(`set session_replication_role = replica;
    update flock.console_user set totp_last_step = 0 where id = '${id}'; set session_replication_role = origin`);
const signIn = async (who: Person): Promise<string> => {
  await forgetSteps(who);
  return cloud.signIn(who);
};

/** An organization with a break-glass owner and one who came by the provider just now. */
async function withLead() {
  const of = await withSso();
  const { organization, connection } = of;
  const { known: lead, who } = await linked(of);
  await cloud.join(lead, organization, 'owner');
  const { data, at } = await arrive(who, connection.id);
  const boss = organization.owner;
  const enforce = async (
    { enforced = true, breakGlass = [boss.id] }: { enforced?: boolean; breakGlass?: string[] } = {},
    by = { bearer: data.accessToken as string, who: lead as Person },
  ) =>
    as(by.bearer).call('enforceSso', {
      params: { id: connection.id },
      body: { enforced, breakGlass, totp: await freshCode(by.who) },
    });
  return { ...of, lead, who, boss, enforce, at, bearer: data.accessToken as string };
}
const logIn = async (who: Person, organizationId?: string) =>
  createClient({ baseUrl: cloud.url }).call('login', {
    body: {
      ...{ email: who.email, password: who.password, totp: await freshCode(who) },
      ...(organizationId === undefined ? {} : { organizationId }),
    },
  });
async function ofDomain(of: { domain: string; organization: Parameters<typeof cloud.join>[1] }) {
  const who = await cloud.person();
  const email = `m${randomBytes(4).toString('hex')}@${of.domain}`;
  await sql()`update flock.console_user set email = ${email} where id = ${who.id}`;
  await cloud.join(who, of.organization, 'editor');
  return { ...who, email };
}

test.serial(
  'console A41 (faults 14): it is enforced by who came by the provider in the last 24 h, with a code made for this, while an owner with password and factor is named',
  async (t) => {
    const of = await withLead();
    const { lead, boss, connection, organization, domain, bearer, enforce } = of;
    const body = { enforced: true, breakGlass: [boss.id] };
    const params = { id: connection.id };
    t.deepEqual(reasonOf(await as(bearer).call('enforceSso', { params, body })), ['TOTP_REQUIRED', 'missing']);
    const byBoss = { bearer: await signIn(boss), who: boss };
    t.deepEqual(reasonOf(await enforce({}, byBoss)), ['CONFLICT', 'sign_in'], 'by password alone nothing is proven');
    const guest = await cloud.person({ totp: false });
    await cloud.join(guest, organization, 'owner');
    const viewer = await cloud.person();
    await cloud.join(viewer, organization, 'viewer');
    const other = await cloud.organization();
    for (const [name, breakGlass] of Object.entries({
      nobody: [],
      'an owner without a factor': [guest.id],
      'one of two without a factor': [boss.id, guest.id],
      'a viewer': [viewer.id],
      'an owner of another organization': [other.owner.id],
      'somebody made up': ['usr_x'],
    }))
      t.deepEqual(reasonOf(await enforce({ breakGlass })), ['CONFLICT', 'break_glass'], name);
    await sql()`update flock.console_user set has_password = false where id = ${boss.id}`;
    t.deepEqual(reasonOf(await enforce()), ['CONFLICT', 'break_glass'], 'who never had a password');
    await sql()`update flock.console_user set has_password = true where id = ${boss.id}`;
    await sql()`update flock.login set created_at = now() - interval '25 hours' where user_id = ${lead.id} and method = 'sso'`;
    t.deepEqual(reasonOf(await enforce()), ['CONFLICT', 'sign_in'], 'a day ago');
    await sql()`update flock.login set created_at = now() - interval '23 hours' where user_id = ${lead.id} and method = 'sso'`;
    t.deepEqual(reasonOf(await enforce()), ['CONFLICT', 'sign_in'], 'before the provider was set to what it is now');
    await sql()`update flock.sso_connection set changed_at = now() - interval '23 hours 1 second' where id = ${connection.id}`;
    await sql()`update flock.sso_domain set verified_at = null where domain = ${domain}`;
    t.deepEqual(reasonOf(await enforce()), ['CONFLICT', 'domain']);
    await sql()`update flock.sso_domain set verified_at = now() where domain = ${domain}`;
    const stranger = as(await signIn(other.owner));
    const totp = await freshCode(other.owner);
    t.deepEqual(reasonOf(await stranger.call('enforceSso', { params, body: { ...body, totp } })), [
      'NOT_FOUND',
      undefined,
    ]);
    t.is(reasonOf(await enforce()), 'done');
    const [shown] = (await of.owner.must('listSsoConnections')).content;
    t.deepEqual(shown?.breakGlass, [boss.id]);
    t.truthy(shown?.enforcedAt);
    const { issuer, clientId } = provider;
    await of.owner.must('setSsoConnection', { body: { issuer, clientId, clientSecret: 'another', jitRole: 'editor' } });
    t.truthy((await of.owner.must('listSsoConnections')).content[0]?.enforcedAt, 'another secret ends nothing');
    await of.owner.must('setSsoConnection', { body: { issuer, clientId: 'another' } });
    t.is(
      (await of.owner.must('listSsoConnections')).content[0]?.enforcedAt,
      null,
      'another client is another provider',
    );
    const entries = await sql()`
      select 1 from flock.audit_entry where organization_id = ${organization.id} and action = 'enforceSso' and outcome = 'done'`;
    t.is(entries.length, 1);
  },
);

test.serial(
  'console A41, A13 (faults 14): then members of the domain get in by the provider alone: not by password, not by a switch, not with a login of before; guests and break-glass owners do',
  async (t) => {
    const of = await withLead();
    const { boss, organization, enforce, who, connection, lead } = of;
    const member = await ofDomain(of);
    const elsewhere = await cloud.organization();
    const both = await ofDomain(of);
    await cloud.join(both, elsewhere, 'viewer');
    const guest = await cloud.person();
    await cloud.join(guest, organization, 'viewer');
    const before = await raw(cloud.url, 'POST', '/v1/auth/login', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: member.email, password: member.password, totp: await freshCode(member) }),
    });
    const token = before.json.data.accessToken as string;
    t.is(reasonOf(await as(token).call('listMembers')), 'done');
    t.is(reasonOf(await enforce()), 'done');
    t.deepEqual(reasonOf(await as(token).call('listMembers')), REQUIRED, 'at once on this node');
    t.deepEqual(reasonOf(await createClient({ baseUrl: there.url, bearer: token }).call('listMembers')), REQUIRED);
    t.is(reasonOf(await as(token).call('getMe')), 'done', 'who they are is their own');
    const cookie = before.headers
      .getSetCookie()
      .find((one) => one.startsWith('flock_refresh='))!
      .split(';')[0]!;
    const renewed = await raw(cloud.url, 'POST', '/v1/auth/refresh', { headers: { cookie } });
    t.like(renewed.json.data, { organizationId: null, role: null });
    t.deepEqual(reasonOf(await logIn(member)), REQUIRED);
    t.deepEqual(reasonOf(await logIn(member, organization.id)), REQUIRED);
    t.like(await logIn({ ...member, password: 'wrong' }), { code: 'UNAUTHORIZED' }, 'nobody learns it who is not them');
    const twofold = (await logIn(both)) as { accessToken: string; organizationId: string };
    t.is(twofold.organizationId, elsewhere.id, 'the other organization is theirs as before');
    t.deepEqual(
      reasonOf(await as(twofold.accessToken).call('switchOrganization', { body: { organizationId: organization.id } })),
      REQUIRED,
    );
    t.is(reasonOf(await logIn(guest, organization.id)), 'done', 'an email of another domain');
    const [owner2] = [await cloud.person()];
    await cloud.join(owner2, organization, 'owner');
    t.is(reasonOf(await logIn(boss, organization.id)), 'done');
    for (const { email } of [boss, lead, owner2]) {
      const [letter] = await letters.to(email, 'without single sign-on');
      t.true(letter!.text.includes(boss.email), letter!.text);
    }
    t.is(letters.all().filter(({ to, subject }) => to === guest.email && subject.includes('single sign-on')).length, 0);
    const bySso = await arrive(who, connection.id);
    t.is(reasonOf(await as(bySso.data.accessToken).call('listMembers')), 'done');
    t.is(
      letters.all().filter(({ text, subject }) => subject.includes('without') && text.includes(lead.email)).length,
      0,
    );
    // Who came by the provider once does not get round it by another email.
    const came = person(of.domain);
    const id = (await as((await arrive(came, connection.id)).data.accessToken).must('getMe')).id;
    await sql()`update flock.console_user set email = ${`private-${id}@elsewhere.example`} where id = ${id}`;
    t.is((await cloud.identity.userById(id))!.memberships[0]!.ssoRequired, 'oidc');
    const refused = await sql()`
      select text from flock.audit_entry where organization_id = ${organization.id} and action = 'login' and outcome = 'refused'`;
    t.is(refused.length, 2);
  },
);

test.serial('console A35, A41: on a free plan, and when an owner ends it, passwords work again', async (t) => {
  const of = await withLead();
  const member = await ofDomain(of);
  t.is(reasonOf(await of.enforce()), 'done');
  t.deepEqual(reasonOf(await logIn(member)), REQUIRED);
  const byBoss = { bearer: await signIn(of.boss), who: of.boss };
  t.is(reasonOf(await of.enforce({ enforced: false }, byBoss)), 'done', 'by any owner: also who did not come by it');
  t.is(reasonOf(await logIn(member)), 'done');
  t.is(reasonOf(await of.enforce()), 'done');
  t.deepEqual(reasonOf(await logIn(member)), REQUIRED);
  const admin = as(await cloud.signIn(await cloud.person({ admin: true })));
  await admin.must('setPlan', { params: { accountId: of.organization.live.accountId }, body: { tier: 'free' } });
  t.is(reasonOf(await logIn(member)), 'done');
  t.like(await of.enforce(), { code: 'TIER_FEATURE_LOCKED' });
});

test.serial(
  'console A41 (faults 14): nobody takes the last owner away who gets in without the provider: no removal, no demotion, no handing over, no lost factor, not by SQL either, nor two at once',
  async (t) => {
    const of = await withLead();
    const { boss, organization, enforce, bearer, lead } = of;
    t.is(reasonOf(await enforce()), 'done');
    const theirs = as(bearer);
    const LAST = ['CONFLICT', 'break_glass'];
    const params = { userId: boss.id };
    t.deepEqual(reasonOf(await theirs.call('removeMember', { params })), LAST);
    t.deepEqual(reasonOf(await theirs.call('changeMember', { params, body: { role: 'editor' } })), LAST);
    const own = as(await signIn(boss));
    t.deepEqual(reasonOf(await own.call('removeMember', { params })), LAST, 'nor do they leave');
    const handing = { userId: lead.id, then: 'viewer' as const, totp: await freshCode(boss) };
    t.deepEqual(
      reasonOf(await own.call('transferOrganization', { params: { id: organization.id }, body: handing })),
      LAST,
    );
    t.deepEqual(reasonOf(await own.call('disableTotp', { body: { totp: await freshCode(boss) } })), LAST);
    const kept = { constraint_name: 'break_glass_kept' };
    const { id } = boss;
    for (const attack of [
      () => sql()`delete from flock.membership where user_id = ${id}`,
      () => sql()`update flock.membership set role = 'viewer' where user_id = ${id}`,
      () => sql()`update flock.membership set break_glass = false where user_id = ${id}`,
      () => sql()`update flock.console_user set totp_confirmed = false where id = ${id}`,
      () => sql()`update flock.console_user set has_password = false where id = ${id}`,
    ])
      t.like(await t.throwsAsync(attack), kept);
    const open = await withLead();
    t.like(
      await t.throwsAsync(
        () => sql()`update flock.sso_connection set enforced_at = now() where id = ${open.connection.id}`,
      ),
      kept,
      'nor is it enforced while nobody is named',
    );
    // Two of them: each takes the other away at the same time, by another way.
    const second = await cloud.person();
    await cloud.join(second, organization, 'owner');
    for (let round = 0; round < 5; round += 1) {
      t.is(reasonOf(await enforce({ breakGlass: [boss.id, second.id] })), 'done');
      const outcomes = await Promise.allSettled([
        sql()`update flock.console_user set totp_confirmed = false where id = ${boss.id}`,
        sql()`update flock.membership set role = 'editor' where user_id = ${second.id}`,
      ]);
      t.is(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
      await sql()`update flock.console_user set totp_confirmed = true where id = ${boss.id}`;
      await sql()`update flock.membership set role = 'owner' where user_id = ${second.id}`;
    }
    // Enforced while the one who was named loses the factor: one of the two happens.
    for (let round = 0; round < 5; round += 1) {
      await enforce({ enforced: false });
      const [done] = await Promise.all([
        enforce({ breakGlass: [boss.id] }),
        sql()`update flock.console_user set totp_confirmed = false where id = ${boss.id}`.catch(() => null),
      ]);
      const [{ bad }] = (await sql()`
        select exists (select from flock.sso_connection c where c.organization_id = ${organization.id} and c.enforced_at is not null)
           and not (select u.totp_confirmed from flock.console_user u where u.id = ${boss.id}) as bad`) as unknown as [
        { bad: boolean },
      ];
      t.false(bad, JSON.stringify(done));
      await enforce({ enforced: false });
      await sql()`update flock.console_user set totp_confirmed = true where id = ${boss.id}`;
    }
    t.is(await memberOf(organization, boss.id), 'owner');
  },
);

test.serial(
  'console A31, A41 (faults 3): an invitation under enforced single sign-on wants no password: its page leads to the provider, and who came by that accepts with the role that was offered',
  async (t) => {
    const of = await withLead();
    const { organization, enforce, connection, domain } = of;
    t.is(reasonOf(await enforce()), 'done');
    const who = person(domain);
    t.is(reasonOf(await of.owner.call('createInvitation', { body: { email: who.email, role: 'editor' } })), 'done');
    const [letter] = await letters.to(who.email, 'Invitation');
    const open = createClient({ baseUrl: cloud.url });
    const token = letter!.token!;
    t.like(await open.call('lookAtInvitation', { body: { token } }), { known: false, sso: true });
    const password = `a long new password ${newDomain()}`;
    t.deepEqual(reasonOf(await open.call('joinByInvitation', { body: { token, password } })), REQUIRED);
    const came = await arrive(who, connection.id, { at: browser() });
    t.like(came.data, { role: 'viewer' });
    const accepted = await as(came.data.accessToken).call('acceptInvitation', { body: { token } });
    t.like(accepted, { role: 'editor', organizationId: organization.id });
    const { id } = await as(came.data.accessToken).must('getMe');
    t.is(await memberOf(organization, id), 'editor');
  },
);

test.serial(
  'console A41 (faults 14): who never came by the provider does not get round it by another email: not with a login of before, not by a second organization, not by a link that was asked for before',
  async (t) => {
    const of = await withLead();
    const { organization, enforce, domain, boss } = of;
    const [gone, both, early] = [await ofDomain(of), await ofDomain(of), await ofDomain(of)];
    await cloud.join(both, await cloud.organization(), 'viewer');
    const [before, asEarly] = [as(await signIn(gone)), as(await signIn(early))];
    const elsewhere = (n: number) => `e${n}-${randomBytes(4).toString('hex')}@elsewhere.example`;
    const asks = async (who: Person, by: typeof before, email: string) =>
      by.call('changeEmail', { body: { email, totp: await freshCode(who) } });
    const early1 = elsewhere(1);
    t.is(reasonOf(await asks(early, asEarly, early1)), 'done');
    const [link] = await letters.to(early1, 'Confirm your new email');
    t.is(reasonOf(await enforce()), 'done');
    const open = createClient({ baseUrl: cloud.url });
    t.deepEqual(reasonOf(await open.call('confirmEmail', { body: { token: link!.token! } })), REQUIRED);
    t.deepEqual(reasonOf(await asks(gone, before, elsewhere(2))), REQUIRED);
    t.deepEqual(reasonOf(await asks(both, as(await signIn(both)), elsewhere(3))), REQUIRED);
    for (const { id } of [gone, both, early])
      t.true((await cloud.identity.userById(id))!.memberships.some((one) => one.ssoRequired === 'oidc'));
    t.is(
      reasonOf(await asks(gone, before, `other-${gone.id.slice(-8).toLowerCase()}@${domain}`)),
      'done',
      'one of the domain',
    );
    t.is(reasonOf(await asks(boss, as(await signIn(boss)), elsewhere(4))), 'done', 'who gets in without it anyway');
    t.is(await memberOf(organization, gone.id), 'editor');
  },
);

test.serial(
  'console A38, A41 (faults 14): an operator who sets SSO_OIDC=off shuts nobody out without a word: the log, each refusal and the provider page name the setting and the way of the emergency owner, who gets in and ends it',
  async (t) => {
    const of = await withLead();
    const member = await ofDomain(of);
    const before = await signIn(member);
    t.is(reasonOf(await of.enforce()), 'done');
    const from = cloud.lines.length;
    const closed = await cloud.another('closed', { SSO_OIDC: 'off' });
    try {
      const said = cloud.lines
        .slice(from)
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .find(({ msg }) => String(msg).includes('SSO_OIDC=off shuts members'));
      t.like(said, { setting: 'SSO_OIDC', level: 'warn' });
      t.true((said?.['count'] as number) >= 1);
      const at = (bearer?: string) =>
        createClient({ baseUrl: closed.url, ...(bearer === undefined ? {} : { bearer }) });
      const names = (answer: unknown, reason = 'sso_required') => {
        const { code, details } = answer as { code: string; details: Record<string, string> };
        t.deepEqual([code, details['reason'], details['setting']], ['FORBIDDEN', reason, 'SSO_OIDC']);
        t.regex(details['next']!, /an owner who is named for emergencies signs in by password and second factor/);
        t.regex(details['next']!, /SSO_OIDC=on/);
      };
      const logInThere = async (who: Person, organizationId?: string) =>
        at().call('login', {
          body: {
            ...{ email: who.email, password: who.password, totp: await freshCode(who) },
            ...(organizationId === undefined ? {} : { organizationId }),
          },
        });
      names(await logInThere(member));
      names(await logInThere(member, of.organization.id));
      names(await at(before).call('listMembers'));
      const { connectionId } = await at().must('discoverSso', { body: { email: member.email } });
      t.is(connectionId, of.connection.id, 'the page is led to the refusal that says why');
      names(await at().call('startSso', { body: { connectionId: connectionId! } }), 'sso_off');
      t.is((await of.owner.must('listSsoConnections')).content[0]?.closedBy, null);
      const boss = (await logInThere(of.boss, of.organization.id)) as { accessToken: string };
      t.is((await at(boss.accessToken).must('listSsoConnections')).content[0]?.closedBy, 'SSO_OIDC');
      const params = { id: of.connection.id };
      const again = await at(boss.accessToken).call('enforceSso', {
        params,
        body: { enforced: true, breakGlass: [of.boss.id], totp: await freshCode(of.boss) },
      });
      t.like(again, { code: 'FORBIDDEN', details: { reason: 'sso_off', setting: 'SSO_OIDC' } });
      const ended = await at(boss.accessToken).call('enforceSso', {
        params,
        body: { enforced: false, totp: await freshCode(of.boss) },
      });
      t.like(ended, { enforcedAt: null });
      t.is(reasonOf(await logInThere(member)), 'done');
      const unforced = await at().call('startSso', { body: { connectionId: connectionId! } });
      t.like(unforced, { details: { reason: 'sso_off', setting: 'SSO_OIDC' } });
    } finally {
      await closed.stop();
    }
  },
);

test.serial(
  'console A35: before an owner leaves for the free plan they are told that single sign-on ends',
  async (t) => {
    const { owner, connection } = await withSso();
    const loses = async (tier: 'free' | 'premium') => (await owner.must('previewPlan', { query: { tier } })).loses;
    t.deepEqual(await loses('free'), ['sso']);
    t.deepEqual(await loses('premium'), []);
    await owner.must('removeSsoConnection', { params: { id: connection.id } });
    t.deepEqual(await loses('free'), [], 'nothing that is used');
  },
);
