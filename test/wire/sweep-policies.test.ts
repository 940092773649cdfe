import test from 'ava';
import { enrol, jsonOf, raw, startTestCloud, type TestAccountKey } from '../support/gateway.ts';

const cloud = await startTestCloud();
test.after.always(() => cloud.stop());

const PATH = '/v1/treasury/sweeps/policies';
const USDT = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
const send = (method: string, path: string, { apiKey }: TestAccountKey, body: unknown = {}, headers = {}) =>
  raw(cloud.url, method, path, {
    headers: jsonOf(apiKey, headers),
    ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
  });

async function treasuryOf(account: TestAccountKey) {
  await enrol(cloud, account);
  const wallet = await account.client.must('createTreasuryWallet', { body: { chain: 'eth', source: 'derived' } });
  const tank = await account.client.must('createFundingWallet', { body: { chain: 'eth' } });
  const ofBase = await account.client.must('createTreasuryWallet', { body: { chain: 'base', source: 'derived' } });
  const baseTank = await account.client.must('createFundingWallet', { body: { chain: 'base' } });
  const full = {
    chain: 'eth',
    token: 'USDT',
    enabled: true,
    triggerMode: 'THRESHOLD_AND_SCHEDULE',
    minAmount: '50000000',
    scheduleCron: '0 0 3 * * *',
    treasuryWalletId: wallet.id,
    fundingWalletId: tank.id,
    gasFundingMode: 'FUNDING_WALLET',
    maxFeeRatioBps: 500,
    dustFloor: '1000000',
    abortIfGasExceeds: '9000000000000000',
    pauseOnConsecutiveFailures: 3,
    retainGasFloat: 0,
  };
  const native = { chain: 'eth', triggerMode: 'MANUAL', treasuryWalletId: wallet.id };
  return { wallet, tank, ofBase, baseTank, full, native };
}

test('§2.10, treasury S2: a policy is made, read, listed, replaced and ended by its own account only', async (t) => {
  const { sandbox, live } = await cloud.organization();
  const { full, native } = await treasuryOf(sandbox);
  const made = await send('POST', PATH, sandbox, full, { 'idempotency-key': 'p' });
  t.is(made.status, 201, made.text);
  const policy = made.json.data;
  t.like(policy, { ...full, token: USDT, version: 1, pausedAt: null, pausedReason: null, consecutiveFailures: 0 });
  t.true(policy.nextRunAt.endsWith('T03:00:00.000Z'));
  t.deepEqual((await send('POST', PATH, sandbox, full, { 'idempotency-key': 'p' })).json.data, policy);
  const other = (await send('POST', PATH, sandbox, native)).json.data;
  t.like(other, { token: null, enabled: false, gasFundingMode: 'SELF', dustFloor: '0', nextRunAt: null });
  t.deepEqual((await send('GET', `${PATH}/${policy.id}`, sandbox)).json.data, policy);
  t.is((await send('GET', PATH, sandbox)).json.data.totalElements, 2);
  for (const [method, path, body] of [
    ['GET', '', {}],
    ['PUT', '', full],
    ['DELETE', '', {}],
    ['POST', '/pause', {}],
    ['POST', '/resume', {}],
  ] as const)
    t.is((await send(method, `${PATH}/${policy.id}${path}`, live, body)).json.error.code, 'NOT_FOUND', method + path);
  const changed = await send('PUT', `${PATH}/${policy.id}`, sandbox, {
    ...full,
    enabled: false,
    version: 1,
    dustFloor: '7',
  });
  t.like(changed.json.data, { version: 2, dustFloor: '7', enabled: false, nextRunAt: null }, changed.text);
  t.like((await send('PUT', `${PATH}/${policy.id}`, sandbox, { ...full, version: 1 })).json.error, {
    code: 'CONFLICT',
    details: { reason: 'version', expected: 1, found: 2 },
  });
  t.is((await send('DELETE', `${PATH}/${other.id}`, sandbox)).status, 200);
  t.is((await send('GET', `${PATH}/${other.id}`, sandbox)).json.error.code, 'NOT_FOUND');
  t.is((await send('POST', PATH, sandbox, native)).status, 201, 'the pair is free again');
});

