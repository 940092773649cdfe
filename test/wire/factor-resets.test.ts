import test from 'ava';
import { factorResetRound } from '../../gateway/http/auth/factor-reset-round.ts';
import { createFactorResetStore } from '../../persistence/postgres/factor-reset-store.ts';
import { constraintOf } from '../../persistence/postgres/sql.ts';
import { createClient } from '../../protocol/client.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { codeOf, enrol, startTestCloud, type Person } from '../support/gateway.ts';
import { mailbox } from '../support/letters.ts';

const letters = mailbox();
const cloud = await startTestCloud({ MAIL_DIR: letters.directory, ETH_RPC_URLS: 'http://127.0.0.1:9' });
const open = createClient({ baseUrl: cloud.url });
const as = (bearer: string) => createClient({ baseUrl: cloud.url, bearer });
const [one, two] = [await cloud.person({ admin: true }), await cloud.person({ admin: true })];
const [first, second] = [as(await cloud.signIn(one)), as(await cloud.signIn(two))];
const resets = createFactorResetStore(cloud.database.sql);
test.after.always(() => cloud.stop());
const HOUR_MS = 3_600_000;
const REASON = 'ticket 4711, called back';

const ask = (email: string, reason = REASON) => first.call('askFactorReset', { body: { email, reason } });
const askedFor = async ({ email }: Pick<Person, 'email'>) => {
  const answer = await ask(email);
  if (isRefusal(answer)) throw new Error(JSON.stringify(answer));
  return answer;
};
const confirmed = async (who: Person) =>
  second.must('confirmFactorReset', { params: { id: (await askedFor(who)).id } });
const signIn = (who: Person, more: object = {}) =>
  open.call('login', { body: { email: who.email, password: who.password, ...more } });
const entriesOf = async (organizationId: string, target: string) =>
  (
    await cloud.database.owner<{ action: string; kind: string; actor: string }[]>`
      select action, text::jsonb -> 'actor' ->> 'kind' as kind, actor from flock.audit_entry
       where organization_id = ${organizationId} and target = ${target} order by seq`
  ).map((row) => ({ ...row }));

test.serial(
  'console A25: one administrator asks, another confirms, 72 hours later every factor is gone, also of an owner of live addresses; the person is told each day',
  async (t) => {
    const organization = await cloud.organization();
    const { owner, id: organizationId } = organization;
    const bearer = await cloud.signIn(owner);
    await as(bearer).must('makeRecoveryCodes', { body: {} });
    await enrol(cloud, organization.live);
    await organization.live.client.must('createAddress', { body: { chain: 'eth', userRef: 'u' } });
    await cloud.database.owner`
    insert into flock.passkey (id, user_id, credential, public_key, counter, name, created_at)
    values (${`psk_${owner.id}`}, ${owner.id}, ${owner.id}, 'x', 0, 'key', now())`;

    const asked = await askedFor(owner);
    t.like(asked, { email: owner.email, userId: owner.id, status: 'asked', reason: REASON, askedBy: one.email });
    t.like(asked, { confirmedBy: null, dueAt: null, endedAt: null, cancelledBy: null });
    const [said] = await letters.to(owner.email, 'Somebody asked to take your second factors away');
    t.true(said!.text.includes(REASON) && said!.text.includes(one.email));
    t.is(await factorResetRound(resets, Date.now() + 6 * 24 * HOUR_MS), 0, 'nothing happens before it is confirmed');
    const scheduled = await second.must('confirmFactorReset', { params: { id: asked.id } });
    t.like(scheduled, { status: 'scheduled', confirmedBy: two.email });
    const waits = Date.parse(scheduled.dueAt!) - Date.now();
    t.true(waits > 71 * HOUR_MS && waits <= 72 * HOUR_MS);
    await letters.to(owner.email, 'Your second factors will be taken away');
    const due = await cloud.database.owner<{ day: number }[]>`
    select round(extract(epoch from next_attempt_at - now()) / 86400)::int as day from flock.letter
     where user_id = ${owner.id} and kind = 'factor_reset_soon' and sent_at is null order by 1`;
    t.deepEqual(
      due.map(({ day }) => day),
      [1, 2],
    );
    t.like(
      (await first.must('listFactorResets', {})).content.find(({ id }) => id === asked.id),
      {
        status: 'scheduled',
      },
    );

    const dueMs = Date.parse(scheduled.dueAt!);
    t.is(await factorResetRound(resets, dueMs - 1), 0);
    t.like(await as(bearer).must('getMe'), { secondFactor: true, passkeys: 1, recoveryCodes: 10 });
    t.is(await factorResetRound(resets, dueMs + 24 * HOUR_MS), 0, 'found F56: whatever the clock of a node says');
    await cloud.database.admin.unsafe(`
      set local session_replication_role = replica;
      update flock.factor_reset set asked_at = asked_at - interval '72 hours',
             confirmed_at = confirmed_at - interval '72 hours', due_at = due_at - interval '72 hours'
       where id = '${asked.id}'`);
    t.is(await factorResetRound(resets, dueMs), 1);
    t.is(await factorResetRound(resets, dueMs), 0, 'once');
    await letters.to(owner.email, 'Your second factors were taken away');
    const logins = await cloud.database.owner<{ why: string }[]>`
    select why from flock.login where user_id = ${owner.id}`;
    t.deepEqual(
      logins.map(({ why }) => why),
      ['reset'],
      'the login of before is over',
    );
    const anew = await signIn(owner);
    if (isRefusal(anew)) return t.fail(JSON.stringify(anew));
    t.like(await as(anew.accessToken).must('getMe'), {
      secondFactor: false,
      totp: false,
      passkeys: 0,
      recoveryCodes: 0,
    });
    t.is(isRefusal(await as(anew.accessToken).call('enrolTotp', { body: {} })), false, 'another one is set up');
    t.deepEqual(await entriesOf(organizationId, asked.id), [
      { action: 'askFactorReset', kind: 'admin', actor: one.id },
      { action: 'confirmFactorReset', kind: 'admin', actor: two.id },
      { action: 'resetFactors', kind: 'admin', actor: two.id },
    ]);
  },
);

