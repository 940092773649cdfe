import test from 'ava';
import { createClient } from '../../protocol/client.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { findKeyMaterial } from '../../protocol/node/key-material.ts';
import { newRecoveryCodes } from '../../gateway/http/auth/recovery-codes.ts';
import { codeOf, enrol, startTestCloud, type Person } from '../support/gateway.ts';
import { mailbox } from '../support/letters.ts';

const letters = mailbox();
const cloud = await startTestCloud({
  MAIL_DIR: letters.directory,
  ETH_RPC_URLS: 'http://127.0.0.1:9',
});
test.after.always(() => cloud.stop());
const open = createClient({ baseUrl: cloud.url });
const as = (bearer: string) => createClient({ baseUrl: cloud.url, bearer });
const reasonOf = (answer: unknown): unknown => {
  const given = answer as object;
  return isRefusal(given as never) ? [(given as any).code, (given as any).details.reason] : 'done';
};
const signIn = (who: Person, more: object = {}) =>
  open.call('login', { body: { email: who.email, password: who.password, ...more } });
const withCodes = async (who: Person) => {
  const bearer = await cloud.signIn(who);
  const { codes } = await as(bearer).must('makeRecoveryCodes', { body: {} });
  return { bearer, codes };
};

test('console A23: ten recovery codes of 120 bits, kept as hashes, pass the guard of key material; new ones need a fresh factor and kill the old', async (t) => {
  const { owner } = await cloud.organization();
  const { bearer, codes } = await withCodes(owner);
  t.is(new Set(codes).size, 10);
  for (const code of codes) t.regex(code, /^(?:[A-Z2-7]{4}-){5}[A-Z2-7]{4}$/);
  t.like(await as(bearer).must('getMe'), { recoveryCodes: 10 });
  const stored = await cloud.database.owner<{ row: string }[]>`
    select r::text as row from flock.recovery_code r where user_id = ${owner.id}`;
  for (const { row } of stored) for (const code of codes) t.false(row.includes(code.replaceAll('-', '')));
  const byCode = await signIn(owner, { recoveryCode: codes[0]!.toLowerCase().replaceAll('-', ' ') });
  if (isRefusal(byCode)) return t.fail(JSON.stringify(byCode));
  t.is(byCode.totpAt, null, 'a recovery code is no fresh factor');
  const mine = as(byCode.accessToken);
  t.deepEqual(reasonOf(await mine.call('makeRecoveryCodes', { body: {} })), ['TOTP_REQUIRED', 'not_fresh']);
  t.deepEqual(
    reasonOf(await mine.call('mintApiKey', { body: { label: 'x', environment: 'sandbox' } })),
    ['TOTP_REQUIRED', 'not_fresh'],
    'never for a fresh factor elsewhere',
  );
  t.is((await letters.to(owner.email, 'A recovery code was used'))[0]!.text.includes('9 are left'), true);
  t.deepEqual(reasonOf(await signIn(owner, { recoveryCode: codes[0] })), ['TOTP_REQUIRED', 'used']);
  const again = await mine.must('makeRecoveryCodes', { body: { totp: codeOf(owner, 1) } });
  t.deepEqual(reasonOf(await signIn(owner, { recoveryCode: codes[1] })), ['TOTP_REQUIRED', 'invalid']);
  t.is(reasonOf(await signIn(owner, { recoveryCode: again.codes[1] })), 'done');
  t.is((await letters.to(owner.email, 'You have new recovery codes', 2)).length, 2);
  for (let made = 0; made < 100; made += 1)
    for (const recoveryCode of newRecoveryCodes())
      t.is(findKeyMaterial(Buffer.from(JSON.stringify({ email: owner.email, recoveryCode }))), null, recoveryCode);
});

test('console A23: of sign-ins at once by one recovery code one gets in', async (t) => {
  const { owner } = await cloud.organization();
  const { codes } = await withCodes(owner);
  const answers = await Promise.all(
    // Ten a minute of one network, with the first.
    Array.from({ length: 9 }, () => signIn(owner, { recoveryCode: codes[0] })),
  );
  t.is(answers.filter((answer) => !isRefusal(answer)).length, 1);
});

