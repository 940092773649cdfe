/** What a platform administrator may do to an account: suspension and plan. Spec §3.8, §8.2; decisions 2. */
import test from 'ava';
import { createClient } from '../../protocol/client.ts';
import { EDGE_VERSION } from '../../protocol/frames.ts';
import { accountIdOf } from '../../protocol/ids.ts';
import { newId } from '../../protocol/node/ids.ts';
import { codesOf } from '../../protocol/route.ts';
import { routeOf, type OperationId } from '../../protocol/routes.ts';
import { enrol, eventually, newEvmKey, startTestCloud, type TestAccountKey } from '../support/gateway.ts';

const cloud = await startTestCloud({ ETH_RPC_URLS: 'http://127.0.0.1:9' });
const operator = await cloud.person({ admin: true });
const admin = createClient({ baseUrl: cloud.url, bearer: await cloud.signIn(operator) });
test.after.always(() => cloud.stop());

const TO = '0x52908400098527886E0F7030069857D2E4169EE7';
const suspension = ({ accountId }: Pick<TestAccountKey, 'accountId'>, suspended: boolean, reason?: string) =>
  admin.call('setSuspension', {
    params: { accountId },
    body: { suspended, ...(reason === undefined ? {} : { reason }) },
  });
const plan = ({ accountId }: Pick<TestAccountKey, 'accountId'>, body: object) =>
  admin.call('setPlan', { params: { accountId }, body });
const hook = { url: 'https://example.com/hooks', events: ['deposit_confirmed' as const] };
const fund = ({ client }: TestAccountKey, address: string) =>
  client.must('simulateDeposit', {
    body: { chain: 'eth', address, amount: '5', autoConfirm: true, confirmAfterSeconds: 0 },
  });
const confirmed = ({ client }: TestAccountKey, count: number) =>
  eventually(
    'the deposits are confirmed',
    () => client.must('listTransactions', { query: { direction: 'in', status: 'confirmed' } }),
    ({ totalElements }) => totalElements === count,
  );

test('§7.2 a suspended account builds, submits, enrols, pushes and registers nothing; reads, deposits and webhooks go on', async (t) => {
  const { sandbox, live } = await cloud.organization();
  const edge = await enrol(cloud, sandbox),
    { client } = sandbox;
  const { address } = await client.must('createAddress', { body: { chain: 'eth', userRef: 'customer-1' } });
  await fund(sandbox, address);
  await confirmed(sandbox, 1);
  const payment = { chain: 'eth' as const, from: address, to: TO, amount: '1000' };
  const built = await client.must('buildTransaction', { body: payment });
  const { id: webhookId } = await client.must('createWebhook', { body: hook });

  await client.must('rotateWebhookSecret', { params: { webhookId } });

  t.deepEqual(await suspension(sandbox, true, 'chargebacks'), { accountId: sandbox.accountId, suspended: true });
  const { id: addressId } = (await client.must('listAddresses')).content[0]!;
  const params = { id: built.id },
    hookParams = { webhookId };
  const refused = {
    buildTransaction: await client.call('buildTransaction', { body: payment }),
    repriceTransaction: await client.call('repriceTransaction', { params }),
    broadcastTransaction: await client.call('broadcastTransaction', { params }),
    createAddress: await client.call('createAddress', { body: { chain: 'eth', userRef: 'customer-1' } }),
    archiveAddress: await client.call('archiveAddress', { params: { id: addressId } }),
    unarchiveAddress: await client.call('unarchiveAddress', { params: { id: addressId } }),
    createWebhook: await client.call('createWebhook', { body: hook }),
    replaceWebhook: await client.call('replaceWebhook', { params: hookParams, body: hook }),
    rotateWebhookSecret: await client.call('rotateWebhookSecret', { params: hookParams }),
    dropPreviousWebhookSecret: await client.call('dropPreviousWebhookSecret', { params: hookParams }),
    submitSigned: await edge.client.call('submitSigned', {
      params,
      body: { signedPayload: '0x02', txid: `0x${'1'.repeat(64)}`, sessionId: edge.sessionId, leaseEpoch: 1 },
    }),
    syncEdge: await edge.client.call('syncEdge', {
      body: { edgeVersion: EDGE_VERSION, sessionId: edge.sessionId, keys: [newEvmKey()], pools: [] },
    }),
    pushPool: await edge.client.call('pushPool', {
      body: {
        pool: {
          chain: 'sol',
          addresses: [],
          gasTank: { address: '11111111111111111111111111111112', path: "m/44'/501'/0'/0'" },
        },
      },
    }),
    registerKeySource: await edge.client.call('registerKeySource', {
      body: {
        fingerprint: '0011223344556677',
        label: 'old',
        kind: 'phrase',
        keystore: 'file',
        chains: ['eth'],
        keys: [{ chain: 'eth', path: "m/44'/60'/0'", xpub: newEvmKey().xpub }],
        addresses: [],
      },
    }),
  };
  for (const [operation, answer] of Object.entries(refused)) {
    t.like(answer, { code: 'ACCOUNT_SUSPENDED' }, operation);
    t.true(
      codesOf(routeOf(operation as OperationId)).includes('ACCOUNT_SUSPENDED'),
      `${operation}: in the description`,
    );
  }

  await fund(sandbox, address);
  t.is((await confirmed(sandbox, 2)).totalElements, 2);
  await eventually(
    'the second deposit is told',
    () => client.must('listWebhookDeliveries', { params: { webhookId } }),
    ({ totalElements }) => totalElements === 1,
  );
  t.is((await client.must('listAddresses')).totalElements, 1);
  t.like(await client.must('getTransaction', { params: { id: built.id } }), { status: 'built' });
  await enrol(cloud, live); // the other environment is another account
  t.like(await live.client.call('createAddress', { body: { chain: 'eth', userRef: 'customer-1' } }), { chain: 'eth' });

  t.deepEqual(await suspension(sandbox, false), { accountId: sandbox.accountId, suspended: false });
  t.like(await client.call('createAddress', { body: { chain: 'eth', userRef: 'customer-1' } }), { chain: 'eth' });
  t.like(await client.call('buildTransaction', { body: { ...payment, amount: '1' } }), { status: 'built' });
  const events = await cloud.database.owner<{ body: object }[]>`
    select body from event where account_id = ${sandbox.accountId} and body ->> 'type' = 'suspension_changed' order by version`;
  t.deepEqual(
    events.map(({ body }) => body),
    [
      { type: 'suspension_changed', suspended: true, byUser: operator.id, reason: 'chargebacks' },
      { type: 'suspension_changed', suspended: false, byUser: operator.id },
    ],
  );
  t.is(
    cloud.lines.filter(
      (line) => line.includes(sandbox.accountId) && line.includes(operator.id) && line.includes('suspen'),
    ).length,
    2,
  );
});

