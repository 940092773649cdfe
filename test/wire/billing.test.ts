/** Plans, what they cost and what is owed, over HTTP. Spec §3.8, §8; console B9–B14. */
import test from 'ava';
import { createClient } from '../../protocol/client.ts';
import { codesOf } from '../../protocol/route.ts';
import { routeOf } from '../../protocol/routes.ts';
import { enrol, startTestCloud, type Person } from '../support/gateway.ts';

const cloud = await startTestCloud({ ETH_RPC_URLS: 'http://127.0.0.1:9' });
const as = async (who: Person) => createClient({ baseUrl: cloud.url, bearer: await cloud.signIn(who) });
const admin = await as(await cloud.person({ admin: true }));
const treasurer = await cloud.person({ admin: true });
const collector = await as(treasurer);
test.after.always(() => cloud.stop());

test('console B12, B13: what a preview says is what the change costs, to the cent', async (t) => {
  const { owner, live } = await cloud.organization({ tier: 'free', band: 'launch' });
  const client = await as(owner);
  const query = { tier: 'premium', band: 'growth' } as const;
  const seen = await client.must('previewPlan', { query });
  t.like(seen, { monthlyFee: '499.00', refusal: null, overage: { transactions: 0, amount: '0.000' }, currency: 'USD' });
  t.like(seen.terms, {
    addresses: 10_000,
    overageRate: '0.050',
    includedTransactions: 10_000,
    requestsPerMinute: 1_200,
  });
  const changed = await client.must('changePlan', { body: query, idempotencyKey: 'up' });
  t.deepEqual(changed, await client.must('changePlan', { body: query, idempotencyKey: 'up' }));
  t.like(changed, { tier: 'premium', band: 'growth', pendingBand: null });
  const [charged] = await cloud.database.owner<{ charge: { cents: string; remainingMs: number; periodMs: number } }[]>`
    select state -> 'openPeriod' -> 'charges' -> 0 as charge from account where account_id = ${live.accountId}`;
  const { cents, remainingMs, periodMs } = charged!.charge;
  t.is(cents, String(Math.floor((49_900 * remainingMs) / periodMs + 0.5)));
  // A second later the rest of the month costs at most a cent less.
  const previewed = Math.round(Number(seen.proration) * 100);
  t.true(previewed - Number(cents) >= 0 && previewed - Number(cents) <= 2, `${previewed} ${cents}`);
  t.like(await client.must('previewPlan', { query: {} }), { effectiveAt: null, proration: '0.00', refusal: null });
  const lower = await client.must('previewPlan', { query: { tier: 'free' } });
  t.regex(lower.effectiveAt!, /-01T00:00:00\.000Z$/);
  t.like(lower, { proration: '0.00', monthlyFee: '0.00', terms: null });
  t.like(await client.must('getUsage'), { plan: { tier: 'premium' }, overage: { amount: '0.000' } });
});

test('console B13: what is not bought by oneself, named as the description has it', async (t) => {
  const { owner, live } = await cloud.organization({ tier: 'free', band: 'launch' });
  const client = await as(owner);
  const refusals = {
    band: await client.call('changeBand', { body: { band: 'growth' } }),
    custom: await client.call('changePlan', { body: { tier: 'premium', band: 'custom' } }),
    ultimate: await client.call('changePlan', { body: { tier: 'ultimate', band: 'launch' } }),
    bandless: await client.call('changePlan', { body: { tier: 'premium' } }),
  };
  t.like(refusals, {
    band: { code: 'TIER_FEATURE_LOCKED', details: { feature: 'band', tier: 'free', requiredTier: 'premium' } },
    custom: { code: 'FORBIDDEN', details: { reason: 'by_agreement' } },
    ultimate: { code: 'FORBIDDEN', details: { reason: 'by_agreement' } },
    bandless: { code: 'INVALID_INPUT', details: { field: 'band' } },
  });
  for (const refusal of Object.values(refusals)) {
    t.true(codesOf(routeOf('changePlan')).includes((refusal as { code: 'FORBIDDEN' }).code));
  }
  t.like((await client.must('previewPlan', { query: { tier: 'ultimate', band: 'launch' } })).refusal, {
    code: 'FORBIDDEN',
    details: { reason: 'by_agreement' },
  });
  const params = { accountId: live.accountId };
  await admin.must('setPlan', { params, body: { tier: 'premium', subscription: 'lapsed' } });
  t.like(await client.call('changeBand', { body: { band: 'growth' } }), { code: 'NO_SUBSCRIPTION' });
  const terms = {
    addresses: 2_000_000,
    monthlyFeeCents: 1_000_000,
    includedTransactions: 1_000_000,
    overageMills: 6,
    requestsPerMinute: 50_000,
  };
  await admin.must('setPlan', { params, body: { band: 'custom', subscription: 'active', terms } });
  t.like(await client.call('changeBand', { body: { band: 'launch' } }), { code: 'FORBIDDEN' });
  t.like(await client.must('getUsage'), {
    activeAddresses: { limit: 2_000_000 },
    settledTransactions: { included: 1_000_000 },
  });
});