test('treasury 5.1: each setting that does not fit is refused with its own code and field', async (t) => {
  const { sandbox } = await cloud.organization();
  const { full, native, ofBase, baseTank, tank } = await treasuryOf(sandbox);
  const refused: readonly [object, string, object?][] = [
    [{ ...full, chain: 'doge' }, 'INVALID_CHAIN'],
    [{ ...full, chain: undefined }, 'INVALID_INPUT'],
    [{ ...full, token: `0x${'1'.repeat(40)}` }, 'TOKEN_NOT_SUPPORTED'],
    [{ ...full, token: 'nothing' }, 'TOKEN_NOT_SUPPORTED'],
    [{ ...full, token: '0x55d398326f99059fF775485246999027B3197955' }, 'TOKEN_NOT_ON_CHAIN', { deployedOn: ['bsc'] }],
    [{ ...full, token: 'RLUSD' }, 'TOKEN_NOT_ON_CHAIN'],
    [{ ...full, triggerMode: 'SOMETIMES' }, 'INVALID_INPUT'],
    [{ ...full, minAmount: '0' }, 'INVALID_AMOUNT'],
    [{ ...full, minAmount: '-1' }, 'INVALID_AMOUNT'],
    [{ ...full, minAmount: undefined }, 'INVALID_INPUT', { field: 'minAmount' }],
    [{ ...full, minAmount: '999999' }, 'INVALID_INPUT', { field: 'minAmount' }],
    [{ ...full, scheduleCron: undefined }, 'INVALID_INPUT', { field: 'scheduleCron' }],
    [{ ...full, scheduleCron: 'often' }, 'INVALID_INPUT', { field: 'scheduleCron' }],
    [{ ...full, scheduleCron: '0 0 0 30 2 *' }, 'INVALID_INPUT', { field: 'scheduleCron' }],
    [{ ...full, scheduleCron: '* * * * * *' }, 'INVALID_INPUT', { field: 'scheduleCron' }],
    [{ ...full, scheduleTimeZone: 'Mars/Olympus' }, 'INVALID_INPUT', { field: 'scheduleTimeZone' }],
    [{ ...full, treasuryWalletId: 'wal_24pgoiqjq2dgpoqhm7nuhjd5zi' }, 'NOT_FOUND', { field: 'treasuryWalletId' }],
    [{ ...full, treasuryWalletId: ofBase.id }, 'INVALID_INPUT', { field: 'treasuryWalletId' }],
    [{ ...full, gasFundingMode: 'SELF' }, 'INVALID_INPUT', { field: 'gasFundingMode' }],
    [{ ...full, gasFundingMode: 'FEE_PAYER' }, 'INVALID_INPUT', { field: 'gasFundingMode' }],
    [{ ...full, fundingWalletId: undefined }, 'INVALID_INPUT', { field: 'fundingWalletId' }],
    [{ ...full, fundingWalletId: 'fwl_24pgoiqjq2dgpoqhm7nuhjd5zi' }, 'NOT_FOUND', { field: 'fundingWalletId' }],
    [{ ...full, fundingWalletId: baseTank.id }, 'INVALID_INPUT', { field: 'fundingWalletId' }],
    [{ ...full, dustFloor: '-1' }, 'INVALID_AMOUNT'],
    [{ ...full, dustFloor: '1.5' }, 'INVALID_AMOUNT'],
    [{ ...full, maxFeeRatioBps: 10_001 }, 'INVALID_INPUT'],
    [{ ...full, abortIfGasExceeds: '0' }, 'INVALID_AMOUNT'],
    [{ ...full, pauseOnConsecutiveFailures: 0 }, 'INVALID_INPUT'],
    [{ ...full, pauseOnConsecutiveFailures: 101 }, 'INVALID_INPUT'],
    [{ ...full, retainGasFloat: 1 }, 'INVALID_INPUT', { field: 'retainGasFloat' }],
    [{ ...native, retainGasFloat: 101 }, 'INVALID_INPUT'],
    [{ ...native, gasFundingMode: 'FUNDING_WALLET', fundingWalletId: tank.id }, 'INVALID_INPUT'],
    [{ ...native, fundingWalletId: tank.id }, 'INVALID_INPUT', { field: 'fundingWalletId' }],
    [{ ...native, closeTokenAccounts: true }, 'INVALID_INPUT', { field: 'closeTokenAccounts' }],
    [{ ...native, energy: 'BURN' }, 'INVALID_INPUT', { field: 'energy' }],
    [{ ...full, cron: 'x' }, 'INVALID_INPUT'],
    [{ ...full, previewHash: 'x' }, 'CONFLICT', { reason: 'preview_stale' }],
  ];
  for (const [body, code, details] of refused) {
    const answer = await send('POST', PATH, sandbox, body);
    t.is(answer.json.error?.code, code, JSON.stringify(body));
    if (details !== undefined) t.like(answer.json.error.details, details, JSON.stringify(body));
  }
  const first = (await send('POST', PATH, sandbox, full)).json.data;
  t.like((await send('POST', PATH, sandbox, { ...full, token: USDT })).json.error, {
    code: 'CONFLICT',
    details: { reason: 'policy_exists', policyId: first.id },
  });
  t.is((await send('POST', PATH, sandbox, { ...native, token: 'ETH' })).json.data.token, null);
  for (const [change, field] of [
    [{ token: 'USDC' }, 'token'],
    [{ chain: 'base' }, 'chain'],
  ] as const)
    t.like((await send('PUT', `${PATH}/${first.id}`, sandbox, { ...full, ...change })).json.error, {
      code: 'INVALID_INPUT',
      details: { field },
    });
});

