import { randomBytes } from 'node:crypto';
import test from 'ava';
import { createClient } from '../../protocol/client.ts';
import { constraintOf } from '../../persistence/postgres/sql.ts';
import type { OrgRole } from '../../protocol/slugs.ts';
import { codeOf, raw, startTestCloud, type Person } from '../support/gateway.ts';
import { mailbox } from '../support/letters.ts';
import { startRedis } from '../support/redis.ts';

const letters = mailbox();
const CLUSTER = { CLUSTER_SECRET: randomBytes(32).toString('hex'), INTERNAL_PORT: '0' };
const closes: (() => Promise<void>)[] = [];
// Both nodes count the letters to a mailbox; without Redis each of them would let half of them through.
const redis = await startRedis({ teardown: (close) => void closes.push(close) });
const cloud = await startTestCloud({
  REDIS_URL: redis.url,
  MAIL_DIR: letters.directory,
  TRUSTED_PROXIES: '127.0.0.1',
  PUBLIC_URL: 'http://cloud.test',
  ...CLUSTER,
});
const closed = await cloud.another('closed', { SIGN_UP: 'closed' });
test.after.always(async () => {
  await closed.stop();
  await cloud.stop();
  for (const close of closes) await close();
});

let addresses = 0;
const newAddress = () => `203.1.${(addresses += 1) >> 8}.${addresses & 255}`;
const post = (path: string, body: object, headers: Record<string, string> = {}, url = cloud.url) =>
  raw(url, 'POST', `/v1/auth/${path}`, {
    headers: { 'content-type': 'application/json', 'x-forwarded-for': newAddress(), ...headers },
    body: JSON.stringify(body),
  });
const asBearer = (bearer: string) => createClient({ baseUrl: cloud.url, bearer });
const PASSWORD = 'seven grey herons wade upstream';
let emails = 0;
const newEmail = () => `guest-${(emails += 1)}-${process.pid}@example.com`;
const tokenOf = async (who: Person) => {
  const body = { email: who.email, password: who.password, ...(who.totpSecret === '' ? {} : { totp: codeOf(who) }) };
  return (await post('login', body)).json.data.accessToken as string;
};
/** An organization, its owner's client, and how it invites. */
async function company() {
  const organization = await cloud.organization();
  const client = asBearer(await tokenOf(organization.owner));
  const invite = (email: string, role: OrgRole = 'editor') =>
    client.must('createInvitation', { body: { email, role } });
  /** The link of the newest of `count` letters. */
  const linkOf = async (email: string, count = 1, before: readonly string[] = []) =>
    (await letters.to(email, 'Invitation to', count)).map(({ token }) => token!).find((one) => !before.includes(one))!;
  return { organization, client, invite, linkOf };
}
const accept = (bearer: string, token: string) =>
  post('invitations/accept', { token }, { authorization: `Bearer ${bearer}` });
const problemOf = ({ status, json }: Awaited<ReturnType<typeof post>>) => [
  status,
  json.error.code,
  json.error.details['reason'],
];

