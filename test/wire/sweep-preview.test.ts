/** What a policy would do, before there is one. Treasury part 6. */
import test from 'ava';
import { adopt } from '../support/store-rows.ts';
import { enrol, eventually, jsonOf, raw, startTestCloud, type TestAccountKey } from '../support/gateway.ts';

const cloud = await startTestCloud();
test.after.always(() => cloud.stop());

const PATH = '/v1/treasury/sweeps/preview',
  POLICIES = '/v1/treasury/sweeps/policies';
type Key = Pick<TestAccountKey, 'apiKey'>;
const post = (path: string, { apiKey }: Key, body: object) =>
  raw(cloud.url, 'POST', path, { headers: jsonOf(apiKey), body: JSON.stringify(body) });
const preview = (key: Key, body: object) => post(PATH, key, body);
/** A preview once the one deposit is credited. */
const seenOf = (key: Key, body: object) =>
  eventually(
    'a credit',
    async () => (await preview(key, body)).json.data,
    ({ totalElements }) => totalElements === 1,
  );
const ETH = 10n ** 18n;

/** Confirmed deposits of whole ether, an address each. */
async function pay({ client, accountId }: TestAccountKey, amounts: readonly string[]): Promise<string[]> {
  const addresses: string[] = [];
  for (const [index, amount] of amounts.entries()) {
    const { address } = await client.must('createAddress', { body: { chain: 'eth', userRef: `customer-${index}` } });
    await client.must('simulateDeposit', { body: { chain: 'eth', address, amount, autoConfirm: true } });
    addresses.push(address);
  }
  const held = () => cloud.database.owner`select from sweepable where account_id = ${accountId} and amount > 0`;
  await eventually('credits', held, (rows) => rows.length === amounts.length);
  return addresses;
}

test('§2.10, treasury Y1–Y5: a preview says what is taken and what is skipped, and why, with sums of all; it writes nothing', async (t) => {
  const { sandbox, live } = await cloud.organization();
  await enrol(cloud, sandbox);
  const empty = await preview(sandbox, { chain: 'eth', token: null, dustFloor: '1', maxFeeRatioBps: 500 });
  t.is(empty.status, 200, empty.text);
  t.like(empty.json.data, { content: [], skipped: [], totals: [], totalElements: 0, isComplete: true });
  const [large, small, dust] = await pay(sandbox, ['2', '1', '0.5']);
  const body = { chain: 'eth', dustFloor: String((ETH * 9n) / 10n), maxFeeRatioBps: 500 };
  const { data } = (await preview(sandbox, body)).json;
  t.deepEqual(
    data.content.map((one: { address: string }) => one.address),
    [large, small],
  );
  t.like(data.content[0], { userRef: 'customer-0', decision: 'take', reason: null, source: 'chain', uncredited: '0' });
  t.true(BigInt(data.content[0].amount) < 2n * ETH && BigInt(data.content[0].amount) > ETH, 'its fee stays');
  t.is(BigInt(data.content[0].amount) + BigInt(data.content[0].cost), 2n * ETH);
  t.true(data.content[0].feeRatioBps >= 1, 'rounded up');
  t.like(data.skipped[0], { address: dust, decision: 'skip', reason: 'dust' });
  t.is(data.skipped.length, 1);
  t.deepEqual(data.totals, [
    { decision: 'dust', count: 1, amount: String(ETH / 2n) },
    { decision: 'take', count: 2, amount: String(3n * ETH) },
  ]);
  t.is(BigInt(data.cost.sweep), 2n * BigInt(data.content[0].cost));
  t.like(data.cost, { funding: '0', activation: '0', rent: '0', l1: '0' });
  t.like(data.feeSample, { sweep: data.content[0].cost, need: data.content[0].cost, funding: '0' });
  t.deepEqual(data.rate, { numerator: '1', denominator: '1', observedAt: null });
  t.like(data, { needsGas: { count: 0, amount: '0' }, fundingWallet: null, totalElements: 3, page: 0, size: 20 });
  const second = (await preview(sandbox, { ...body, page: 1, size: 1 })).json.data;
  t.like(second, { page: 1, size: 1, totalElements: 3, totals: data.totals });
  t.is(second.content[0].address, small);
  t.like((await preview(sandbox, { ...body, maxFeeRatioBps: 0 })).json.data.skipped[0], { reason: 'fee_ratio' });
  t.like((await preview(sandbox, { ...body, abortIfGasExceeds: '1' })).json.data.skipped[0], {
    reason: 'gas_above_limit',
  });
  await enrol(cloud, live);
  const silent = await preview(live, body);
  t.is(silent.json.error.code, 'CHAIN_UNAVAILABLE', 'another account, with no node');
  const { json } = await raw(cloud.url, 'GET', POLICIES, { headers: { 'x-api-key': sandbox.apiKey } });
  t.is(json.data.totalElements, 0);
  const [{ jobs } = { jobs: 1 }] = await cloud.database.owner<{ jobs: number }[]>`
    select count(*)::int as jobs from sweep_job where account_id = ${sandbox.accountId}`;
  t.is(jobs, 0);
});

