import test from 'ava';
import { deviceKey } from '../../clients/cli/device.ts';
import { createClient } from '../../protocol/client.ts';
import { isRefusal, type Refusal } from '../../protocol/errors.ts';
import { startTestCloud } from '../support/gateway.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const cloud = await startTestCloud({ PUBLIC_URL: 'https://cloud.example', TRUSTED_PROXIES: '127.0.0.1' });
test.after.always(() => cloud.stop());

const from = (address: string) =>
  createClient({
    baseUrl: cloud.url,
    fetch: (url, init) => fetch(url, { ...init, headers: { ...init?.headers, 'x-forwarded-for': address } }),
  });
let addresses = 0;
/** A command line of an address of its own. */
const commandLine = () => from(`203.0.113.${(addresses += 1)}`);
const as = (bearer: string) => createClient({ baseUrl: cloud.url, bearer });

async function asked() {
  const client = commandLine();
  const begun = await client.must('askDevice', { body: {} });
  /** Once its five seconds are over. */
  const letAsk = () => cloud.database.owner`
    update flock.device_login set polled_at = null where id = ${begun.deviceCode.split('.')[0]!} and spent_at is null`;
  const take = () => client.call('takeDeviceKey', { body: { deviceCode: begun.deviceCode } });
  return { client, begun, letAsk, take };
}
async function owner() {
  const organization = await cloud.organization();
  return { organization, client: as(await cloud.signIn(organization.owner)) };
}
const refusalOf = (answer: unknown): Refusal => {
  if (!isRefusal(answer as Refusal)) throw new Error(`no refusal: ${JSON.stringify(answer)}`);
  return answer as Refusal;
};

test('ecosystem X28 a code that a person approves becomes one key of the sandbox, labelled cli, that ends in 90 days', async (t) => {
  const { client } = await owner();
  const { begun, letAsk, take } = await asked();
  t.like(begun, { verificationUri: 'https://cloud.example/console/device', expiresInSeconds: 600, intervalSeconds: 5 });
  t.regex(begun.userCode, /^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$/);
  t.deepEqual(await take(), { status: 'pending', key: null, environment: null, role: null, expiresAt: null });
  const approved = await client.must('approveDevice', {
    body: { userCode: begun.userCode.toLowerCase(), role: 'editor' },
  });
  t.deepEqual(approved, { approved: true, environment: 'sandbox', role: 'editor' }, 'sandbox unless live is chosen');
  await letAsk();
  const taken = await take();
  if (isRefusal(taken)) return t.fail(JSON.stringify(taken));
  t.regex(taken.key!, /^flk_test_/);
  t.false(isRefusal(await createClient({ baseUrl: cloud.url, apiKey: taken.key! }).call('listAddresses')));
  const [key] = (await client.must('listApiKeys')).content.filter(({ label }) => label === 'cli');
  t.like(key, { environment: 'sandbox', role: 'editor', status: 'active', expiresAt: taken.expiresAt });
  const days = (Date.parse(key!.expiresAt!) - Date.parse(key!.createdAt)) / 86_400_000;
  t.is(days, 90);
  t.like(refusalOf(await take()), { code: 'CONFLICT', details: { reason: 'used' } });
  t.like(refusalOf(await client.call('approveDevice', { body: { userCode: begun.userCode } })), {
    code: 'CONFLICT',
    details: { reason: 'used' },
  });
  const entries = await cloud.database.owner<{ action: string }[]>`
    select action from flock.audit_entry where target = ${key!.id}`;
  t.deepEqual(
    entries.map(({ action }) => action),
    ['takeDeviceKey'],
  );
});

test('ecosystem X28 of two that ask with one code at once, one is told its key', async (t) => {
  const { client } = await owner();
  const { begun, take } = await asked();
  await client.must('approveDevice', { body: { userCode: begun.userCode } });
  const answers = await Promise.all([take(), take(), take()]);
  t.is(answers.filter((answer) => !isRefusal(answer)).length, 1);
  for (const answer of answers.filter((one) => isRefusal(one)))
    t.like(answer, { code: 'CONFLICT', details: { reason: 'used' } });
});

test('ecosystem X28 who asks sooner than after five seconds is told to slow down, by the header too', async (t) => {
  const { take, letAsk } = await asked();
  const startedMs = Date.now();
  let soon = await take();
  // A machine that is busy may take longer than five seconds for two questions: then nobody asked too soon.
  for (;;) {
    await letAsk();
    await take();
    soon = await take();
    if (isRefusal(soon) || Date.now() - startedMs > PATIENCE_MS) break;
  }
  t.like(refusalOf(soon), { code: 'RATE_LIMIT_EXCEEDED', details: { reason: 'slow_down', retryAfterSeconds: 5 } });
});