test('§8 the tables of plans are served; another tenant has no statement of this one', async (t) => {
  const { owner } = await cloud.organization({ tier: 'premium', band: 'scale' });
  const client = await as(owner);
  const { tiers, bands } = await client.must('getPlans');
  t.deepEqual(
    bands.map(({ band, monthlyFee, overageRate }) => [band, monthlyFee, overageRate]),
    [
      ['launch', '99.00', '0.080'],
      ['growth', '499.00', '0.050'],
      ['scale', '1999.00', '0.025'],
      ['enterprise', '6999.00', '0.012'],
      ['custom', '6999.00', '0.006'],
    ],
  );
  t.deepEqual(
    tiers.map(({ tier, webhooks }) => [tier, webhooks]),
    [
      ['free', 1],
      ['premium', 25],
      ['ultimate', null],
    ],
  );
  t.deepEqual((await client.must('listStatements')).content, []);
  const other = await as((await cloud.organization()).owner);
  t.like(await other.call('getStatement', { params: { id: `stm_${'a'.repeat(26)}` } }), { code: 'NOT_FOUND' });
  t.is((await (await as((await cloud.organization()).owner)).must('listStatements')).totalElements, 0);
});

test('console B15, B17: an unpaid statement lapses, 28 days after its issue, and is paid in parts by hand; once for each payment', async (t) => {
  const { owner, live } = await cloud.organization({ tier: 'premium', band: 'launch' });
  const client = await as(owner);
  // A month of long ago: the account was on its band then.
  await cloud.database.owner`
    update account set state = state || ${cloud.database.owner.json({
      openPeriod: { month: '2026-01', base: { tier: 'premium', band: 'launch', feeCents: '9900' }, charges: [] },
    })} where account_id = ${live.accountId}`;
  await enrol(cloud, live);
  // Any change of plan first ends the months that are over, of which the oldest are long unpaid.
  await admin.must('setPlan', { params: { accountId: live.accountId }, body: { tier: 'premium' } });
  const { content } = await client.must('listStatements', { query: { size: '100' } });
  t.true(content.length > 2);
  t.like(content.at(-1), { period: '2026-01', total: '99.00', paid: '0.00', left: '99.00' });
  const { id: unpaid, number } = content.at(-1)!;
  const document = async (format: 'csv' | 'html') =>
    String(await client.must('exportStatement', { params: { id: unpaid }, query: { format } }));
  t.true((await document('csv')).includes(`${number},2026-01,total,,,,99.00,USD`), 'B11');
  t.true((await document('html')).startsWith('<!doctype html>'));
  const stranger = await as((await cloud.organization()).owner);
  t.like(await stranger.call('exportStatement', { params: { id: unpaid } }), { code: 'NOT_FOUND' });
  t.like(await stranger.call('listBilled', { params: { id: unpaid } }), { code: 'NOT_FOUND' });
  t.deepEqual(await client.must('listBilled', { params: { id: unpaid } }), { content: [], next: null });
  t.like(await client.call('listBilled', { params: { id: unpaid }, query: { after: 'x' } }), {
    code: 'INVALID_INPUT',
    details: { field: 'query.after' },
  });
  t.like(await client.must('getUsage'), { plan: { subscription: 'lapsed' } });
  const create = () => live.client.call('createAddress', { body: { chain: 'eth', userRef: 'c' } });
  t.like(await create(), { code: 'NO_SUBSCRIPTION' });
  t.like(await client.call('changeBand', { body: { band: 'scale' } }), { code: 'NO_SUBSCRIPTION' });
  const pay = (id: string, amount: string, reference: string, bearer = collector) =>
    bearer.call('recordCollection', {
      params: { accountId: live.accountId, id },
      body: { amount, reference, reason: 'bank transfer' },
    });
  const oldest = content.at(-1)!;
  t.like(await pay(oldest.id, '1.00', 'r0', client), { code: 'FORBIDDEN' });
  t.like(await pay(oldest.id, '99.01', 'r0'), {
    code: 'CONFLICT',
    details: { reason: 'more_than_owed', left: '99.00' },
  });
  t.like(await pay(oldest.id, '40.00', 'r1'), { paid: '40.00', left: '59.00' });
  t.like(await pay(oldest.id, '40.00', 'r1'), { code: 'CONFLICT', details: { reason: 'recorded' } });
  t.like(await pay(`stm_${'a'.repeat(26)}`, '1.00', 'r1'), { code: 'NOT_FOUND' });
  t.like(await create(), { code: 'NO_SUBSCRIPTION' });
  for (const { id, left } of (await client.must('listStatements', { query: { size: '100' } })).content)
    t.like(await pay(id, left, 'r2'), { left: '0.00' });
  t.like(await pay(oldest.id, '0.01', 'r3'), { code: 'NOT_FOUND' });
  t.like(await client.must('getUsage'), { plan: { subscription: 'active' } });
  t.false('code' in (await create()));
  const seen = await collector.must('listAccountStatements', { params: { accountId: live.accountId } });
  t.is(seen.totalElements, content.length);
});