test('treasury Y2, Y3, S13: a token needs gas from the tank, which is empty', async (t) => {
  const { sandbox } = await cloud.organization();
  await enrol(cloud, sandbox);
  const { address } = await sandbox.client.must('createAddress', { body: { chain: 'eth', userRef: 'u' } });
  const tokenContract = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
  await sandbox.client.must('simulateDeposit', {
    body: { chain: 'eth', address, amount: '1000', tokenContract, autoConfirm: true },
  });
  const body = { chain: 'eth', token: 'USDC' };
  const view = await seenOf(sandbox, body);
  t.like(view, { token: tokenContract, fundingWallet: { available: '0', enough: false } });
  t.like(view.skipped[0], { address, amount: '1000000000', reason: 'funding_wallet_low' });
  t.true(BigInt(view.skipped[0].fundingNeeded) > 0n);
  const { numerator, denominator } = view.rate,
    { cost, amount } = view.skipped[0];
  const inTokens = (BigInt(cost) * BigInt(numerator) + BigInt(denominator) - 1n) / BigInt(denominator);
  t.is(view.skipped[0].feeRatioBps, Number((inTokens * 10_000n + BigInt(amount) - 1n) / BigInt(amount)), 'W12');
  t.is(view.feeSample.need, view.skipped[0].fundingNeeded);
  const { address: _, amount: __, cost: ___, fundingNeeded: ____, feeRatioBps: _____, ...rest } = view.skipped[0];
  t.deepEqual(rest, {
    userRef: 'u',
    uncredited: '0',
    decision: 'skip',
    reason: 'funding_wallet_low',
    source: 'chain',
  });
});

test('treasury Y6: while the chain cannot be read there is a refusal and no number, without addresses too', async (t) => {
  const { sandbox } = await cloud.organization();
  await enrol(cloud, sandbox);
  await sandbox.client.must('simulateChainDown', { body: { chain: 'eth', seconds: 60 } });
  const down = await preview(sandbox, { chain: 'eth' });
  t.is(down.status, 503);
  t.is(down.json.error.code, 'CHAIN_UNAVAILABLE');
  t.is(down.json.data ?? null, null);
});