test('treasury S3: paused by hand, resumed only by hand; nothing is due meanwhile', async (t) => {
  const { sandbox } = await cloud.organization();
  const { full } = await treasuryOf(sandbox);
  const { id, nextRunAt } = (await send('POST', PATH, sandbox, full)).json.data;
  t.truthy(nextRunAt);
  const paused = (await send('POST', `${PATH}/${id}/pause`, sandbox)).json.data;
  t.like(paused, { pausedReason: 'manual', nextRunAt: null, enabled: true });
  t.truthy(paused.pausedAt);
  t.deepEqual((await send('POST', `${PATH}/${id}/pause`, sandbox)).json.data, paused, 'again: the same');
  const replaced = (await send('PUT', `${PATH}/${id}`, sandbox, full)).json.data;
  t.like(replaced, { pausedAt: paused.pausedAt, nextRunAt: null }, 'settings do not resume it');
  t.like((await send('POST', `${PATH}/${id}/resume`, sandbox)).json.data, { pausedAt: null, pausedReason: null });
  t.truthy((await send('GET', `${PATH}/${id}`, sandbox)).json.data.nextRunAt);
});

test('treasury S1, 5.1: a viewer writes nothing, and an editor in the console enables only what was previewed', async (t) => {
  const organization = await cloud.organization();
  const { full } = await treasuryOf(organization.sandbox);
  const [viewer, editor] = [await cloud.person(), await cloud.person()];
  await cloud.join(viewer, organization, 'viewer');
  await cloud.join(editor, organization, 'editor');
  const tokens = new Map([
    [viewer, await cloud.signIn(viewer)],
    [editor, await cloud.signIn(editor)],
  ]);
  const by = (person: typeof viewer, body: object) =>
    raw(cloud.url, 'POST', PATH, {
      headers: {
        authorization: `Bearer ${tokens.get(person)!}`,
        'x-environment': 'sandbox',
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    });
  t.is((await by(viewer, full)).json.error.code, 'FORBIDDEN');
  t.like((await by(editor, full)).json.error, { code: 'CONFLICT', details: { reason: 'preview_required' } });
  t.like((await by(editor, { ...full, previewHash: `zzzzzzzz-${'0'.repeat(64)}` })).json.error, {
    code: 'CONFLICT',
    details: { reason: 'preview_stale' },
  });
  t.is((await by(editor, { ...full, enabled: false })).status, 201);
});

test('treasury S3, S10, S16, S19: runs, jobs and retries of nothing, of other chains and of other accounts', async (t) => {
  const { sandbox, live } = await cloud.organization();
  const { native } = await treasuryOf(sandbox);
  const { id } = (await send('POST', PATH, sandbox, native)).json.data;
  const ran = await send('POST', `${PATH}/${id}/run`, sandbox, {}, { 'idempotency-key': 'r' });
  t.deepEqual(ran.json.data, { jobId: null, result: 'nothing_due', reason: null }, ran.text);
  const again = await send('POST', `${PATH}/${id}/run`, sandbox, {}, { 'idempotency-key': 'r' });
  t.deepEqual(again.json.data, ran.json.data);
  t.is((await send('POST', `${PATH}/${id}/run`, live)).json.error.code, 'NOT_FOUND');
  await send('POST', `${PATH}/${id}/pause`, sandbox);
  t.like((await send('POST', `${PATH}/${id}/run`, sandbox)).json.error, {
    code: 'CONFLICT',
    details: { reason: 'paused' },
  });
  const external = await sandbox.client.must('createTreasuryWallet', {
    body: { chain: 'btc', source: 'external', address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4' },
  });
  const ofBtc = await send('POST', PATH, sandbox, {
    chain: 'btc',
    triggerMode: 'MANUAL',
    treasuryWalletId: external.id,
  });
  t.like((await send('POST', `${PATH}/${ofBtc.json.data.id}/run`, sandbox)).json.error, {
    code: 'CHAIN_NOT_READY',
    details: { chain: 'btc' },
  });
  const jobs = '/v1/treasury/sweeps/jobs';
  t.is((await send('GET', `${jobs}?policyId=${id}`, sandbox)).json.data.totalElements, 0);
  for (const [method, path] of [
    ['GET', ''],
    ['POST', '/retry'],
  ] as const)
    t.is((await send(method, `${jobs}/swj_24pgoiqjq2dgpoqhm7nuhjd5zi${path}`, sandbox)).json.error.code, 'NOT_FOUND');
});
