/** What a month costs, against a second implementation in exact fractions. Console B1, B4, B6–B10, B13, B14, B22. */
import test from 'ava';
import fc from 'fast-check';
import { boundsOf, halfUp, overageOf, projectedOf } from '../../../actors/billing/charges.ts';
import { CHARGES_MAX } from '../../../actors/billing/period.ts';
import type { StatementRow } from '../../../model/account/billing.ts';
import type { Band } from '../../../protocol/slugs.ts';
import { billOf, rounded, type Happening } from '../../support/billing-model.ts';
import { rowsOf, TestAccount } from '../../support/account.ts';

const DAY_MS = 86_400_000;
const JULY_MS = Date.UTC(2026, 6, 1),
  AUGUST_MS = Date.UTC(2026, 7, 1);
const statements = (account: TestAccount): StatementRow[] => rowsOf(account.rows, 'statements').map(({ row }) => row);

/** `count` withdrawals that reach `confirmed`: what the account's events say of them. */
function settle(account: TestAccount, count: number): void {
  const period = new Date(account.nowMs).toISOString().slice(0, 7);
  for (let n = 0; n < count; n += 1) {
    account.fold({ type: 'withdrawal_confirmed', id: 'txn_1', txid: 'aa', hold: null, period });
  }
}
function onFree(nowMs: number): TestAccount {
  const account = new TestAccount({ plan: { tier: 'free', band: 'launch' } });
  account.nowMs = nowMs;
  return account;
}

test('console B8: a quotient is rounded half up, on both sides of zero', (t) => {
  const cases: [bigint, bigint, bigint][] = [
    [5n, 10n, 1n],
    [4n, 10n, 0n],
    [-5n, 10n, 0n],
    [-6n, 10n, -1n],
    [-15n, 10n, -1n],
    [-16n, 10n, -2n],
    [25n, 10n, 3n],
    [0n, 7n, 0n],
    [-7n, 7n, -1n],
  ];
  for (const [over, under, whole] of cases) t.is(halfUp(over, under), whole, `${over}/${under}`);
  fc.assert(
    fc.property(
      fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }),
      fc.bigInt({ min: 1n, max: 10n ** 10n }),
      (over, under) => halfUp(over, under) === rounded({ over, under }),
    ),
  );
});

test('console B8 (fault 20, 22): an upgrade costs the rest of its month, two on one day are two lines, and a whole period is the whole fee', (t) => {
  const account = onFree(JULY_MS);
  account.accept({ type: 'buy_plan', tier: 'premium', band: 'launch' });
  account.nowMs = JULY_MS + (31 * DAY_MS) / 2;
  account.accept({ type: 'buy_plan', band: 'growth' });
  account.accept({ type: 'buy_plan', band: 'scale' });
  account.nowMs = AUGUST_MS;
  account.accept({ type: 'close_periods' });
  const [july] = statements(account);
  t.deepEqual(
    july!.lines.map(({ kind, cents }) => [kind, cents]),
    [
      ['proration', '9900'],
      ['proration', '20000'],
      ['proration', '75000'],
    ],
  );
  t.is(july!.totalCents, '104900');
  account.nowMs = Date.UTC(2026, 8, 1);
  account.accept({ type: 'close_periods' });
  t.deepEqual(
    statements(account)[1]!.lines.map(({ kind, cents }) => [kind, cents]),
    [['base', '199900']],
  );
  t.deepEqual(account.folded(), account.state);
});

test('console B7 (fault 21): what is used above a band is fixed at its rate when it is left; nothing is charged twice or repriced', (t) => {
  const account = new TestAccount({ plan: { tier: 'premium', band: 'launch' } });
  account.nowMs = JULY_MS;
  account.accept({ type: 'close_periods' });
  settle(account, 1_500);
  account.accept({ type: 'buy_plan', band: 'growth' });
  const owed = () => overageOf(account.state.plan, account.state.openPeriod!, account.state.settledBy['2026-07']!);
  t.deepEqual(owed(), { transactions: 500, mills: 40_000n });
  settle(account, 9_000);
  t.deepEqual(owed(), { transactions: 500, mills: 40_000n }, '500 are paid for, 10,000 are included');
  settle(account, 7);
  t.deepEqual(owed(), { transactions: 507, mills: 40_000n + 350n });
  account.nowMs = AUGUST_MS + 9 * DAY_MS;
  account.accept({ type: 'settle_band' });
  t.deepEqual(
    statements(account)[0]!.lines.flatMap((line) =>
      line.kind === 'overage' ? [[line.quantity, line.included, line.rateMills, line.cents]] : [],
    ),
    [
      [500, 1_000, '80', '4000'],
      [7, 10_000, '50', '35'],
    ],
  );
});

