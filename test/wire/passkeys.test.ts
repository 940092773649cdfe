import { createHash } from 'node:crypto';
import test from 'ava';
import { createPasskeys } from '../../gateway/http/auth/passkeys.ts';
import { createClient, type Client } from '../../protocol/client.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { findKeyMaterial } from '../../protocol/node/key-material.ts';
import { newKey, softAuthenticator, type Lies, type Made } from '../support/authenticator.ts';
import { codeOf, startTestCloud, type Person } from '../support/gateway.ts';
import { mailbox } from '../support/letters.ts';
import { patiently } from '../support/patience.ts';

const ORIGIN = 'https://cloud.example';
const letters = mailbox();
const cloud = await startTestCloud({
  MAIL_DIR: letters.directory,
  PUBLIC_URL: ORIGIN,
  TRUSTED_PROXIES: '127.0.0.1',
});
test.after.always(() => cloud.stop());
let addresses = 0;
/** Each request of nobody comes from an address of its own. */
const elsewhere: typeof fetch = (url, init) =>
  fetch(url, { ...init, headers: { ...init?.headers, 'x-forwarded-for': `203.0.113.${(addresses += 1) & 255}` } });
const open = createClient({ baseUrl: cloud.url, fetch: elsewhere });
const as = (bearer: string) => createClient({ baseUrl: cloud.url, bearer });
const device = softAuthenticator(ORIGIN);
const reasonOf = (answer: unknown): unknown =>
  isRefusal(answer as never) ? [(answer as any).code, (answer as any).details.reason] : 'done';

async function add(client: Client, lies: Lies = {}) {
  const creation = await client.must('beginPasskey', { body: {} });
  const { made, answer } = device.make(creation, lies);
  return {
    made,
    creation,
    answer,
    outcome: await client.call('addPasskey', { body: { name: 'x', passkey: answer } as never }),
  };
}
async function withPasskey(who: Person) {
  const client = as(await cloud.signIn(who));
  const { made, outcome } = await add(client);
  if (isRefusal(outcome)) throw new Error(JSON.stringify(outcome));
  return { client, made, id: outcome.id };
}
const question = () => open.must('beginPasskeySignIn');
const signIn = async (made: Made, lies: Lies = {}) =>
  open.call('signInByPasskey', { body: { passkey: device.answer(made, await question(), lies) } });

test('console A24: a passkey is discoverable, verified and named; it signs in without a password and is a fresh second factor', async (t) => {
  const { owner, id } = await cloud.organization();
  const client = as(await cloud.signIn(owner));
  const { creation, made, outcome } = await add(client);
  t.like(creation, {
    rp: { id: 'cloud.example' },
    attestation: 'none',
    timeout: 300_000,
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    pubKeyCredParams: [-8, -7, -257].map((alg) => ({ type: 'public-key', alg })) as never,
  });
  if (isRefusal(outcome)) return t.fail(JSON.stringify(outcome));
  t.regex(outcome.id, /^psk_/);
  t.like(await client.must('getMe'), { passkeys: 1, secondFactor: true });
  const asked = await question();
  t.deepEqual(asked.allowCredentials, [], 'nobody learns who has a passkey');
  const token = await open.must('signInByPasskey', { body: { passkey: device.answer(made, asked) } });
  t.like(token, { organizationId: id, role: 'owner' });
  t.truthy(token.totpAt);
  t.is(
    reasonOf(await as(token.accessToken).call('mintApiKey', { body: { label: 'x', environment: 'sandbox' } })),
    'done',
  );
  const [listed] = (await client.must('listPasskeys')).content;
  t.truthy(listed!.lastUsedAt);
  t.true((await client.must('listLogins')).content.some(({ method }) => method === 'passkey'));
  t.is((await letters.to(owner.email, 'A passkey was added')).length, 1);
});