test('§3.8, §8.2 a changed plan counts at once: tier limits, a lapsed subscription, the band; a smaller band waits', async (t) => {
  const { live, sandbox } = await cloud.organization({ tier: 'free', band: 'launch' });
  await enrol(cloud, live);
  const { client } = live;
  await client.must('createWebhook', { body: hook });
  t.like(await client.call('createWebhook', { body: hook }), {
    code: 'TIER_FEATURE_LOCKED',
    details: { requiredTier: 'premium' },
  });
  t.like(await plan(live, { tier: 'premium' }), {
    accountId: live.accountId,
    tier: 'premium',
    band: 'launch',
    subscription: 'active',
    pendingBand: null,
  });
  t.like(await client.call('createWebhook', { body: hook }), { status: 'enabled' });
  t.like(await plan(live, { subscription: 'lapsed' }), { tier: 'premium', subscription: 'lapsed' });
  t.like(await client.call('createAddress', { body: { chain: 'eth', userRef: 'customer-1' } }), {
    code: 'NO_SUBSCRIPTION',
  });
  t.is((await client.must('listWebhooks')).totalElements, 2, 'reads go on');
  t.like(await plan(live, { subscription: 'active', band: 'growth' }), { band: 'growth', subscription: 'active' });
  t.like(await client.call('createAddress', { body: { chain: 'eth', userRef: 'customer-1' } }), { chain: 'eth' });
  t.like(await plan(live, { band: 'launch' }), { band: 'growth', pendingBand: { band: 'launch' } });
  t.like((await client.must('getUsage')).plan, { tier: 'premium', band: 'growth', pendingBand: { band: 'launch' } });
  t.like(
    (await sandbox.client.must('getUsage')).plan,
    { tier: 'free', band: 'launch', pendingBand: null },
    'the other environment is another account',
  );
  const { live: full } = await cloud.organization();
  await cloud.database
    .owner`update account set state = jsonb_set(state, '{activeAddresses}', '101') where account_id = ${full.accountId}`;
  t.like(await plan(full, { tier: 'free' }), { code: 'ADDRESS_LIMIT_EXCEEDED', details: { limit: 100, current: 101 } });
  t.like(await plan(full, { tier: 'premium' }), { tier: 'premium' });
});

test('§7.2 an unknown account is NOT_FOUND, who is no administrator FORBIDDEN, and a plan of nothing INVALID_INPUT', async (t) => {
  const organization = await cloud.organization();
  const {
    live: { accountId },
  } = organization;
  const owner = createClient({ baseUrl: cloud.url, bearer: await cloud.signIn(organization.owner) });
  for (const unknown of [
    accountIdOf(newId('org', Date.now()), 'live'),
    `${organization.id}_test`,
    organization.id,
    'x',
  ]) {
    t.like(await suspension({ accountId: unknown as typeof accountId }, true), { code: 'NOT_FOUND' }, unknown);
    t.like(await plan({ accountId: unknown as typeof accountId }, { tier: 'free' }), { code: 'NOT_FOUND' }, unknown);
  }
  t.like(await owner.call('setSuspension', { params: { accountId }, body: { suspended: true } }), {
    code: 'FORBIDDEN',
  });
  t.like(await owner.call('setPlan', { params: { accountId }, body: { tier: 'ultimate' } }), { code: 'FORBIDDEN' });
  for (const body of [{}, { tier: 'gold' }, { band: null }, { subscription: 'none' }, { paymentsActive: true }]) {
    t.like(await plan({ accountId }, body), { code: 'INVALID_INPUT' }, JSON.stringify(body));
  }
  t.like(await admin.call('setSuspension', { params: { accountId }, body: {} as never }), { code: 'INVALID_INPUT' });
});
