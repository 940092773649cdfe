/** The wipe of an account from outside: who schedules it, with what, and who takes it back. Console A48. */
import test from 'ava';
import { createClient } from '../../protocol/client.ts';
import { codeOf, enrol, startTestCloud, testEdge, newEvmKey } from '../support/gateway.ts';
import { newId } from '../../protocol/node/ids.ts';
import { mailbox } from '../support/letters.ts';
import { EDGE_VERSION } from '../../protocol/frames.ts';

const letters = mailbox();
const cloud = await startTestCloud({ ETH_RPC_URLS: 'http://127.0.0.1:9', MAIL_DIR: letters.directory });
test.after.always(() => cloud.stop());

const HOURS_72 = 72 * 3_600_000;

async function owned() {
  const organization = await cloud.organization();
  const bearer = await cloud.signIn(organization.owner);
  const name = `Organization ${organization.id}`;
  const of = (environment: 'live' | 'sandbox', token = bearer) =>
    createClient({ baseUrl: cloud.url, bearer: token, environment });
  return { organization, name, of, code: (steps = 1) => codeOf(organization.owner, steps) };
}

test('console A48: an owner schedules it with the name and a code of their own; owners are mailed, and any of them takes it back', async (t) => {
  const { organization, name, of, code } = await owned();
  const owner = of('sandbox');
  const environment = 'sandbox' as const;
  t.deepEqual(await owner.must('getWipe'), { wipe: null });
  t.like(await owner.call('scheduleWipe', { body: { environment, confirm: name } }), {
    code: 'TOTP_REQUIRED',
    details: { reason: 'missing', accepts: ['totp', 'passkey'] },
  });
  t.like(await owner.call('scheduleWipe', { body: { environment, confirm: `${name} `, totp: code() } }), {
    code: 'INVALID_INPUT',
    details: { field: 'body.confirm' },
  });
  t.like(await owner.call('scheduleWipe', { body: { environment: 'live', confirm: name, totp: code() } }), {
    code: 'INVALID_INPUT',
    details: { field: 'body.environment' },
  });
  const askedAtMs = Date.now();
  const asked = { body: { environment, confirm: name, totp: code() }, idempotencyKey: 'once' };
  const scheduled = await owner.must('scheduleWipe', asked);
  t.deepEqual(await owner.must('scheduleWipe', asked), scheduled, 'a repetition is the first answer');
  const inMs = Date.parse(scheduled.scheduledFor) - askedAtMs;
  t.true(inMs >= HOURS_72 && inMs < HOURS_72 + 60_000, `${inMs}`);
  t.like((await owner.must('getWipe')).wipe, { id: scheduled.id, status: 'scheduled', askedBy: organization.owner.id });
  t.deepEqual(await of('live').must('getWipe'), { wipe: null }, 'of one environment');
  const [letter] = await letters.to(organization.owner.email, 'will be wiped');
  t.regex(letter!.text, /sandbox environment/);
  t.regex(letter!.text, /phrase is untouched/);

  const second = await cloud.person();
  await cloud.join(second, organization, 'owner');
  const other = of('sandbox', await cloud.signIn(second));
  t.like(await other.call('scheduleWipe', { body: { environment, confirm: name, totp: codeOf(second, 1) } }), {
    code: 'CONFLICT',
    details: { reason: 'scheduled', wipeId: scheduled.id },
  });
  t.deepEqual(await other.must('cancelWipe'), { id: scheduled.id, cancelled: true });
  t.like(await other.call('cancelWipe'), { code: 'NOT_FOUND' });
  t.like((await owner.must('getWipe')).wipe, { id: scheduled.id, status: 'cancelled' });
  await letters.to(organization.owner.email, 'will not be wiped');
  await letters.to(second.email, 'will not be wiped');
  const { content } = await owner.must('listAuditLog');
  for (const action of ['scheduleWipe', 'cancelWipe'])
    t.true(
      content.some((entry) => entry.action === action && entry.outcome === 'done' && entry.target === scheduled.id),
      action,
    );
});

test('console A48: a withdrawal under way, and a rotation that waits, refuse it by name', async (t) => {
  const { organization, name, of, code } = await owned();
  const { sandbox } = organization;
  await enrol(cloud, sandbox);
  const { address } = await sandbox.client.must('createAddress', { body: { chain: 'eth', userRef: 'u1' } });
  await sandbox.client.must('simulateDeposit', { body: { chain: 'eth', address, amount: '5', autoConfirm: true } });
  const to = '0x52908400098527886E0F7030069857D2E4169EE7';
  const built = await sandbox.client.must('buildTransaction', {
    body: { chain: 'eth', from: address, to, amount: '1000' },
  });
  const schedule = (steps: number) =>
    of('sandbox').call('scheduleWipe', { body: { environment: 'sandbox', confirm: name, totp: code(steps) } });
  t.like(await schedule(1), {
    code: 'CONFLICT',
    details: { reason: 'open_withdrawals', transactionId: built.id, count: 1 },
  });
  const { organization: rotating, name: itsName, of: its, code: itsCode } = await owned();
  await enrol(cloud, rotating.sandbox);
  const edge = testEdge(cloud, rotating.sandbox.apiKey);
  await edge.client.call('syncEdge', {
    body: { edgeVersion: EDGE_VERSION, sessionId: edge.sessionId, keys: [newEvmKey()], pools: [] },
  });
  t.like(
    await its('sandbox').call('scheduleWipe', {
      body: { environment: 'sandbox', confirm: itsName, totp: itsCode() },
    }),
    { code: 'CONFLICT', details: { reason: 'rotation_pending' } },
  );
});

test('console A49: while an account is wiped nothing of a migration begins, which would stay behind the deletion', async (t) => {
  const { organization } = await owned();
  const { accountId, client } = organization.sandbox;
  const wipe = JSON.stringify({ id: newId('wip', Date.now()), forMs: 0, status: 'closing' });
  // Before its actor is asked for the first time.
  await cloud.database.owner`update account set state = state || jsonb_build_object('wipe', ${wipe}::text::jsonb)
    where account_id = ${accountId}`;
  const params = { projectId: newId('mig', Date.now()) };
  const batch = { batchId: newId('imp', Date.now()) };
  for (const [name, answer] of Object.entries({
    project: await client.call('createMigrationProject', { body: { name: 'old' } }),
    upload: await client.call('createUpload', { body: { filename: 'old.csv' } }),
    batch: await client.call('createImport', { params, body: { uploadId: newId('upl', Date.now()) } }),
    validation: await client.call('validateImport', { params: batch }),
    scan: await client.call('discover', { params, body: { chain: 'eth', keySourceId: 'ks_1' } }),
  }))
    t.like(answer, { code: 'ACCOUNT_SUSPENDED', details: { reason: 'wipe' } }, name);
});