test('console A24: a forged, replayed, foreign or late answer signs nobody in, and each spends its challenge', async (t) => {
  const { owner } = await cloud.organization();
  const { made } = await withPasskey(owner);
  for (const [name, lies] of Object.entries({
    'another origin': { origin: 'https://cloud.example.evil.test' },
    'another port': { origin: 'https://cloud.example:8443' },
    'another RP': { rpId: 'evil.test' },
    'a frame': { crossOrigin: true },
    'nobody verified': { flags: 0x01 },
    'nobody present': { flags: 0x00 },
    'a new passkey’s answer': { type: 'webauthn.create' },
    'another key': { key: newKey() },
    'a challenge of its own': { challenge: 'A'.repeat(43) },
    'another user': { userHandle: Buffer.from('usr_somebody').toString('base64url') },
  } satisfies Record<string, Lies>)) {
    t.deepEqual(reasonOf(await signIn(made, lies)), ['UNAUTHORIZED', undefined], name);
  }
  const asked = await question();
  t.deepEqual(
    reasonOf(await open.call('signInByPasskey', { body: { passkey: device.answer(made, asked, { key: newKey() }) } })),
    ['UNAUTHORIZED', undefined],
  );
  const right = device.answer(made, asked);
  t.deepEqual(
    reasonOf(await open.call('signInByPasskey', { body: { passkey: right } })),
    ['UNAUTHORIZED', undefined],
    'the challenge was spent by the wrong answer',
  );
  const once = device.answer(made, await question());
  const twice = await Promise.all(
    Array.from({ length: 5 }, () => open.call('signInByPasskey', { body: { passkey: once } })),
  );
  t.is(twice.filter((answer) => !isRefusal(answer)).length, 1, 'an answer is good once');
  const late = await question();
  const hash = createHash('sha256').update(late.challenge).digest('hex');
  await cloud.database
    .owner`update flock.passkey_challenge set expires_at = now() - interval '1 second' where hash = ${hash}`;
  t.deepEqual(
    reasonOf(await open.call('signInByPasskey', { body: { passkey: device.answer(made, late) } })),
    ['UNAUTHORIZED', undefined],
    'five minutes are over',
  );
  const unknown = { ...made, id: 'AAAA' };
  t.deepEqual(reasonOf(await signIn(unknown)), ['UNAUTHORIZED', undefined], 'no such passkey, in the same words');
});

test('console A24: a passkey is made for this login, this origin and by somebody verified; of 21 at once 20 are added', async (t) => {
  const { owner } = await cloud.organization();
  const client = as(await cloud.signIn(owner));
  for (const lies of [
    { origin: 'https://evil.test' },
    { rpId: 'evil.test' },
    { flags: 0x41 },
    { challenge: 'A'.repeat(43) },
  ])
    t.deepEqual(reasonOf((await add(client, lies)).outcome), ['INVALID_INPUT', 'not_verified'], JSON.stringify(lies));
  const other = await cloud.person();
  const creation = await client.must('beginPasskey', { body: {} });
  const theirs = as(await cloud.signIn(other));
  const { answer } = device.make(creation);
  t.deepEqual(
    reasonOf(await theirs.call('addPasskey', { body: { name: 'x', passkey: answer } as never })),
    ['INVALID_INPUT', 'not_verified'],
    'the challenge of another login',
  );
  const { answer: twice, outcome } = await add(client);
  t.is(reasonOf(outcome), 'done');
  t.deepEqual(reasonOf(await client.call('addPasskey', { body: { name: 'x', passkey: twice } as never })), [
    'INVALID_INPUT',
    'not_verified',
  ]);
  const creations = await Promise.all(Array.from({ length: 20 }, () => client.must('beginPasskey', { body: {} })));
  const made = await Promise.all(
    creations.map((one) =>
      client.call('addPasskey', { body: { name: 'x', passkey: device.make(one).answer } as never }),
    ),
  );
  t.is(made.filter((one) => !isRefusal(one)).length, 19, 'twenty with the first');
  t.deepEqual(reasonOf(await client.call('beginPasskey', { body: {} })), ['CONFLICT', 'passkeys']);
});

test('console A24: a counter that does not rise is an entry of the audit log, not a refusal', async (t) => {
  const { owner, id } = await cloud.organization();
  const { made } = await withPasskey(owner);
  t.is(reasonOf(await signIn(made, { counter: 7 })), 'done');
  t.is(reasonOf(await signIn(made, { counter: 7 })), 'done');
  const entries = await cloud.database.owner`
    select 1 from flock.audit_entry where organization_id = ${id} and action = 'passkeyCounter'`;
  t.is(entries.length, 1);
  const other = await cloud.organization();
  const still = await withPasskey(other.owner);
  for (let times = 0; times < 2; times += 1) t.is(reasonOf(await signIn(still.made, { counter: 0 })), 'done');
  t.is(
    (
      await cloud.database
        .owner`select 1 from flock.audit_entry where organization_id = ${other.id} and action = 'passkeyCounter'`
    ).length,
    0,
    'one that counts nothing says nothing',
  );
});