test.serial(
  'console A25: nobody asks for themselves, nor confirms what they asked for or what is their own; one is open at a time',
  async (t) => {
    const { owner } = await cloud.organization();
    const another = (answer: unknown) => t.like(answer, { code: 'CONFLICT', details: { reason: 'another' } });
    another(await ask(one.email));
    const { id } = await askedFor(owner);
    const params = { id };
    another(await first.call('confirmFactorReset', { params }));
    t.like(await ask(owner.email.toUpperCase()), { code: 'CONFLICT', details: { reason: 'open' } });
    const own = await first.must('askFactorReset', { body: { email: two.email, reason: REASON } });
    another(await second.call('confirmFactorReset', { params: { id: own.id } }));
    t.like(await second.must('cancelFactorReset', { params: { id: own.id } }), {
      status: 'cancelled',
      cancelledBy: 'user',
    });
    const answers = await Promise.all(Array.from({ length: 4 }, () => second.call('confirmFactorReset', { params })));
    t.is(answers.filter((answer) => !isRefusal(answer)).length, 1);
    t.like(await second.call('confirmFactorReset', { params }), { code: 'CONFLICT', details: { reason: 'scheduled' } });
    t.like(await first.must('cancelFactorReset', { params }), { status: 'cancelled', cancelledBy: 'admin' });
    t.like(await first.call('cancelFactorReset', { params }), { code: 'CONFLICT', details: { reason: 'cancelled' } });
    t.is(await factorResetRound(resets, Date.now() + 100 * HOUR_MS), 0);
    t.like(await as(await cloud.signIn(owner)).must('getMe'), { secondFactor: true });
  },
);

test.serial('console A25: what cannot be asked says why; what nobody confirms for a week ends', async (t) => {
  t.like(await ask('nobody@example.com'), { code: 'NOT_FOUND' });
  t.like(await ask('no email'), { code: 'INVALID_INPUT', details: { field: 'body.email' } });
  const bare = await cloud.person({ totp: false });
  t.like(await ask(bare.email), { code: 'CONFLICT', details: { reason: 'no_factor' } });
  const params = { id: `frs_${'a'.repeat(26)}` };
  t.like(await second.call('confirmFactorReset', { params }), { code: 'NOT_FOUND' });
  t.like(await second.call('cancelFactorReset', { params }), { code: 'NOT_FOUND' });
  const who = await cloud.person();
  const { id } = await askedFor(who);
  t.is(await factorResetRound(resets, Date.now()), 0);
  t.like((await first.must('listFactorResets', {})).content[0], { id, status: 'asked' });
  await resets.expire(Date.now() + 1, Date.now() + 1);
  t.like(await second.call('confirmFactorReset', { params: { id } }), {
    code: 'CONFLICT',
    details: { reason: 'expired' },
  });
  t.false(isRefusal(await ask(who.email)), 'and may be asked for anew');
});

