import { randomBytes } from 'node:crypto';
import test from 'ava';
import { createClient } from '../../protocol/client.ts';
import { findKeyMaterial } from '../../protocol/node/key-material.ts';
import { codeOf, raw, startTestCloud, type Person } from '../support/gateway.ts';
import { mailbox } from '../support/letters.ts';
import { startRedis } from '../support/redis.ts';

const letters = mailbox();
const closes: (() => Promise<void>)[] = [];
// Both nodes count the letters to a mailbox; without Redis each of them would let half of them through.
const redis = await startRedis({ teardown: (close) => void closes.push(close) });
const cloud = await startTestCloud({
  SIGN_UP: 'open',
  REDIS_URL: redis.url,
  MAIL_DIR: letters.directory,
  TRUSTED_PROXIES: '127.0.0.1',
  PUBLIC_URL: 'http://cloud.test',
  CLUSTER_SECRET: randomBytes(32).toString('hex'),
  INTERNAL_PORT: '0',
});
const closed = await cloud.another('closed', { SIGN_UP: 'invite' });
test.after.always(async () => {
  await closed.stop();
  await cloud.stop();
  for (const close of closes) await close();
});

let addresses = 0;
/** Requests of one test come from an address of their own. */
const newAddress = () => `203.0.${(addresses += 1) >> 8}.${addresses & 255}`;
const post = (path: string, body: object, headers: Record<string, string> = {}, url = cloud.url) =>
  raw(url, 'POST', `/v1/auth/${path}`, {
    headers: { 'content-type': 'application/json', 'x-forwarded-for': newAddress(), ...headers },
    body: JSON.stringify(body),
  });
const PASSWORD = 'seven grey herons wade upstream';
const asBearer = (bearer: string) => createClient({ baseUrl: cloud.url, bearer });
let emails = 0;
const newEmail = () => `person-${(emails += 1)}-${process.pid}@example.com`;
const signIn = async ({ email, password, totpSecret }: Pick<Person, 'email' | 'password' | 'totpSecret'>, step = 0) => {
  const body = { email, password, ...(totpSecret === '' ? {} : { totp: codeOf({ totpSecret }, step) }) };
  const answer = await post('login', body);
  return { status: answer.status, token: answer.json.data?.accessToken as string, answer };
};
const problemOf = ({ status, json }: Awaited<ReturnType<typeof post>>) => [
  status,
  json.error.code,
  json.error.details['reason'],
];

test('console A6, A7: who signs up proves the mailbox by a link whose fetch spends nothing, sets a password and is in; the link is good once', async (t) => {
  const email = newEmail();
  const asked = await post('register', { email: ` ${email.toUpperCase()} ` });
  t.deepEqual([asked.status, asked.json.data], [202, { accepted: true }]);
  const [letter] = await letters.to(email, 'Confirm your email');
  t.regex(letter!.text, /http:\/\/cloud\.test\/console\/verify#[\w-]{43}/);
  const page = await raw(cloud.url, 'GET', '/console/verify');
  t.is(page.status, 200, 'a scanner that fetches the link has fetched the shell');
  const token = letter!.token!;
  t.deepEqual(problemOf(await post('verify', { token, password: 'short' })), [400, 'INVALID_INPUT', 'too_short']);
  const done = await post('verify', { token, password: PASSWORD });
  t.is(done.status, 200, done.text);
  t.is(done.json.data.organizationId, null);
  const me = await asBearer(done.json.data.accessToken).must('getMe');
  t.like(me, { email, secondFactor: false });
  t.deepEqual(problemOf(await post('verify', { token, password: PASSWORD })), [409, 'CONFLICT', 'used']);
  t.is((await signIn({ email, password: PASSWORD, totpSecret: '' })).status, 200);
  t.is((await post('verify', { token: 'x'.repeat(43), password: PASSWORD })).json.error.code, 'NOT_FOUND');
});

test.serial(
  'console A6: a known and an unknown email are answered alike, in the same time; the mailbox alone learns which',
  async (t) => {
    const known = await cloud.person();
    const twice = await Promise.all([
      post('register', { email: known.email }),
      post('register', { email: newEmail() }),
    ]);
    t.deepEqual(
      twice.map(({ status, json }) => [status, json.data]),
      [
        [202, { accepted: true }],
        [202, { accepted: true }],
      ],
    );
    t.is((await letters.to(known.email, 'You have a sign-in already'))[0]!.token, undefined);
    const ROUNDS = 40;
    const times: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] };
    const who = await Promise.all(Array.from({ length: ROUNDS }, () => cloud.person({ totp: false })));
    for (const { email } of who)
      for (const [name, asked] of [
        ['known', email],
        ['unknown', newEmail()],
      ] as const) {
        const begun = performance.now();
        const answer = await post('password/forgot', { email: asked });
        times[name].push(performance.now() - begun);
        t.deepEqual([answer.status, answer.json.data], [202, { accepted: true }]);
      }
    // Whatever else the machine does only makes them longer.
    const usual = (all: number[]) => all.toSorted((a, b) => a - b)[all.length / 4]!;
    t.true(
      Math.abs(usual(times.known) - usual(times.unknown)) < 10,
      `${usual(times.known)} ms, ${usual(times.unknown)} ms`,
    );
  },
);