test('console A19: wrong codes of the app and wrong recovery codes are counted together; five lock both, with one letter and one entry', async (t) => {
  const { owner, id } = await cloud.organization();
  const { bearer, codes } = await withCodes(owner);
  const wrong = 'ABCD-EFGH-IJKL-MNOP-QRST-UVWX';
  const disable = (body: object) => as(bearer).call('disableTotp', { body });
  for (let tries = 0; tries < 2; tries += 1) {
    t.deepEqual(reasonOf(await disable({ recoveryCode: wrong })), ['TOTP_REQUIRED', 'invalid']);
    t.deepEqual(reasonOf(await disable({ totp: codeOf(owner, 50 + tries) })), ['TOTP_REQUIRED', 'invalid']);
  }
  const together = await Promise.all(Array.from({ length: 6 }, () => disable({ recoveryCode: wrong })));
  for (const answer of together) t.deepEqual(reasonOf(answer), ['TOTP_REQUIRED', 'locked']);
  t.deepEqual(reasonOf(await disable({ recoveryCode: codes[0] })), ['TOTP_REQUIRED', 'locked'], 'a right one too');
  t.deepEqual(reasonOf(await disable({ totp: codeOf(owner, 1) })), ['TOTP_REQUIRED', 'locked']);
  await letters.to(owner.email, 'locked for 15 minutes');
  const noted = await cloud.database.owner`
    select 1 from flock.audit_entry where organization_id = ${id} and action = 'lockFactor'`;
  t.is(noted.length, 1);
  await cloud.database
    .owner`update flock.console_user set totp_locked_until = now() - interval '1 second' where id = ${owner.id}`;
  t.is(reasonOf(await disable({ recoveryCode: codes[0] })), 'done', 'the right one was not spent by the lock');
  await letters.to(owner.email, 'A second factor was taken away');
  t.is(letters.all().filter(({ to, subject }) => to === owner.email && subject.includes('locked')).length, 1);
});

test('console A21: a factor is taken away by a code or a recovery code made for this, and every change is mailed; an owner of live addresses keeps one', async (t) => {
  const organization = await cloud.organization();
  const { owner } = organization;
  const { bearer, codes } = await withCodes(owner);
  const mine = as(bearer);
  t.deepEqual(
    reasonOf(await mine.call('disableTotp', { body: {} })),
    ['TOTP_REQUIRED', 'missing'],
    'a stepped-up token does not do',
  );
  await enrol(cloud, organization.live);
  const { id } = await organization.live.client.must('createAddress', { body: { chain: 'eth', userRef: 'u' } });
  t.deepEqual(reasonOf(await mine.call('disableTotp', { body: { totp: codeOf(owner, 1) } })), ['CONFLICT', 'required']);
  const member = await cloud.person();
  await cloud.join(member, organization, 'viewer');
  const theirs = as(await cloud.signIn(member));
  t.is(reasonOf(await theirs.call('disableTotp', { body: { totp: codeOf(member, 1) } })), 'done', 'no owner');
  t.deepEqual(reasonOf(await theirs.call('disableTotp', { body: { totp: codeOf(member, 1) } })), [
    'TOTP_REQUIRED',
    'not_enrolled',
  ]);
  await organization.live.client.must('archiveAddress', { params: { id } });
  t.is(reasonOf(await mine.call('disableTotp', { body: { recoveryCode: codes[3]! } })), 'done');
  t.like(await mine.must('getMe'), { secondFactor: false, recoveryCodes: 0 });
  t.is((await letters.to(owner.email, 'A second factor was taken away')).length, 1);
  const entries = await cloud.database.owner<{ action: string }[]>`
    select action from flock.audit_entry where organization_id = ${organization.id} and outcome = 'done' and action in ('disableTotp', 'makeRecoveryCodes')`;
  t.is(entries.length, 3, 'of the owner two, of the member one');
});

test('console A20, A23: a device is set up by who signed in just now, or with the password; a lost one is replaced by a recovery code', async (t) => {
  const fresh = await cloud.person({ totp: false });
  const first = await signIn(fresh);
  if (isRefusal(first)) return t.fail();
  const made = as(first.accessToken).call('makeRecoveryCodes', { body: {} });
  t.deepEqual(reasonOf(await made), ['TOTP_REQUIRED', 'not_enrolled'], 'A22: there is nothing to prove it by');
  t.is(reasonOf(await as(first.accessToken).call('enrolTotp', { body: {} })), 'done');
  const { owner } = await cloud.organization();
  const { codes } = await withCodes(owner);
  const byCode = await signIn(owner, { recoveryCode: codes[0] });
  if (isRefusal(byCode)) return t.fail();
  const mine = as(byCode.accessToken);
  t.deepEqual(reasonOf(await mine.call('enrolTotp', { body: {} })), ['TOTP_REQUIRED', 'not_fresh']);
  t.deepEqual(reasonOf(await mine.call('enrolTotp', { body: { password: owner.password } })), [
    'TOTP_REQUIRED',
    'not_fresh',
  ]);
  const { secret } = await mine.must('enrolTotp', { body: { recoveryCode: codes[1]! } });
  const confirmed = await mine.must('confirmTotp', { body: { totp: codeOf({ totpSecret: secret }, 1) } });
  t.truthy(confirmed.totpAt);
  await letters.to(owner.email, 'A second factor was set up');
});