test('console A30, A31: somebody new opens the link, sees what it is to, sets a password and is a member; the link is good once', async (t) => {
  const { client, invite, linkOf, organization } = await company();
  const email = newEmail();
  const made = await invite(email.toUpperCase(), 'editor');
  t.like(made, { email, role: 'editor', status: 'pending' });
  t.regex(made.id, /^ivt_[a-z2-7]{26}$/);
  const token = await linkOf(email);
  const [letter] = await letters.to(email, 'Invitation to');
  t.true(letter!.text.includes(organization.owner.email));
  const look = () => post('invitations/look', { token });
  t.deepEqual((await look()).json.data, {
    organization: `Organization ${organization.id}`,
    email,
    role: 'editor',
    known: false,
    sso: false,
  });
  t.is((await look()).status, 200, 'looking spends nothing');
  t.deepEqual(problemOf(await post('invitations/join', { token, password: 'Organization Organization' })), [
    400,
    'INVALID_INPUT',
    'context',
  ]);
  const all = await Promise.all(
    Array.from({ length: 5 }, () => post('invitations/join', { token, password: PASSWORD })),
  );
  t.is(all.filter(({ status }) => status === 200).length, 1);
  const done = all.find(({ status }) => status === 200)!;
  t.like(done.json.data, { organizationId: organization.id, role: 'editor' });
  t.deepEqual(problemOf(await look()), [409, 'CONFLICT', 'used']);
  const members = (await client.must('listMembers')).content;
  t.like(
    members.find((one) => one.email === email),
    { role: 'editor' },
  );
  t.like((await client.must('listInvitations')).content[0], { id: made.id, status: 'accepted' });
  const log = (await client.must('listAuditLog', { query: { action: 'joinByInvitation' } })).content;
  t.like(log[0], { outcome: 'done', target: made.id });
});

test('console A31: an invitation opened as somebody else is refused and untouched; the invited person accepts it, twice at once once', async (t) => {
  const { invite, linkOf, organization, client } = await company();
  const [invited, other] = [await cloud.person(), await cloud.person()];
  await invite(invited.email, 'viewer');
  const token = await linkOf(invited.email);
  const wrong = await accept(await tokenOf(other), token);
  t.deepEqual(problemOf(wrong), [403, 'FORBIDDEN', 'other_email']);
  t.is(wrong.json.error.details['invited'], `${invited.email[0]}…@example.com`);
  t.deepEqual(problemOf(await post('invitations/join', { token, password: PASSWORD })), [409, 'CONFLICT', 'known']);
  t.is((await post('invitations/look', { token })).json.data.known, true);
  const bearer = await tokenOf(invited);
  const both = await Promise.all([accept(bearer, token), accept(bearer, token)]);
  t.deepEqual(both.map(({ status }) => status).sort(), [200, 409]);
  t.is((await client.must('listMembers')).content.filter(({ email }) => email === invited.email).length, 1);
  const moved = await asBearer(bearer).must('switchOrganization', { body: { organizationId: organization.id } });
  t.like(moved, { role: 'viewer' });
  t.like(await client.call('createInvitation', { body: { email: invited.email, role: 'editor' } }), {
    code: 'CONFLICT',
    details: { reason: 'member' },
  });
});

test('console A9, A30: replaced, revoked, expired, renewed; a member who was removed is invited again', async (t) => {
  const { client, invite, linkOf } = await company();
  const who = await cloud.person();
  const bearer = await tokenOf(who);
  const first = await invite(who.email);
  const old = await linkOf(who.email);
  const second = await client.must('inviteMember', { body: { email: who.email, role: 'viewer' } });
  const newer = await linkOf(who.email, 2, [old]);
  t.deepEqual(problemOf(await accept(bearer, old)), [409, 'CONFLICT', 'replaced']);
  t.like(
    (await client.must('listInvitations')).content.find(({ id }) => id === first.id),
    { status: 'replaced' },
  );
  t.like(await client.must('revokeInvitation', { params: { id: second.id } }), { status: 'revoked' });
  t.deepEqual(problemOf(await accept(bearer, newer)), [409, 'CONFLICT', 'revoked']);
  for (const operation of ['revokeInvitation', 'resendInvitation'] as const)
    t.like(await client.call(operation, { params: { id: second.id } }), {
      code: 'CONFLICT',
      details: { reason: 'revoked' },
    });
  const third = await invite(who.email);
  const late = await linkOf(who.email, 3, [old, newer]);
  await cloud.database.owner`update flock.invitation set expires_at = now() where id = ${third.id}`;
  t.deepEqual(problemOf(await accept(bearer, late)), [409, 'CONFLICT', 'expired']);
  t.like(
    (await client.must('listInvitations')).content.find(({ id }) => id === third.id),
    { status: 'expired' },
  );
  t.like(await client.must('resendInvitation', { params: { id: third.id } }), { status: 'pending' });
  const again = await linkOf(who.email, 4, [old, newer, late]);
  t.is((await accept(bearer, late)).status, 404, 'the link of before names nothing');
  t.is((await accept(bearer, again)).status, 200);
  await client.must('removeMember', { params: { userId: who.id } });
  t.like(await invite(who.email), { status: 'pending' });
});

