import test from 'ava';
import type { AccountCommand } from '../../../model/account/capabilities.ts';
import type { WebhookRow } from '../../../model/rows/webhook.ts';
import { newUuid } from '../../../protocol/node/ids.ts';
import type { Tier } from '../../../protocol/slugs.ts';
import { commands, enrolled, NOW_MS, rowsOf, TestAccount } from '../../support/account.ts';

const hook = (account: TestAccount): WebhookRow => ({
  id: newUuid(NOW_MS),
  accountId: account.state.accountId,
  url: 'https://example.com/hook',
  events: ['deposit_confirmed'],
  sealedSecrets: ['v1.x.y'],
  secretPreview: 'whsec_ab…',
  status: 'enabled',
  createdAtMs: NOW_MS,
  updatedAtMs: NOW_MS,
});
const create = (account: TestAccount): AccountCommand => ({ type: 'create_webhook', row: hook(account) });

test('§8.2 webhooks: 1 on Free, 25 on Premium, more on Ultimate, then TIER_FEATURE_LOCKED with the tier that has more', (t) => {
  const limits: [Tier, number, Tier | null][] = [
    ['free', 1, 'premium'],
    ['premium', 25, 'ultimate'],
  ];
  for (const [tier, limit, requiredTier] of limits) {
    const account = new TestAccount({ plan: { tier } });
    for (let count = 0; count < limit; count += 1) account.accept(create(account));
    t.like(account.refused(create(account)), {
      code: 'TIER_FEATURE_LOCKED',
      details: { feature: 'webhooks', limit, requiredTier },
    });
  }
  const ultimate = new TestAccount({ plan: { tier: 'ultimate' } });
  for (let count = 0; count < 60; count += 1) ultimate.accept(create(ultimate));
  const sandbox = new TestAccount({ environment: 'sandbox', plan: { tier: 'free' } });
  for (let count = 0; count < 30; count += 1) sandbox.accept(create(sandbox));
  t.is(ultimate.state.webhooks.length + sandbox.state.webhooks.length, 90);
});

test('§4.1 a deleted webhook makes room, once; an unknown one is NOT_FOUND', (t) => {
  const account = new TestAccount({ plan: { tier: 'free' } });
  const row = account.accept({ type: 'create_webhook', row: hook(account) }).reply;
  t.is(account.refused({ type: 'replace_webhook', row: hook(account), known: row }).code, 'NOT_FOUND');
  account.accept({ type: 'replace_webhook', known: row, row: { ...row, url: 'https://example.com/other' } });
  const { rows } = account.accept({ type: 'delete_webhook', known: row });
  t.is(rowsOf(rows, 'webhook')[0]!.row.status, 'deleted');
  t.is(account.refused({ type: 'delete_webhook', known: row }).code, 'NOT_FOUND');
  t.notThrows(() => account.accept(create(account)));
  t.is(account.refused(create(account)).code, 'TIER_FEATURE_LOCKED');
});

test('decisions 4: secrets that were shown are not overwritten by a row that was read before them', (t) => {
  const account = new TestAccount();
  const row = account.accept({ type: 'create_webhook', row: hook(account) }).reply;
  const rotated = { ...row, sealedSecrets: ['another-sealed-secret-of-it', ...row.sealedSecrets] };
  account.accept({ type: 'replace_webhook', known: row, row: rotated });
  const stale = account.refused({
    type: 'replace_webhook',
    known: row,
    row: { ...row, url: 'https://example.com/other' },
  });
  t.like(stale, { code: 'CONFLICT', details: { reason: 'changed_meanwhile' } });
  account.accept({ type: 'replace_webhook', known: rotated, row: { ...rotated, url: 'https://example.com/other' } });
  account.accept({ type: 'delete_webhook', known: rotated });
  t.deepEqual(account.state.webhookSeals, {});
  t.deepEqual(account.folded(), account.state);
});

test('§6 an event can be replayed for 7 days, as often as it is asked for (C5-46)', (t) => {
  const account = new TestAccount();
  const replay = (eventAtMs: number, newDeliveryId: string) =>
    ({ type: 'replay_delivery', deliveryId: 'dlv_1', newDeliveryId, eventAtMs }) as const;
  const week = 7 * 86_400_000;
  t.is(account.accept(replay(NOW_MS - week, 'dlv_2')).reply.deliveryId, 'dlv_2');
  t.is(account.accept(replay(NOW_MS - week, 'dlv_3')).reply.deliveryId, 'dlv_3');
  t.like(account.refused(replay(NOW_MS - week - 1, 'dlv_4')), {
    code: 'CONFLICT',
    details: { reason: 'replay_window_closed', retentionDays: 7 },
  });
});

test('§3.8 a band upgrade is taken, a downgrade below the active addresses refused', (t) => {
  const account = new TestAccount({ plan: { tier: 'premium', band: 'growth' } });
  account.state = { ...account.state, activeAddresses: 1_001 };
  t.like(account.refused({ type: 'change_plan', plan: { band: 'launch' } }), {
    code: 'ADDRESS_LIMIT_EXCEEDED',
    details: { band: 'launch', limit: 1_000, current: 1_001 },
  });
  t.like(account.accept({ type: 'change_plan', plan: { band: 'scale' } }).reply, { band: 'scale', pendingBand: null });
  t.is(account.state.plan.tier, 'premium');
});

