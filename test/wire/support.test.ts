import test from 'ava';
import { createClient } from '../../protocol/client.ts';
import { mailbox } from '../support/letters.ts';
import { constraintOf } from '../../persistence/postgres/sql.ts';
import type { Hint } from '../../protocol/stream.ts';
import { eventually, startTestCloud, type Person, type TestOrganization } from '../support/gateway.ts';

const letters = mailbox();
const cloud = await startTestCloud({ MAIL_DIR: letters.directory });

const HOUR_MS = 3_600_000;
const staff = await cloud.person({ admin: true });
const asBearer = (bearer: string, environment: 'live' | 'sandbox' = 'live') =>
  createClient({ baseUrl: cloud.url, bearer, environment });
const asStaff = asBearer(await cloud.signIn(staff));
test.after.always(() => cloud.stop());

const ownerOf = async ({ owner }: TestOrganization) => asBearer(await cloud.signIn(owner));
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const begin = ({ id: organizationId }: { id: string }, environment: 'live' | 'sandbox' = 'live') => ({
  body: { organizationId, environment, reason: 'ticket 4711: a deposit\u2028is missing' },
});
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());

test('console A45: without consent of an owner nobody reads; consent has an end within 7 days and may be taken back', async (t) => {
  const organization = await cloud.organization();
  const owner = await ownerOf(organization);
  const none = { code: 'IMPERSONATION_FORBIDDEN', details: { reason: 'no_consent' } };
  t.like(await asStaff.call('startSupportSession', begin(organization)), none);
  t.like(await asStaff.call('startSupportSession', begin({ id: `org_${'a'.repeat(26)}` })), { code: 'NOT_FOUND' });
  for (const until of [inMs(-1_000), inMs(7 * 24 * HOUR_MS + 60_000)])
    t.like(await owner.call('setSupportAccess', { body: { until } }), {
      code: 'INVALID_INPUT',
      details: { field: 'body.until' },
    });
  t.like(await owner.must('getSupportAccess'), { until: null, sessions: [] });
  const until = inMs(HOUR_MS);
  t.like(await owner.must('setSupportAccess', { body: { until } }), { until });
  const begun = await asStaff.must('startSupportSession', begin(organization));
  t.false((await asBearer(begun.accessToken).must('listMembers')).content.length === 0);
  t.like(await owner.must('setSupportAccess', { body: { until: null } }), { until: null });
  t.like(await asBearer(begun.accessToken).call('listMembers'), { code: 'UNAUTHORIZED' });
  t.like(await asStaff.call('startSupportSession', begin(organization)), none);
  t.truthy((await owner.must('getSupportAccess')).sessions[0]!.endedAt, 'its open sessions ended with it');
});

test('console A45: a session is of an hour, a viewer of one environment, and writes nothing; any owner ends it at once', async (t) => {
  const organization = await cloud.organization();
  const owner = await ownerOf(organization);
  await owner.must('setSupportAccess', { body: { until: inMs(HOUR_MS) } });
  const begun = await asStaff.must('startSupportSession', begin(organization, 'sandbox'));
  const claims = claimsOf(begun.accessToken);
  t.like(claims, { act: { sub: staff.id }, sup: begun.id, org_id: organization.id, org_role: 'viewer' });
  t.is(claims.platform_role, undefined);
  t.true(claims.exp - claims.iat <= 3_600 && Date.parse(begun.endsAt) <= Date.now() + HOUR_MS);
  const reads = asBearer(begun.accessToken, 'sandbox');
  t.like(await reads.must('listAddresses'), { content: [] });
  t.like(await reads.call('createAddress', { body: { chain: 'eth', userRef: 'u' } }), {
    code: 'IMPERSONATION_READ_ONLY',
  });
  t.like(await reads.call('listActors', { query: {} }), { code: 'IMPERSONATION_FORBIDDEN' });
  t.like(await reads.call('listAuditLog'), { code: 'IMPERSONATION_FORBIDDEN', details: { reason: 'closed' } });
  t.like(await asBearer(begun.accessToken, 'live').call('listAddresses'), {
    code: 'IMPERSONATION_FORBIDDEN',
    details: { reason: 'environment' },
  });
  t.like(await reads.call('switchOrganization', { body: { organizationId: organization.id } }), {
    code: 'IMPERSONATION_READ_ONLY',
  });
  const second = await cloud.person();
  await cloud.join(second, organization, 'owner');
  const other = asBearer(await cloud.signIn(second));
  const stranger = await ownerOf(await cloud.organization());
  t.like(await stranger.call('endSupportSession', { params: { id: begun.id } }), { code: 'NOT_FOUND' });
  t.deepEqual(await other.must('endSupportSession', { params: { id: begun.id } }), { id: begun.id, ended: true });
  t.like(await reads.call('listAddresses'), { code: 'UNAUTHORIZED' });
  t.like(await other.call('endSupportSession', { params: { id: begun.id } }), { code: 'NOT_FOUND' });
});