test('console A22: a passkey steps up, and proves one request: its operation, path and body; another request takes none of it', async (t) => {
  const organization = await cloud.organization();
  const { owner, id } = organization;
  const { made } = await withPasskey(owner);
  const next = await cloud.person();
  await cloud.join(next, organization, 'editor');
  const token = await open.must('login', {
    body: { email: owner.email, password: owner.password, totp: codeOf(owner, 1) },
  });
  const client = as(token.accessToken);
  const call = { params: { id }, body: { userId: next.id, then: 'viewer' as const } };
  const proof = async (about: object, lies: Lies = {}) =>
    device.answer(made, await client.must('askPasskey', { body: about as never }), lies);
  const transfer = (passkey: object, body: object = call.body) =>
    client.call('transferOrganization', { params: call.params, body: { ...body, passkey } as never });
  const missing = await client.call('transferOrganization', call);
  t.deepEqual(reasonOf(missing), ['TOTP_REQUIRED', 'missing'], 'a sign-in by a code of just now does not do');
  t.deepEqual((missing as any).details.accepts, ['totp', 'passkey']);
  for (const [name, about] of Object.entries({
    'a step-up': {},
    'another operation': { operation: 'changeEmail', ...call },
    'another path': { operation: 'transferOrganization', params: { id: 'org_other' }, body: call.body },
    'another body': { operation: 'transferOrganization', ...call, body: { ...call.body, then: 'leave' } },
  }))
    t.deepEqual(reasonOf(await transfer(await proof(about))), ['TOTP_REQUIRED', 'invalid'], name);
  const stepUp = await proof({ operation: 'stepUp' });
  t.deepEqual(reasonOf(await client.call('stepUp', { body: { passkey: stepUp } })), ['TOTP_REQUIRED', 'invalid']);
  const proven = await client.must('stepUp', { body: { passkey: await proof({}) } });
  t.truthy(proven.totpAt);
  const beside = await signIn(made);
  if (isRefusal(beside)) return t.fail();
  const other = as(beside.accessToken);
  const theirs = await proof({ operation: 'transferOrganization', ...call });
  t.deepEqual(
    reasonOf(await other.call('transferOrganization', { ...call, body: { ...call.body, passkey: theirs } })),
    ['TOTP_REQUIRED', 'invalid'],
    'made in another login',
  );
  const good = await proof({ operation: 'transferOrganization', ...call });
  t.is(reasonOf(await transfer(good)), 'done');
  t.deepEqual(reasonOf(await transfer(good)), ['FORBIDDEN', undefined], 'no owner any more');
});

test('console A21, A23, A24: who has a passkey alone signs in by it or by a recovery code, not by the password; the last factor of an owner of live addresses stays', async (t) => {
  const organization = await cloud.organization();
  const { owner } = organization;
  const { client, made, id } = await withPasskey(owner);
  await cloud.database.owner`
    update flock.account set state = jsonb_set(state, '{activeAddresses}', '1') where account_id = ${organization.live.accountId}`;
  const { codes } = await client.must('makeRecoveryCodes', { body: {} });
  const byPasskey = device.answer(made, await client.must('askPasskey', { body: { operation: 'disableTotp' } }));
  t.is(reasonOf(await client.call('disableTotp', { body: { passkey: byPasskey } })), 'done', 'another factor stays');
  const plain = await open.call('login', { body: { email: owner.email, password: owner.password } });
  t.deepEqual(reasonOf(plain), ['TOTP_REQUIRED', 'missing']);
  t.deepEqual((plain as any).details.accepts, ['passkey', 'recovery_code']);
  t.is(
    reasonOf(
      await open.call('login', { body: { email: owner.email, password: owner.password, recoveryCode: codes[0]! } }),
    ),
    'done',
  );
  const token = await signIn(made);
  if (isRefusal(token)) return t.fail();
  const mine = as(token.accessToken);
  t.deepEqual(reasonOf(await mine.call('removePasskey', { params: { id } })), ['CONFLICT', 'required']);
  const second = await add(mine);
  t.is(reasonOf(second.outcome), 'done');
  t.is(reasonOf(await mine.call('removePasskey', { params: { id } })), 'done');
  t.deepEqual(reasonOf(await mine.call('removePasskey', { params: { id } })), ['NOT_FOUND', undefined]);
  t.deepEqual(reasonOf(await signIn(made)), ['UNAUTHORIZED', undefined], 'the removed one');
  await letters.to(owner.email, 'A passkey was removed');
  const stranger = as(await cloud.signIn(await cloud.person()));
  t.deepEqual(
    reasonOf(await stranger.call('removePasskey', { params: { id: (second.outcome as any).id } })),
    ['NOT_FOUND', undefined],
    'somebody else’s',
  );
});