const AUGUST_MS = Date.UTC(2026, 7, 1);

test('§3.8 a downgrade begins at the end of the period; until then the band and its cap stay', (t) => {
  const account = new TestAccount({ plan: { tier: 'premium', band: 'growth' } });
  account.state = { ...account.state, activeAddresses: 1_000 };
  const { reply } = account.accept({ type: 'change_plan', plan: { band: 'launch' } });
  t.like(reply, { band: 'growth', pendingBand: { band: 'launch', atMs: AUGUST_MS } });
  t.is(account.state.plan.band, 'growth');
  account.nowMs = AUGUST_MS - 1;
  t.is(account.accept({ type: 'settle_band' }).events.length, 0);
  account.nowMs = AUGUST_MS;
  t.like(account.accept({ type: 'settle_band' }).reply, { band: 'launch', pendingBand: null });
  t.is(account.state.plan.band, 'launch');
  t.is(account.accept({ type: 'settle_band' }).events.length, 0, 'once');
});

test('§3.8 a downgrade that waits is given up when the addresses have outgrown it, and withdrawn by an upgrade or by the present band', (t) => {
  const waiting = () => {
    const account = new TestAccount({ plan: { tier: 'premium', band: 'growth' } });
    account.accept({ type: 'change_plan', plan: { band: 'launch' } });
    return account;
  };
  const outgrown = waiting();
  outgrown.state = { ...outgrown.state, activeAddresses: 1_001 };
  outgrown.nowMs = AUGUST_MS;
  t.like(outgrown.accept({ type: 'settle_band' }), {
    reply: { band: 'growth', pendingBand: null },
  });
  t.like(outgrown.history.at(-2), { type: 'band_change_ended', reason: 'too_many_addresses' });
  for (const band of ['growth', 'scale'] as const) {
    const account = waiting();
    t.like(account.accept({ type: 'change_plan', plan: { band } }).reply, { band, pendingBand: null });
    account.nowMs = AUGUST_MS;
    t.is(account.accept({ type: 'settle_band' }).reply.band, band);
  }
});

test('§3.8 what waits is kept by a change of the tier, and a sandbox waits for nothing', (t) => {
  const account = new TestAccount({ plan: { tier: 'premium', band: 'growth' } });
  account.accept({ type: 'change_plan', plan: { band: 'launch' } });
  t.like(account.accept({ type: 'change_plan', plan: { tier: 'ultimate' } }).reply, {
    band: 'growth',
    tier: 'ultimate',
    pendingBand: { band: 'launch' },
  });
  t.like(account.accept({ type: 'change_plan', plan: { tier: 'premium', band: 'launch' } }).reply, {
    band: 'growth',
    tier: 'premium',
  });
  const sandbox = new TestAccount({ environment: 'sandbox', plan: { tier: 'premium', band: 'growth' } });
  t.like(sandbox.accept({ type: 'change_plan', plan: { band: 'launch' } }).reply, {
    band: 'launch',
    pendingBand: null,
  });
});

test('§4.7 reset is for sandbox only and begins anew: indexes, counts and pools, not keys and webhooks', (t) => {
  for (const type of ['begin_reset', 'reset_sandbox'] as const) t.is(enrolled().refused({ type }).code, 'SANDBOX_ONLY');
  const account = enrolled({ environment: 'sandbox' });
  account.accept(create(account));
  const first = account.accept(commands.createAddress()).reply;
  account.accept(commands.createAddress());
  t.deepEqual(account.accept({ type: 'begin_reset' }).rows, [{ table: 'sandbox_resets_begun', row: {}, key: '' }]);
  const { code, details } = account.refused(commands.createAddress());
  t.deepEqual(
    [code, details],
    ['SERVICE_UNAVAILABLE', { reason: 'sandbox_reset', retryAfterSeconds: 1 }],
    'it takes nothing new before its rows are gone',
  );
  t.deepEqual(account.accept({ type: 'begin_reset' }).rows, [], 'begun twice it is one');
  const { rows } = account.accept({ type: 'reset_sandbox' });
  t.deepEqual(rows, [{ table: 'sandbox_reset' }]);
  t.like(account.state, { activeAddresses: 0, indexes: {}, chains: [], counters: {} });
  t.is(account.state.webhooks.length, 1);
  t.like(account.accept(commands.createAddress()).reply, { index: 0, address: first.address });
  t.deepEqual(account.accept({ type: 'reset_sandbox' }).rows, [], 'who ends it second deletes nothing of what is new');
});

test('I23 an idempotency key is taken with the effect and its reply; a refusal takes none', (t) => {
  const idempotency = { key: 'k-1', method: 'POST', path: '/v1/addresses', bodyHash: 'ab', successStatus: 201 };
  const account = enrolled();
  const { rows, reply } = account.accept({ ...commands.createAddress(), idempotency });
  t.deepEqual(
    rowsOf(rows, 'idempotency').map(({ row }) => row),
    [{ key: 'k-1', method: 'POST', path: '/v1/addresses', bodyHash: 'ab', status: 201, body: reply }],
  );
  t.false(account.decide({ ...commands.createAddress({ chain: 'btc' }), idempotency }).ok);
});