test('console A45 (faults 18: acts of staff logged as those of the user): both names are in the log, and each owner is mailed', async (t) => {
  const organization = await cloud.organization();
  const second: Person = await cloud.person();
  await cloud.join(second, organization, 'owner');
  const owner = await ownerOf(organization);
  await owner.must('setSupportAccess', { body: { until: inMs(HOUR_MS) } });
  const begun = await asStaff.must('startSupportSession', begin(organization));
  await asBearer(begun.accessToken).call('archiveAddress', { params: { id: `adr_${'a'.repeat(26)}` } });
  const { content } = await owner.must('listAuditLog');
  const started = content.find(({ action }) => action === 'startSupportSession')!;
  t.like(started, { target: begun.id, actor: { kind: 'admin', id: staff.id, name: staff.email }, outcome: 'done' });
  t.deepEqual(started.changes?.['environment'], [null, 'live']);
  t.like(
    content.find(({ action }) => action === 'setSupportAccess'),
    { actor: { kind: 'user', name: organization.owner.email } },
  );
  t.false(content.some(({ actor }) => actor.kind === 'user' && actor.id === staff.id));
  for (const { email } of [organization.owner, second]) {
    const [letter] = await letters.to(email, 'Staff reads');
    t.true(letter!.text.includes(staff.email) && letter!.text.includes('ticket 4711: a deposit is missing'));
  }
});

test('console A45: a token that names a session of somebody else, or ends later than it, proves nothing; an administrator no more reads no more', async (t) => {
  const organization = await cloud.organization();
  const owner = await ownerOf(organization);
  await owner.must('setSupportAccess', { body: { until: inMs(HOUR_MS) } });
  const former = await cloud.person({ admin: true });
  const begun = await asBearer(await cloud.signIn(former)).must('startSupportSession', begin(organization));
  const reads = asBearer(begun.accessToken);
  t.false('code' in (await reads.call('listMembers')));
  const sql = cloud.database.owner;
  await sql`update flock.console_user set platform_role = null where id = ${former.id}`;
  t.like(await reads.call('listMembers'), { code: 'UNAUTHORIZED' });
  // No session is made longer, opened again or moved, by the owner of the schema neither.
  for (const change of [
    sql`update flock.support_session set ends_at = ends_at + interval '1 minute' where id = ${begun.id}`,
    sql`update flock.support_session set organization_id = ${organization.id}, admin_id = ${staff.id} where id = ${begun.id}`,
  ])
    t.is(constraintOf(await change.catch((error: unknown) => error)), 'support_session_ended_once');
  await owner.must('endSupportSession', { params: { id: begun.id } });
  const again = sql`update flock.support_session set ended_at = null where id = ${begun.id}`;
  t.is(constraintOf(await again.catch((error: unknown) => error)), 'support_session_ended_once');
});

test('console A45, A12: a session ends with the login of staff that it began in', async (t) => {
  const organization = await cloud.organization();
  const owner = await ownerOf(organization);
  await owner.must('setSupportAccess', { body: { until: inMs(HOUR_MS) } });
  const own = await cloud.person({ admin: true });
  const theirs = asBearer(await cloud.signIn(own));
  const begun = await theirs.must('startSupportSession', begin(organization));
  const reads = asBearer(begun.accessToken);
  t.false((await reads.must('listMembers')).content.length === 0);
  const [login] = (await theirs.must('listLogins')).content;
  await theirs.must('endLogin', { params: { id: login!.id } });
  t.like(await reads.call('listMembers'), { code: 'UNAUTHORIZED' });
});

test('console A45, C13: a session of staff hears what happens in the account, and nothing of members and keys', async (t) => {
  const organization = await cloud.organization();
  const owner = await ownerOf(organization);
  await owner.must('setSupportAccess', { body: { until: inMs(HOUR_MS) } });
  const begun = await asStaff.must('startSupportSession', begin(organization));
  const stopping = new AbortController();
  const heard: { staff: Hint[]; owner: Hint[] } = { staff: [], owner: [] };
  const listening = [
    asBearer(begun.accessToken).listen((hint) => heard.staff.push(hint), { signal: stopping.signal }),
    owner.listen((hint) => heard.owner.push(hint), { signal: stopping.signal }),
  ];
  const hears = (who: keyof typeof heard, topic: string) =>
    eventually(
      `${who} hears of ${topic}`,
      async () => heard[who].map((hint) => hint.topic),
      (topics) => (topics as string[]).includes(topic),
    );
  await Promise.all([hears('staff', 'open'), hears('owner', 'open')]);
  await owner.must('createInvitation', { body: { email: `x${Date.now()}@example.com`, role: 'viewer' } });
  await hears('owner', 'member');
  await owner.must('createWebhook', { body: { url: 'https://example.com/x', events: ['deposit_detected'] } });
  await hears('staff', 'webhook');
  t.false(heard.staff.some(({ topic }) => topic === 'member' || topic === 'key'));
  stopping.abort();
  await Promise.allSettled(listening);
});

test('found F60, console A45: the schema lets no session begin in time to come, whoever writes it', async (t) => {
  const organization = await cloud.organization();
  const begins = (at: string) =>
    cloud.database.sql.unsafe(
      `insert into support_session (id, organization_id, environment, admin_id, reason, created_at, ends_at)
       values ('sup_${at.length}', '${organization.id}', 'live', '${staff.id}', 'x', ${at}, ${at} + interval '60 minutes')`,
    );
  t.is(constraintOf(await t.throwsAsync(begins("now() + interval '1 year'"))), 'support_session_begins_now');
  await t.notThrowsAsync(begins("now() + interval '1 minute'"));
});