test('treasury Y5: a console user enables with the hash of these settings, and with no other', async (t) => {
  const organization = await cloud.organization(),
    { sandbox } = organization;
  await enrol(cloud, sandbox);
  const wallet = await sandbox.client.must('createTreasuryWallet', { body: { chain: 'eth', source: 'derived' } });
  const [viewer, editor] = [await cloud.person(), await cloud.person()];
  await cloud.join(viewer, organization, 'viewer');
  await cloud.join(editor, organization, 'editor');
  const tokens = new Map([
    [viewer, await cloud.signIn(viewer)],
    [editor, await cloud.signIn(editor)],
  ]);
  const by = (person: typeof viewer, path: string, body: object) =>
    raw(cloud.url, 'POST', path, {
      headers: {
        authorization: `Bearer ${tokens.get(person)!}`,
        'x-environment': 'sandbox',
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    });
  const settings = { chain: 'eth', triggerMode: 'MANUAL', dustFloor: '7', treasuryWalletId: wallet.id };
  const seen = await by(viewer, PATH, settings);
  t.is(seen.status, 200, 'a viewer too');
  const { previewHash } = seen.json.data;
  const stale = { code: 'CONFLICT', details: { reason: 'preview_stale' } };
  for (const changed of [{ dustFloor: '8' }, { maxFeeRatioBps: 1 }, { abortIfGasExceeds: '9' }, { retainGasFloat: 1 }])
    t.like(
      (await by(editor, POLICIES, { ...settings, ...changed, enabled: true, previewHash })).json.error,
      stale,
      JSON.stringify(changed),
    );
  const { treasuryWalletId: _, ...nowhere } = settings;
  const ofNone = (await by(editor, PATH, nowhere)).json.data;
  t.like(
    (await by(editor, POLICIES, { ...settings, enabled: true, previewHash: ofNone.previewHash })).json.error,
    stale,
  );
  const made = await by(editor, POLICIES, { ...settings, enabled: true, previewHash });
  t.is(made.status, 201, made.text);
  t.like(made.json.data, { enabled: true, dustFloor: '7' });
});

test('treasury Y1, S13: settings that do not fit are refused', async (t) => {
  const { sandbox, live } = await cloud.organization();
  await enrol(cloud, sandbox);
  t.is((await preview(live, { chain: 'eth' })).json.error.code, 'CHAIN_NOT_READY');
  for (const [body, code] of [
    [{ chain: 'doge' }, 'INVALID_CHAIN'],
    [{ chain: 'eth', token: 'nothing' }, 'TOKEN_NOT_SUPPORTED'],
    [{ chain: 'eth', token: 'RLUSD' }, 'TOKEN_NOT_ON_CHAIN'],
    [{ chain: 'eth', dustFloor: '-1' }, 'INVALID_AMOUNT'],
    [{ chain: 'eth', dustFloor: '9', minAmount: '8' }, 'INVALID_INPUT'],
    [{ chain: 'eth', size: 201 }, 'INVALID_INPUT'],
    [{ chain: 'eth', page: -1 }, 'INVALID_INPUT'],
    [{ chain: 'btc', retainGasFloat: 1 }, 'INVALID_INPUT'],
    [{ chain: 'eth', gasFundingMode: 'FEE_PAYER' }, 'INVALID_INPUT'],
    [{ chain: 'eth', treasuryWalletId: 'wal_24pgoiqjq2dgpoqhm7nuhjd5zi' }, 'NOT_FOUND'],
    [{ chain: 'eth', token: 'USDC', fundingWalletId: 'fwl_24pgoiqjq2dgpoqhm7nuhjd5zi' }, 'NOT_FOUND'],
  ] as const)
    t.is((await preview(sandbox, body)).json.error?.code, code, JSON.stringify(body));
});

test('treasury S13, M-O: an address of a project in observe mode is skipped by preview and by run', async (t) => {
  const { sandbox } = await cloud.organization();
  await enrol(cloud, sandbox);
  const [address] = await pay(sandbox, ['2']);
  const { accountId } = sandbox;
  // As of a project that went back to observing after it had been active.
  await adopt(cloud.database, accountId);
  await cloud.database.owner`update migration_project set state = 'observe' where account_id = ${accountId}`;
  await cloud.database.admin.begin(async (sql) => {
    await sql`set local session_replication_role = replica`;
    await sql`update flock.address set batch_id = 'imp_test' where account_id = ${accountId} and address = ${address!}`;
  });
  const { data } = (await preview(sandbox, { chain: 'eth' })).json;
  t.like(data, { content: [], totals: [{ decision: 'observe_mode', count: 1 }] });
  t.like(data.skipped[0], { address, reason: 'observe_mode' });
  const wallet = await sandbox.client.must('createTreasuryWallet', { body: { chain: 'eth', source: 'derived' } });
  const settings = { chain: 'eth', triggerMode: 'MANUAL', treasuryWalletId: wallet.id };
  const { id } = (await post(POLICIES, sandbox, settings)).json.data;
  const run = () => post(`${POLICIES}/${id}/run`, sandbox, {});
  t.like((await run()).json.data, { jobId: null, result: 'nothing_due', reason: 'observe_mode' });
  await cloud.database.owner`update migration_project set state = 'active' where account_id = ${accountId}`;
  t.like((await preview(sandbox, { chain: 'eth' })).json.data.content[0], { address, decision: 'take' });
  t.like((await run()).json.data, { result: 'running' });
});