test('ecosystem X28 the secret of another poller, a code that is too old and one that there is not are refused by name', async (t) => {
  const { client } = await owner();
  const [one, two] = [await asked(), await asked()];
  const [id] = one.begun.deviceCode.split('.'),
    [, secret] = two.begun.deviceCode.split('.');
  const take = (deviceCode: string) => two.client.call('takeDeviceKey', { body: { deviceCode } });
  t.like(refusalOf(await take(`${id}.${secret}`)), { code: 'CONFLICT', details: { reason: 'another_poller' } });
  t.like(refusalOf(await take(`dvc_${'a'.repeat(26)}.${secret}`)), { code: 'NOT_FOUND' });
  t.like(refusalOf(await take('dvc_x')), { code: 'INVALID_INPUT' });
  await cloud.database.owner`alter table flock.device_login disable trigger device_login_once`;
  await cloud.database.owner`update flock.device_login set expires_at = now() - interval '1 second' where id = ${id!}`;
  await cloud.database.owner`alter table flock.device_login enable trigger device_login_once`;
  t.like(refusalOf(await one.take()), { code: 'CONFLICT', details: { reason: 'expired' } });
  t.like(refusalOf(await client.call('approveDevice', { body: { userCode: one.begun.userCode } })), {
    code: 'NOT_FOUND',
  });
});

test('ecosystem X28 live needs a fresh second factor, and nobody gives a role above their own', async (t) => {
  const { organization, client } = await owner();
  const { begun, take } = await asked();
  const live = { userCode: begun.userCode, environment: 'live' as const };
  const without = await cloud.person({ totp: false });
  await cloud.join(without, organization, 'editor');
  const unproven = as(await cloud.signIn(without, { organizationId: organization.id }));
  t.like(refusalOf(await unproven.call('approveDevice', { body: live })), {
    code: 'TOTP_REQUIRED',
    details: { reason: 'not_enrolled' },
  });
  const viewer = await cloud.person();
  await cloud.join(viewer, organization, 'viewer');
  const reads = as(await cloud.signIn(viewer, { organizationId: organization.id }));
  t.like(refusalOf(await reads.call('approveDevice', { body: { userCode: begun.userCode, role: 'editor' } })), {
    code: 'FORBIDDEN',
    details: { needs: 'editor', has: 'viewer' },
  });
  await client.must('approveDevice', { body: live });
  const taken = await take();
  if (isRefusal(taken)) return t.fail(JSON.stringify(taken));
  t.regex(taken.key!, /^flk_live_/);
  t.is(taken.role, 'viewer');
});

test('ecosystem X28 who left meanwhile leaves no key behind', async (t) => {
  const { organization, client } = await owner();
  const { begun, take } = await asked();
  await client.must('approveDevice', { body: { userCode: begun.userCode } });
  await cloud.database.owner`update flock.console_user set suspended_at = now() where id = ${organization.owner.id}`;
  t.like(refusalOf(await take()), { code: 'CONFLICT', details: { reason: 'role' } });
});

test('ecosystem X28 an address has five codes an hour, and a person types five', async (t) => {
  const { client } = await owner();
  const one = from('198.51.100.7');
  for (let n = 0; n < 5; n += 1) t.false(isRefusal(await one.call('askDevice', { body: {} })));
  t.like(refusalOf(await one.call('askDevice', { body: {} })), {
    code: 'RATE_LIMIT_EXCEEDED',
    details: { windowSeconds: 3_600 },
  });
  const guess = () => client.call('approveDevice', { body: { userCode: 'BBBB-BBBB' } });
  for (let n = 0; n < 5; n += 1) t.like(refusalOf(await guess()), { code: 'NOT_FOUND' });
  t.like(refusalOf(await guess()), { code: 'RATE_LIMIT_EXCEEDED' });
});

test('ecosystem X28 flock login waits as long as it is told, and ends with the key or by name', async (t) => {
  const { client } = await owner();
  const waits: number[] = [];
  const told: string[] = [];
  let polls = 0;
  const line = commandLine();
  const key = await deviceKey(
    line,
    (text) => void told.push(text),
    async (ms) => {
      waits.push(ms);
      const userCode = /[A-Z]{4}-[A-Z]{4}$/.exec(told[0]!)![0];
      if ((polls += 1) === 3) await client.must('approveDevice', { body: { userCode } });
      await cloud.database.owner`update flock.device_login set polled_at = null
        where user_code = ${userCode.replace('-', '')} and spent_at is null`;
    },
  );
  t.regex(key, /^flk_test_/);
  t.deepEqual(waits, [5_000, 5_000, 5_000]);
  const refusing = async (reason: string) =>
    deviceKey(
      {
        call: (async (operation: string) =>
          operation === 'askDevice'
            ? { deviceCode: 'x', userCode: 'x', verificationUri: 'x', expiresInSeconds: 20, intervalSeconds: 5 }
            : { ok: false, code: 'RATE_LIMIT_EXCEEDED', message: '', details: { reason } }) as never,
      },
      () => undefined,
      async (ms) => void waits.push(ms),
    );
  waits.length = 0;
  await t.throwsAsync(refusing('slow_down'), { message: /nobody approved/ });
  t.deepEqual(waits.slice(0, 2), [5_000, 10_000]);
  await t.throwsAsync(refusing('x'), { name: 'CommandFailed' });
});