test.serial('console A21: of two last factors that are taken away at once one stays', async (t) => {
  const organization = await cloud.organization();
  const { owner } = organization;
  const { client, made, id } = await withPasskey(owner);
  const { outcome } = await add(client);
  if (isRefusal(outcome)) return t.fail(JSON.stringify(outcome));
  await cloud.database.owner`
    update flock.account set state = jsonb_set(state, '{activeAddresses}', '1') where account_id = ${organization.live.accountId}`;
  const disabled = device.answer(made, await client.must('askPasskey', { body: { operation: 'disableTotp' } }));
  t.is(reasonOf(await client.call('disableTotp', { body: { passkey: disabled } })), 'done');
  const removals = await cloud.database.owner.begin(async (lock) => {
    await lock`select 1 from flock.console_user where id = ${owner.id} for update`;
    const both = [id, outcome.id].map((of) => client.call('removePasskey', { params: { id: of } }));
    await patiently(
      'both wait',
      () => cloud.database.admin`
        select 1 from pg_stat_activity
         where wait_event_type = 'Lock' and query like '%delete from passkey p%' and datname = current_database()`,
      (rows) => rows.length === 2,
    );
    return { both };
  });
  const outcomes = (await Promise.all(removals.both)).map((one) => String(reasonOf(one)));
  t.deepEqual(outcomes.toSorted(), ['CONFLICT,required', 'done']);
  t.like(await client.must('getMe'), { passkeys: 1, secondFactor: true });
  for (const statement of [
    cloud.database.owner`delete from flock.passkey where user_id = ${owner.id}`,
    cloud.database.owner`
      with gone as (delete from flock.passkey where user_id = ${owner.id})
      update flock.console_user set totp_confirmed = false where id = ${owner.id}`,
  ])
    t.is((await t.throwsAsync<Error & { constraint_name?: string }>(statement)).constraint_name, 'factor_kept');
});

test('console A24: an origin that browsers take no passkeys of says so, and names the setting', (t) => {
  const at = (publicUrl: string) => createPasskeys({ publicUrl, store: {} as never, nowMs: Date.now }).unavailable();
  for (const url of ['https://192.0.2.1', 'http://127.0.0.1:8080', 'https://[::1]', 'http://cloud.example'])
    t.like(at(url), { code: 'CONFLICT', details: { reason: 'no_passkeys_here', setting: 'PUBLIC_URL' } });
  for (const url of ['https://cloud.example', 'https://cloud.example:8443', 'http://localhost:8080'])
    t.is(at(url), null);
});

test('console A43: a thousand passkey bodies pass the guard of key material', (t) => {
  for (let made = 0; made < 500; made += 1) {
    const user = { id: Buffer.from('usr_2al4mzhq4htm3ha6e3pg5w7rx2').toString('base64url') };
    const { made: passkey, answer } = device.make({ challenge: newChallenge(), rp: { id: 'cloud.example' }, user });
    t.is(findKeyMaterial(Buffer.from(JSON.stringify({ name: 'x', passkey: answer }))), null);
    const given = device.answer(passkey, { challenge: newChallenge(), rpId: 'cloud.example' });
    t.is(findKeyMaterial(Buffer.from(JSON.stringify({ passkey: given }))), null);
  }
});
const newChallenge = () => Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url');