test.serial(
  'console A25: the link of any of its letters keeps the factors, once; what it is not is refused',
  async (t) => {
    const { owner, id: organizationId } = await cloud.organization();
    const { id } = await confirmed(owner);
    const [asked] = await letters.to(owner.email, 'Somebody asked');
    const [soon] = await letters.to(owner.email, 'will be taken away');
    t.not(asked!.token, soon!.token);
    const keep = (token: string) => open.call('keepFactors', { body: { token } });
    t.like(await keep(`${asked!.token!.slice(0, -1)}${asked!.token!.endsWith('A') ? 'E' : 'A'}`), {
      code: 'NOT_FOUND',
    });
    t.like(await keep(asked!.token!.split('.')[1]!), { code: 'INVALID_INPUT' });
    t.like(await keep(asked!.token!), { email: owner.email, cancelled: true });
    await letters.to(owner.email, 'Your second factors stay');
    t.like(await keep(soon!.token!), { code: 'CONFLICT', details: { reason: 'used' } });
    const waiting = await cloud.database.owner`
    select id from flock.letter where user_id = ${owner.id} and kind = 'factor_reset_soon' and sent_at is null`;
    t.is(waiting.length, 0, 'no letter follows about what was taken back');
    t.is(await factorResetRound(resets, Date.now() + 100 * HOUR_MS), 0);
    t.false(isRefusal(await signIn(owner, { totp: codeOf(owner, 1) })));
    t.deepEqual((await entriesOf(organizationId, id)).at(-1), { action: 'keepFactors', kind: 'user', actor: owner.id });
  },
);

test.serial(
  'console A25: the table lets neither one person decide alone nor anything happen early, nor what is over change',
  async (t) => {
    const who = await cloud.person();
    const { id } = await confirmed(who);
    const refused = async (change: string) =>
      constraintOf(
        await t.throwsAsync(cloud.database.owner.unsafe(`update flock.factor_reset set ${change} where id = '${id}'`)),
      );
    t.is(await refused(`confirmed_by = '${one.id}'`), 'factor_reset_ended_once');
    t.is(await refused(`due_at = now()`), 'factor_reset_ended_once');
    t.is(await refused(`user_id = '${two.id}'`), 'factor_reset_ended_once');
    t.is(await refused(`status = 'done', ended_at = now(), ended_in = pg_current_xact_id()`), 'factor_reset_not_early');
    const early = `status = 'done', ended_at = now() + interval '4 days', ended_in = pg_current_xact_id()`;
    t.is(await refused(early), 'factor_reset_not_early', 'found F60: the end is stamped');
    await first.must('cancelFactorReset', { params: { id } });
    t.is(await refused(`status = 'asked'`), 'factor_reset_ended_once');
    const insert = (asker: string, confirmer: string | null, due: string) =>
      cloud.database.owner.unsafe(
        `insert into flock.factor_reset (id, user_id, reason, status, asked_by, asked_at, confirmed_by, confirmed_at, due_at, link_hashes)
       values ('frs_x', '${who.id}', 'x', 'scheduled', '${asker}', now(), $1, now(), now() + interval '${due}', '{}')`,
        [confirmer],
      );
    t.is(constraintOf(await t.throwsAsync(insert(who.id, one.id, '72 hours'))), 'factor_reset_of_another');
    t.is(constraintOf(await t.throwsAsync(insert(one.id, one.id, '72 hours'))), 'factor_reset_by_two');
    t.is(constraintOf(await t.throwsAsync(insert(one.id, who.id, '72 hours'))), 'factor_reset_by_two');
    t.is(constraintOf(await t.throwsAsync(insert(one.id, two.id, '71 hours'))), 'factor_reset_waits');
    // Found F60: as the application's role, all in one, dated into the past.
    const past = cloud.database.sql.unsafe(
      `insert into flock.factor_reset (id, user_id, reason, status, asked_by, asked_at, confirmed_by, confirmed_at, due_at,
           ended_at, ended_in, link_hashes)
         values ('frs_x', '${who.id}', 'x', 'done', '${one.id}', now() - interval '9 days', '${two.id}',
           now() - interval '8 days', now() - interval '4 days', now(), pg_current_xact_id(), '{}')`,
    );
    t.is(constraintOf(await t.throwsAsync(past)), 'factor_reset_not_early');
  },
);
