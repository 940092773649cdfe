import test from 'ava';
import fc from 'fast-check';
import type { AccountState } from '../../../model/account/capabilities.ts';
import { createApiKeys, mintApiKey } from '../../../gateway/http/auth/api-keys.ts';
import { usageOf } from '../../../gateway/http/billing/billing.ts';
import {
  createMemoryRateLimiter,
  createRequestLimits,
  WINDOW_MS,
  WINDOWS_MAX,
} from '../../../gateway/http/rate-limit.ts';
import type { Accounts } from '../../../model/ports/accounts.ts';
import type { ApiKeyRow } from '../../../model/ports/identity-store.ts';
import { refuse } from '../../../protocol/errors.ts';
import { addressLimitOf, BAND_TERMS, requestsPerMinuteOf, TIER_TERMS } from '../../../protocol/plans.ts';
import { BANDS, TIERS } from '../../../protocol/slugs.ts';
import { documentText, sectionOf, tableRows } from '../../support/documents.ts';
import { TestAccount } from '../../support/account.ts';

test('decisions 3: no window of a minute holds more than the limit, whenever requests come', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 5_000 }), { minLength: 1, maxLength: 120 }),
      fc.integer({ min: 1, max: 10 }),
      async (pauses, limit) => {
        const limiter = createMemoryRateLimiter();
        let nowMs = 0,
          opened = Number.NEGATIVE_INFINITY,
          count = 0;
        for (const pause of pauses) {
          nowMs += pause;
          if (nowMs >= opened + WINDOW_MS) [opened, count] = [nowMs, 0];
          count += 1;
          const { allowed, remaining, resetSeconds } = await limiter.take('a', limit, nowMs);
          if (allowed !== count <= limit || remaining !== Math.max(0, limit - count)) return false;
          if (resetSeconds < 1 || resetSeconds > 60 || nowMs + resetSeconds * 1_000 < opened + WINDOW_MS) return false;
        }
        return true;
      },
    ),
  );
  t.pass('property held');
});

test('keys of a limiter do not touch each other', async (t) => {
  const limiter = createMemoryRateLimiter();
  t.true((await limiter.take('a', 1, 0)).allowed);
  t.false((await limiter.take('a', 1, 1)).allowed);
  t.true((await limiter.take('b', 1, 1)).allowed);
  t.true((await limiter.take('a', 1, WINDOW_MS)).allowed);
});

test('a clock that is set back closes no window for longer than a minute', async (t) => {
  const limiter = createMemoryRateLimiter();
  await limiter.take('a', 1, 3_600_000);
  t.false((await limiter.take('a', 1, 3_600_001)).allowed);
  t.like(await limiter.take('a', 1, 0), { allowed: true, resetSeconds: 60 });
  t.false((await limiter.take('a', 1, WINDOW_MS - 1)).allowed);
});

test('a limiter keeps so many windows and forgets the oldest first: keys that somebody makes up fill no memory', async (t) => {
  const limiter = createMemoryRateLimiter();
  await limiter.take('first', 1, 0);
  await limiter.take('second', 1, 0);
  for (let made = 2; made < WINDOWS_MAX; made += 1) await limiter.take(`made up ${made}`, 1, 0);
  t.false((await limiter.take('first', 1, 1)).allowed, 'still known');
  await limiter.take('one more', 1, 1);
  t.true((await limiter.take('first', 1, 1)).allowed, 'forgotten');
  t.true((await limiter.take('second', 1, 1)).allowed, 'and so is the next, whose place that took');
});