test('console B10: whoever closes a month, once or twice, in time or two months late, makes the same statements', (t) => {
  const until = Date.UTC(2026, 9, 3);
  const begun = () => {
    const account = onFree(JULY_MS + 5);
    account.accept({ type: 'buy_plan', tier: 'premium', band: 'growth' });
    settle(account, 10_009);
    return account;
  };
  const inTime = begun(),
    late = begun();
  for (let nowMs = JULY_MS + DAY_MS; nowMs <= until; nowMs += DAY_MS) {
    inTime.nowMs = nowMs;
    inTime.accept({ type: 'close_periods' });
    inTime.accept({ type: 'settle_band' });
  }
  late.nowMs = until;
  t.deepEqual(late.accept({ type: 'close_periods' }).reply.closed, ['2026-07', '2026-08', '2026-09']);
  t.deepEqual(late.accept({ type: 'close_periods' }).reply.closed, []);
  t.deepEqual(statements(late), statements(inTime));
  t.deepEqual(late.state.settledBy, {});
  t.is(new Set(statements(late).map(({ id }) => id)).size, 3);
});

test('console B13: what an owner buys: no custom band, no highest tier, no band on Free, nothing while lapsed', (t) => {
  const free = onFree(JULY_MS);
  t.like(free.refused({ type: 'buy_plan', band: 'growth' }), {
    code: 'TIER_FEATURE_LOCKED',
    details: { feature: 'band', tier: 'free', requiredTier: 'premium' },
  });
  t.like(free.refused({ type: 'buy_plan', tier: 'premium' }), { code: 'INVALID_INPUT', details: { field: 'band' } });
  for (const command of [
    { tier: 'ultimate', band: 'scale' },
    { tier: 'premium', band: 'custom' },
  ] as const) {
    t.like(free.refused({ type: 'buy_plan', ...command }), { code: 'FORBIDDEN', details: { reason: 'by_agreement' } });
  }
  const agreed = new TestAccount({ plan: { tier: 'premium', band: 'custom' } });
  t.like(agreed.refused({ type: 'buy_plan', band: 'launch' }), { code: 'FORBIDDEN' });
  const lapsed = new TestAccount({ plan: { tier: 'premium', band: 'launch', subscription: 'lapsed' } });
  t.is(lapsed.refused({ type: 'buy_plan', band: 'growth' }).code, 'NO_SUBSCRIPTION');
  t.like(free.accept({ type: 'buy_plan', tier: 'premium', band: 'enterprise' }).reply, {
    tier: 'premium',
    band: 'enterprise',
    pendingBand: null,
  });
});

test('console B14 (fault 25): a lower tier begins with the next period, is refused for what it does not hold, and is withdrawn', (t) => {
  const account = new TestAccount({ plan: { tier: 'premium', band: 'growth' } });
  account.nowMs = JULY_MS;
  account.state = { ...account.state, activeAddresses: 101, chains: ['btc', 'eth', 'sol'], webhooks: ['1', '2'] };
  t.like(account.refused({ type: 'buy_plan', tier: 'free' }), {
    code: 'TIER_FEATURE_LOCKED',
    details: {
      tier: 'free',
      exceeded: [
        { feature: 'chains', limit: 2, current: 3 },
        { feature: 'addresses', limit: 100, current: 101 },
        { feature: 'webhooks', limit: 1, current: 2 },
      ],
    },
  });
  account.state = { ...account.state, activeAddresses: 100, chains: ['btc'], webhooks: [] };
  t.like(account.accept({ type: 'buy_plan', tier: 'free' }).reply, {
    tier: 'premium',
    pendingBand: { band: 'growth', tier: 'free', atMs: AUGUST_MS },
  });
  t.like(account.accept({ type: 'buy_plan', band: 'growth' }).reply, { tier: 'premium', pendingBand: null });
  account.accept({ type: 'buy_plan', tier: 'free' });
  account.nowMs = AUGUST_MS + 1;
  t.like(account.accept({ type: 'settle_band' }).reply, { tier: 'free', pendingBand: null });
  t.is(account.state.openPeriod, null, 'nothing more is owed');
  t.is(statements(account).length, 1);
});

test('console B8: a month holds a number of changes, then CONFLICT until the next', (t) => {
  const account = new TestAccount({ plan: { tier: 'premium', band: 'launch' } });
  const flip = () =>
    account.attempt({
      type: 'change_plan',
      plan: { tier: account.state.plan.tier === 'premium' ? 'free' : 'premium' },
    });
  for (let n = 0; n < CHARGES_MAX; n += 1) t.is(flip(), null);
  t.like(flip(), { code: 'CONFLICT', details: { reason: 'plan_changes', limit: CHARGES_MAX } });
  account.nowMs = AUGUST_MS;
  t.is(flip(), null);
});