test('console A6: where SIGN_UP is not open nobody signs up; where it is, letters have a way', async (t) => {
  t.deepEqual(problemOf(await post('register', { email: newEmail() }, {}, closed.url)), [403, 'FORBIDDEN', 'sign_up']);
  const { readConfig } = await import('../../supervision/config.ts');
  const env = { DATABASE_URL: 'postgres://x/y', SECRET_KEY: 'a'.repeat(64) };
  t.throws(() => readConfig({ ...env, SIGN_UP: 'open' }), { message: /SIGN_UP: open needs/ });
  t.is(readConfig(env).SIGN_UP, 'invite');
});

test('console A4: an email is one spelling of its mailbox, and a text that is none is refused', async (t) => {
  for (const email of ['x', 'a b@example.com', '@example.com', 'a@', 'a@b', `${'a'.repeat(250)}@example.com`, 'a@@'])
    t.deepEqual(problemOf(await post('register', { email })), [400, 'INVALID_INPUT', 'no email address'], email);
  const local = newEmail().split('@')[0]!;
  await post('register', { email: `${local}@BÜCHER.example` });
  t.is((await letters.to(`${local}@xn--bcher-kva.example`, 'Confirm')).length, 1);
  const plus = `${local}+tag`;
  await post('register', { email: `${plus}@example.com` });
  t.is((await letters.to(`${plus}@example.com`, 'Confirm')).length, 1, 'no folding');
});

test('console A5: a password is long and is not among the first that are tried; any Unicode, exactly as it is', async (t) => {
  const organization = await cloud.organization();
  const client = asBearer(await cloud.signIn(organization.owner));
  const { owner } = organization;
  for (const [password, reason] of [
    ['fourteen chars', 'too_short'],
    ['🦩'.repeat(14), 'too_short'],
    ['aaaaaaaaaaaaaaaaaaaa', 'common'],
    ['abcabcabcabcabcabc', 'common'],
    ['1234567890123456', 'common'],
    ['qwertyuiopasdfghjkl', 'common'],
    ['PasswordPassword1!', 'common'],
    ['correct horse battery staple', 'common'],
    ['iloveyou iloveyou 2024', 'common'],
    ['flockflock-2024!!', 'context'],
    [`${owner.email}1`, 'context'],
  ] as const)
    t.like(
      await client.call('changePassword', { body: { password } }),
      { code: 'INVALID_INPUT', details: { field: 'password', reason } },
      password,
    );
  const password = '  ünïcode 🦩 with spaces ';
  t.deepEqual(await client.must('changePassword', { body: { password, current: owner.password } }), { changed: true });
  t.is((await signIn({ ...owner, password: password.trim() }, 1)).status, 401, 'no trim');
  t.is((await signIn({ ...owner, password }, 1)).status, 200);
});