test("§8 the tables of bands and tiers are the specification's", (t) => {
  const section = sectionOf(documentText('spec.md'), '## 8. Limits');
  const number = (text: string) => Number(text.replaceAll(',', ''));
  const bands = tableRows(section).filter(
    ([name]) => BANDS.includes(name!.toLowerCase() as never) && name !== 'Custom',
  );
  t.is(bands.length, 4);
  for (const [name, addresses, fee, included, overage, requests] of bands) {
    const terms = BAND_TERMS[name!.toLowerCase() as keyof typeof BAND_TERMS];
    t.deepEqual(
      [
        terms.addresses,
        terms.monthlyFeeCents / 100,
        terms.includedTransactions,
        terms.overageMills / 1_000,
        terms.requestsPerMinute,
      ],
      [number(addresses!), number(fee!), number(included!), number(overage!), number(requests!)],
      name,
    );
  }
  const tiers = Object.fromEntries(
    tableRows(section)
      .filter((row) => row.length === 4)
      .map(([what, ...values]) => [what!, values]),
  );
  const value = (text: string) => (/^[0-9,]+/.test(text) ? number(/^[0-9,]+/.exec(text)![0]) : null);
  for (const [at, tier] of TIERS.entries()) {
    const terms = TIER_TERMS[tier];
    t.deepEqual(
      [terms.addresses, terms.settledTransactions, terms.webhooks, terms.edgeSessions, terms.auditDays],
      ['Active addresses', 'Settled tx/month', 'Webhooks', 'Concurrent edge sessions', 'Audit log retention'].map(
        (row) => value(tiers[row]![at]!),
      ),
      tier,
    );
  }
  t.is(TIER_TERMS.free.chains, 2);
  t.is(requestsPerMinuteOf({ tier: 'free', band: 'scale' }), 60);
  t.is(requestsPerMinuteOf({ tier: 'premium', band: 'scale' }), 6_000);
  t.is(addressLimitOf({ tier: 'free', band: 'scale' }), 100);
});

function asking(state: () => AccountState | null): { accounts: Pick<Accounts, 'ask'>; asked: () => number } {
  let asked = 0;
  return {
    asked: () => asked,
    accounts: {
      ask: (async () => {
        asked += 1;
        const now = state();
        return now === null ? refuse('SERVICE_UNAVAILABLE') : { ok: true, reply: now };
      }) as Accounts['ask'],
    },
  };
}

test('a new band counts after five seconds; an account that cannot be asked is still served', async (t) => {
  const account = new TestAccount({ plan: { tier: 'premium', band: 'launch' } });
  let nowMs = 0,
    answering = true;
  const { accounts, asked } = asking(() => (answering ? account.state : null));
  const limits = createRequestLimits(accounts, undefined, () => nowMs);
  const { accountId } = account.state;
  t.is(await limits.of(accountId), 300);
  account.accept({ type: 'change_plan', plan: { band: 'growth' } });
  t.is(await limits.of(accountId), 300);
  t.is(asked(), 1);
  nowMs = 5_000;
  t.is(await limits.of(accountId), 1_200);
  nowMs = 10_000;
  answering = false;
  t.is(await limits.of(accountId), 300);
  t.is(await limits.of(accountId.replace('_live', '_sandbox') as never), 6_000);
});

test('reliability 3.10: a key that was revoked elsewhere works for at most 30 s, one revoked here not at all', async (t) => {
  const { key, hash, maskedPrefix } = mintApiKey('live');
  const row: ApiKeyRow = {
    id: 'key_1',
    accountId: 'org_1_live',
    organizationId: 'org_1',
    environment: 'live',
    label: 'x',
    hash,
    maskedPrefix,
    createdAtMs: 0,
    revokedAtMs: null,
  };
  let stored: ApiKeyRow | null = row,
    nowMs = 0,
    reads = 0;
  const keys = createApiKeys(
    {
      apiKeyByHash: async (asked) => {
        reads += 1;
        return asked === hash ? stored : null;
      },
    },
    () => nowMs,
  );
  t.is((await keys.authenticate(key))?.id, 'key_1');
  await keys.authenticate(key);
  t.is(reads, 1, 'remembered');
  stored = { ...row, revokedAtMs: 1 };
  nowMs = 30_000;
  t.is(await keys.authenticate(key), null);
  stored = row;
  t.truthy(await keys.authenticate(key), 'a refusal is not remembered');
  stored = { ...row, revokedAtMs: 1 };
  keys.forget('org_1');
  t.is(await keys.authenticate(key), null);
  stored = { ...row, environment: 'sandbox' };
  t.is(await keys.authenticate(key), null, 'the prefix fixes the environment');
});