test('found F53, console B17: a statement is paid in a hundred parts at most, and the last of it is always taken', (t) => {
  const account = onFree(JULY_MS);
  account.accept({ type: 'buy_plan', tier: 'premium', band: 'launch' });
  account.nowMs = AUGUST_MS;
  account.accept({ type: 'close_periods' });
  const [{ id: statementId }] = statements(account) as [StatementRow];
  let paid = 0;
  const pay = (cents: string) =>
    account.attempt({
      type: 'record_collection',
      id: `col_${String((paid += 1)).padStart(26, '0')}`,
      statementId,
      cents,
      byUser: 'usr_1',
      reason: 'transfer',
    });
  for (let part = 0; part < 100; part += 1) t.is(pay('1'), null);
  t.like(pay('1'), {
    code: 'CONFLICT',
    details: { reason: 'too_many_parts', limit: 100, left: '98.00', next: 'record all that is left at once' },
  });
  t.is(pay('9800'), null);
  t.deepEqual(account.state.owed, {});
});

test('console B9 (fault 28): a projection never explodes in the first minutes and is exact at the end', (t) => {
  const { startMs, endMs } = boundsOf('2026-07');
  t.is(projectedOf(3, '2026-07', startMs + 1), 93);
  t.is(projectedOf(3, '2026-07', endMs - 1), 4);
  t.is(projectedOf(3, '2026-07', endMs), 3);
  t.is(projectedOf(0, '2026-07', startMs), 0);
  t.is(projectedOf(9_007_199_254_740, '2026-07', startMs + 15.5 * DAY_MS), 18_014_398_509_480);
});

const MONTHS = 5;
const BANDS: Band[] = ['launch', 'growth', 'scale', 'enterprise'];
const step = fc.oneof(
  fc.record({ settle: fc.integer({ min: 1, max: 40_000 }) }),
  fc.record({ up: fc.constantFrom(...BANDS) }),
  fc.record({ down: fc.constantFrom('free', ...BANDS) }),
  fc.record({ jumpMs: fc.integer({ min: 1, max: 40 * DAY_MS }) }),
  fc.constant('close' as const),
);

test('console B22: over any story the statements are what exact fractions say, to the cent, and each month has one', (t) => {
  const start = fc.integer({ min: 0, max: 800 }).map((days) => Date.UTC(2027, 0, 1) + days * DAY_MS + 5);
  fc.assert(
    fc.property(start, fc.array(step, { maxLength: 40 }), (startMs, steps) => {
      const account = onFree(startMs);
      const history: Happening[] = [];
      let seen = 0,
        waiting = account.state.pendingBand;
      /** A change that waited came into force when its period began, whenever that was decided. */
      const note = () => {
        const fresh = account.history.slice(seen);
        fresh.forEach((event, at) => {
          if (event.type !== 'plan_changed') return;
          const next = fresh[at + 1];
          const waited = next?.type === 'band_change_ended' && next.reason === 'in_force';
          const plan = event.plan.tier === 'free' ? 'free' : event.plan.band;
          history.push({ atMs: waited ? waiting!.atMs : account.nowMs, plan });
        });
        seen = account.history.length;
        waiting = account.state.pendingBand;
      };
      for (const one of steps) {
        if (one === 'close') account.accept({ type: 'close_periods' });
        else if ('jumpMs' in one) account.nowMs += one.jumpMs;
        else if ('settle' in one) {
          settleMany(account, one.settle);
          history.push({ atMs: account.nowMs, settled: one.settle });
        } else if ('up' in one) account.attempt({ type: 'buy_plan', tier: 'premium', band: one.up });
        else if (one.down === 'free') account.attempt({ type: 'buy_plan', tier: 'free' });
        else account.attempt({ type: 'buy_plan', band: one.down as Band });
        note();
      }
      account.nowMs += MONTHS * 31 * DAY_MS;
      account.accept({ type: 'close_periods' });
      note();
      const made = new Map(statements(account).map((row) => [row.period, row]));
      if (made.size !== statements(account).length) return false;
      const first = new Date(startMs),
        months: string[] = [];
      for (let n = 0; ; n += 1) {
        const atMs = Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + n, 1);
        const month = new Date(atMs).toISOString().slice(0, 7);
        if (boundsOf(month).endMs > account.nowMs) break;
        months.push(month);
      }
      return months.every((month) => {
        const { startMs: fromMs, endMs } = boundsOf(month);
        const bill = billOf(history, fromMs, endMs),
          row = made.get(month);
        if (bill === null || row === undefined) return (bill === null) === (row === undefined);
        const sum = row.lines.reduce((total, { cents }) => total + BigInt(cents), 0n);
        const off = bill.cents * bill.exact.under - bill.exact.over;
        const most = BigInt(bill.changes + 4) * bill.exact.under;
        return sum === bill.cents && row.totalCents === String(sum) && 2n * (off < 0n ? -off : off) <= most;
      });
    }),
    { numRuns: 1_000 },
  );
  t.pass();
});

/** Many at once, by one event's fold: the count is what matters here. */
function settleMany(account: TestAccount, count: number): void {
  settle(account, 1);
  const period = new Date(account.nowMs).toISOString().slice(0, 7);
  const { settledBy } = account.state;
  account.state = { ...account.state, settledBy: { ...settledBy, [period]: settledBy[period]! + count - 1 } };
}