test('console A5: a password under older parameters is stored under today’s at the next login', async (t) => {
  const who = await cloud.person({ totp: false });
  const hashOf = async () => (await cloud.identity.userById(who.id))!.passwordHash;
  t.regex(await hashOf(), /m=64,/);
  t.is((await signIn({ ...who, totpSecret: '' })).status, 200);
  const now = await hashOf();
  t.regex(now, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  t.is((await signIn({ ...who, totpSecret: '' })).status, 200);
  t.is(await hashOf(), now);
});

test('console A8, A9: a reset ends all logins and other links, signs nobody in, leaves the factor, tells by letter and is in the log; the newest link alone is good', async (t) => {
  const organization = await cloud.organization();
  const { owner } = organization;
  const before = await signIn(owner);
  await post('password/forgot', { email: owner.email });
  const [first] = await letters.to(owner.email, 'Set a new password');
  await post('password/forgot', { email: owner.email });
  const both = await letters.to(owner.email, 'Set a new password', 2);
  const [older, newer] = [first!.token!, both.find(({ token }) => token !== first!.token)!.token!];
  const reset = (token: string) => post('password/reset', { token, password: PASSWORD });
  t.deepEqual(problemOf(await reset(older)), [409, 'CONFLICT', 'replaced']);
  t.deepEqual(problemOf(await post('verify', { token: newer, password: PASSWORD })).slice(0, 2), [404, 'NOT_FOUND']);
  // Twenty at once: one sets it.
  const all = await Promise.all(Array.from({ length: 20 }, () => reset(newer)));
  t.deepEqual(all.map(({ status }) => status).sort(), [200, ...Array.from({ length: 19 }, () => 409)].sort());
  const done = all.find(({ status }) => status === 200)!;
  t.deepEqual(done.json.data, { email: owner.email });
  t.is(done.headers.getSetCookie().length, 0, 'signs nobody in');
  t.like(await asBearer(before.token).call('getMe'), { code: 'UNAUTHORIZED' });
  t.is((await signIn(owner, 1)).status, 401);
  t.is((await signIn({ ...owner, password: PASSWORD, totpSecret: '' })).status, 403, 'the factor stays');
  const again = await signIn({ ...owner, password: PASSWORD }, 1);
  t.is(again.status, 200);
  await letters.to(owner.email, 'Your password was changed');
  const log = (await asBearer(again.token).must('listAuditLog', { query: { action: 'resetPassword' } })).content;
  t.is(log.length, 1);
  t.like(log[0], { outcome: 'done', target: owner.id });
  const text = await raw(cloud.url, 'GET', '/v1/settings/audit-log/export', {
    headers: { authorization: `Bearer ${again.token}` },
  });
  for (const secret of [PASSWORD, newer]) t.false(text.text.includes(secret), 'no secret is in the log');
});

test('console A9: a link whose time is over says so, and one that a reset ended', async (t) => {
  const who = await cloud.person({ totp: false });
  await post('password/forgot', { email: who.email });
  const [late] = await letters.to(who.email, 'Set a new password');
  await cloud.database.owner`update flock.mail_token set expires_at = now() where user_id = ${who.id}`;
  const expired = await post('password/reset', { token: late!.token!, password: PASSWORD });
  t.deepEqual(problemOf(expired), [409, 'CONFLICT', 'expired']);
  t.regex(expired.json.error.details['next'], /another letter/);
  const { token } = await signIn({ ...who, totpSecret: '' });
  await post('password/forgot', { email: who.email });
  const open = (await letters.to(who.email, 'Set a new password', 2)).find(({ token }) => token !== late!.token)!;
  await asBearer(token).must('changePassword', { body: { password: PASSWORD, current: who.password } });
  t.deepEqual(problemOf(await post('password/reset', { token: open.token!, password: `${PASSWORD}!` })), [
    409,
    'CONFLICT',
    'revoked',
  ]);
});

test('console A8: a change needs the present password or a fresh factor, ends the other logins and keeps the asking one', async (t) => {
  const { owner } = await cloud.organization();
  const [mine, other] = [await signIn(owner), await signIn(owner, 1)];
  const client = asBearer(mine.token);
  const wrong = await client.call('changePassword', { body: { password: PASSWORD, current: 'not this one' } });
  t.like(wrong, { code: 'INVALID_INPUT', details: { field: 'current', reason: 'wrong' } });
  t.deepEqual(await client.must('changePassword', { body: { password: PASSWORD } }), { changed: true });
  t.like(await client.must('getMe'), { email: owner.email });
  t.like(await asBearer(other.token).call('getMe'), { code: 'UNAUTHORIZED' });
  const weak = await cloud.person({ totp: false });
  const { token } = await signIn({ ...weak, totpSecret: '' });
  t.like(await asBearer(token).call('changePassword', { body: { password: PASSWORD } }), {
    code: 'TOTP_REQUIRED',
    details: { reason: 'missing', accepts: ['password'], next: 'give the present password as `current`' },
  });
  const body = { password: PASSWORD, current: weak.password };
  t.deepEqual(await asBearer(token).must('changePassword', { body }), { changed: true }, 'no factor is asked for');
});

test('console A8, A13: a reset on one node ends the logins on the other within 15 s', async (t) => {
  const who = await cloud.person({ totp: false });
  const { token } = await signIn({ ...who, totpSecret: '' });
  const there = createClient({ baseUrl: closed.url, bearer: token });
  t.like(await there.must('getMe'), { email: who.email });
  await post('password/forgot', { email: who.email });
  const [letter] = await letters.to(who.email, 'Set a new password');
  t.is((await post('password/reset', { token: letter!.token!, password: PASSWORD })).status, 200);
  const begun = performance.now();
  for (;;) {
    const answer = await there.call('getMe');
    if ('code' in answer && answer.code === 'UNAUTHORIZED') break;
    if (performance.now() - begun > 60_000) return t.fail('still in after a minute');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  // A node looks each 15 s at the latest; a loaded machine adds its own.
  t.true(performance.now() - begun < 45_000, `${performance.now() - begun} ms`);
});

test('console A4, A22: another email needs a code made for it and a link in the new mailbox; the old one takes it back within 7 days, with all logins ended', async (t) => {
  const { owner } = await cloud.organization();
  const { token } = await signIn(owner);
  const client = asBearer(token);
  const next = newEmail();
  t.like(await client.call('changeEmail', { body: { email: next } }), {
    code: 'TOTP_REQUIRED',
    details: { reason: 'missing' },
  });
  const totp = codeOf(owner, 1);
  t.deepEqual(await client.must('changeEmail', { body: { email: next, totp } }), { accepted: true });
  const [link] = await letters.to(next, 'Confirm your new email');
  t.like(await client.must('getMe'), { email: owner.email }, 'nothing changes before');
  const confirm = (secret: string) => post('email/confirm', { token: secret });
  t.deepEqual((await confirm(link!.token!)).json.data, { email: next });
  t.like(await client.must('getMe'), { email: next });
  t.deepEqual(problemOf(await confirm(link!.token!)), [409, 'CONFLICT', 'used']);
  const [undo] = await letters.to(owner.email, 'Your email was changed');
  t.true(undo!.text.includes(next));
  // Whoever took the account over resets the password: the way back stays open.
  await post('password/forgot', { email: next });
  const [reset] = await letters.to(next, 'Set a new password');
  t.is((await post('password/reset', { token: reset!.token!, password: PASSWORD })).status, 200);
  t.deepEqual((await confirm(undo!.token!)).json.data, { email: owner.email });
  await letters.to(owner.email, 'changed back');
  t.like(await client.call('getMe'), { code: 'UNAUTHORIZED' });
  t.is((await cloud.identity.userById(owner.id))!.email, owner.email);
});

test('console A4, A6: another person’s email is asked for without a word of it, and taken by nobody', async (t) => {
  const [{ owner }, other, late] = [await cloud.organization(), await cloud.person(), newEmail()];
  const client = asBearer((await signIn(owner)).token);
  const body = { email: other.email, totp: codeOf(owner, 1) };
  t.deepEqual(await client.must('changeEmail', { body }), { accepted: true });
  t.is((await letters.to(other.email, 'has a sign-in already'))[0]!.token, undefined);
  const second = (await cloud.organization()).owner;
  const asSecond = asBearer((await signIn(second)).token);
  await asSecond.must('changeEmail', { body: { email: late, totp: codeOf(second, 1) } });
  const [link] = await letters.to(late, 'Confirm your new email');
  await cloud.database.owner`update flock.console_user set email = ${late} where id = ${other.id}`;
  t.deepEqual(problemOf(await post('email/confirm', { token: link!.token! })), [409, 'CONFLICT', 'revoked']);
});

test('console A7, A10: twenty tries of links a minute for an address, five letters an hour for a mailbox, told to nobody; a known device has its own', async (t) => {
  const who = await cloud.person({ totp: false });
  const device = (await signIn({ ...who, totpSecret: '' })).answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0]!)
    .find((cookie) => cookie.startsWith('flock_device='))!;
  for (let asked = 0; asked < 8; asked += 1)
    t.is((await post('password/forgot', { email: who.email })).status, 202, 'the answer is the same');
  await letters.to(who.email, 'Set a new password', 5);
  t.is((await post('password/forgot', { email: who.email }, { cookie: device })).status, 202);
  t.is((await letters.to(who.email, 'Set a new password', 6)).length, 6);
  t.regex(await (await fetch(`${cloud.url}/metrics`)).text(), /^svc_letters_withheld_total [1-9]/m);
  const headers = { 'x-forwarded-for': '198.51.100.7' };
  for (let tries = 0; tries < 20; tries += 1)
    t.is((await post('email/confirm', { token: `${tries}` }, headers)).json.error.code, 'NOT_FOUND');
  t.is((await post('email/confirm', { token: 'x' }, headers)).status, 429);
  t.is((await post('email/confirm', { token: 'x' })).status, 404, 'another address');
});

test('console A7: links are built of PUBLIC_URL, whatever Host a request names; their tokens pass the guard of key material', async (t) => {
  const email = newEmail();
  await post('register', { email }, { 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' });
  const [letter] = await letters.to(email, 'Confirm your email');
  t.false(letter!.text.includes('evil.example'));
  for (let made = 0; made < 1_000; made += 1) {
    const body = Buffer.from(JSON.stringify({ token: randomBytes(32).toString('base64url'), password: PASSWORD }));
    t.is(findKeyMaterial(body), null, body.toString());
  }
});