test('reliability 3.10: a key that is revoked while it is being looked up is not remembered', async (t) => {
  const { key, hash, maskedPrefix } = mintApiKey('live');
  const row: ApiKeyRow = {
    id: 'key_1',
    accountId: 'org_1_live',
    organizationId: 'org_1',
    environment: 'live',
    label: 'x',
    hash,
    maskedPrefix,
    createdAtMs: 0,
    revokedAtMs: null,
  };
  let stored = row,
    answer = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const keys = createApiKeys(
    {
      apiKeyByHash: async () => {
        const seen = stored;
        await gate;
        return seen;
      },
    },
    () => 0,
  );
  const asked = keys.authenticate(key);
  stored = { ...row, revokedAtMs: 1 };
  keys.forget('org_1');
  answer();
  await asked;
  t.is(await keys.authenticate(key), null);
});

test('4.1 row 2: a key is remembered from when it was asked for: a node that was frozen over the answer keeps no revoked one longer', async (t) => {
  const { key, hash, maskedPrefix } = mintApiKey('live');
  const row: ApiKeyRow = {
    id: 'key_1',
    accountId: 'org_1_live',
    organizationId: 'org_1',
    environment: 'live',
    label: 'x',
    hash,
    maskedPrefix,
    createdAtMs: 0,
    revokedAtMs: null,
  };
  let stored = row,
    nowMs = 0;
  const keys = createApiKeys(
    {
      apiKeyByHash: async () => {
        const seen = stored;
        nowMs += 14_000;
        return seen;
      },
    },
    () => nowMs,
  );
  t.truthy(await keys.authenticate(key));
  stored = { ...row, revokedAtMs: 1 };
  nowMs = 15_000;
  t.is(await keys.authenticate(key), null);
});

test('§2.9 usage: overage above the included count, projected in a straight line, never a rounded cent', (t) => {
  const account = new TestAccount({ plan: { tier: 'premium', band: 'scale' } });
  const half = Date.UTC(2026, 5, 16); // half of June
  const peak = { day: '2026-06-10', active: 5 };
  const nine = [{ day: '2026-06-08', active: 9 }];
  const state = { ...account.state, activeAddresses: 5, peak, settled: { period: '2026-06', count: 100_001 } };
  t.deepEqual(usageOf(state, half, nine), {
    period: { start: '2026-06-01', end: '2026-06-30' },
    plan: { tier: 'premium', band: 'scale', subscription: 'active', paymentsActive: true, pendingBand: null },
    activeAddresses: {
      ...{ current: 5, billed: 9, limit: 100_000 },
      days: [
        { day: '2026-06-08', highest: 9 },
        { day: '2026-06-10', highest: 5 },
      ],
    },
    settledTransactions: { count: 100_001, included: 100_000 },
    overage: { transactions: 1, amount: '0.025', currency: 'USD' },
    projected: { transactions: 200_002, overageAmount: '2500.050' },
    warnings: [],
  });
  t.like(
    usageOf(state, Date.UTC(2026, 6, 2), []),
    { activeAddresses: { billed: 5 }, settledTransactions: { count: 0 }, overage: { amount: '0.000' } },
    'another month',
  );
  t.like(
    usageOf({ ...state, plan: { ...state.plan, tier: 'free' } }, half, nine),
    { overage: { transactions: 0, amount: '0.000' }, settledTransactions: { included: 100 } },
    'Free stops, it does not go over',
  );
  t.like(usageOf({ ...state, environment: 'sandbox' }, half, nine), {
    activeAddresses: { limit: null },
    overage: { transactions: 0 },
  });
});