test('console A30: to invite an owner needs a fresh factor; an inviter who is no owner any more has none open; other organizations see none', async (t) => {
  const { client, invite, linkOf, organization } = await company();
  const weak = await cloud.person({ totp: false });
  await cloud.join(weak, organization, 'owner');
  const asWeak = asBearer(await tokenOf({ ...weak, totpSecret: '' }));
  const guest = newEmail();
  t.like(await asWeak.call('createInvitation', { body: { email: guest, role: 'owner' } }), {
    code: 'TOTP_REQUIRED',
    details: { reason: 'not_enrolled' },
  });
  t.like(await invite(newEmail(), 'owner'), { role: 'owner' });
  const theirs = await asWeak.must('createInvitation', { body: { email: guest, role: 'editor' } });
  const token = await linkOf(guest);
  const stranger = (await company()).client;
  for (const operation of ['revokeInvitation', 'resendInvitation'] as const)
    t.like(await stranger.call(operation, { params: { id: theirs.id } }), { code: 'NOT_FOUND' });
  t.is((await stranger.must('listInvitations')).content.length, 0);
  await client.must('changeMember', { params: { userId: weak.id }, body: { role: 'editor' } });
  t.deepEqual(problemOf(await post('invitations/join', { token, password: PASSWORD })), [409, 'CONFLICT', 'revoked']);
  t.like(await asWeak.call('createInvitation', { body: { email: guest, role: 'editor' } }), { code: 'FORBIDDEN' });
});

test('console A26: fifty open invitations and 200 members, of twenty for the last place one has it; letters above twenty an hour are not sent and nobody learns it', async (t) => {
  const { client, organization } = await company();
  const { owner: database } = cloud.database;
  await database`
    insert into flock.invitation (id, organization_id, email, role, hash, invited_by, created_at, expires_at)
      select 'ivt_' || i, ${organization.id}, 'open-' || i || '@example.com', 'viewer',
             encode(sha256((${organization.id} || i)::bytea), 'hex'), ${organization.owner.id}, now(), now() + interval '1 day'
        from generate_series(1, 49) i`;
  const made = await Promise.all(
    Array.from({ length: 20 }, () => client.call('createInvitation', { body: { email: newEmail(), role: 'viewer' } })),
  );
  t.is(made.filter((one) => 'status' in one).length, 1);
  t.like(
    made.find((one) => 'code' in one),
    { code: 'CONFLICT', details: { reason: 'limit', limit: 50 } },
  );
  const members = await database`
    with people as (
      insert into flock.console_user (id, email, password_hash)
        select 'usr_full' || i, 'full-' || i || '@example.com', 'x' from generate_series(1, 199) i returning id)
    select id from people`;
  for (const { id } of members)
    await database`insert into flock.membership (user_id, organization_id, role) values (${id}, ${organization.id}, 'viewer')`;
  const last = await cloud.person();
  const error = await t.throwsAsync(cloud.join(last, organization, 'viewer'));
  t.is(constraintOf(error), 'membership_limit');
});

test('console A6: where SIGN_UP is closed an invitation makes no user', async (t) => {
  const { invite, linkOf } = await company();
  const email = newEmail();
  await invite(email);
  const token = await linkOf(email);
  t.deepEqual(problemOf(await post('invitations/join', { token, password: PASSWORD }, {}, closed.url)), [
    403,
    'FORBIDDEN',
    'sign_up',
  ]);
  t.is((await post('invitations/join', { token, password: PASSWORD })).status, 200);
});
