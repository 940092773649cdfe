/** Warnings at 80 % and 100 % of what a plan has. Console B16. */
import test from 'ava';
import type { AccountEvent } from '../../../model/account/capabilities.ts';
import { shownWarnings } from '../../../actors/plan/warnings.ts';
import { commands, enrolled, NOW_MS, rowsOf, type TestAccount } from '../../support/account.ts';
import { webhookRow } from '../../support/store-rows.ts';

const PERIOD = '2026-07';
const free = () => enrolled({ plan: { tier: 'free' } });
const warned = (events: readonly AccountEvent[]) =>
  events.flatMap((event) => (event.type === 'quota_warned' ? [`${event.quota} ${event.threshold}`] : []));
const issue = (account: TestAccount, count: number): string[] => {
  const found: string[] = [];
  for (let n = 0; n < count; n += 1)
    found.push(...warned(account.accept(commands.createAddress({ userRef: `u${n}` })).events));
  return found;
};

test('console B16 (faults 30: twenty warnings in a minute): each threshold of a quota is warned of once in a month, whatever goes up and down', (t) => {
  const account = free();
  t.deepEqual(issue(account, 79), []);
  t.deepEqual(issue(account, 1), ['addresses 80']);
  t.deepEqual(issue(account, 19), []);
  const { reply: last, events } = account.accept(commands.createAddress({ userRef: 'last' }));
  t.deepEqual(warned(events), ['addresses 100']);
  for (let again = 0; again < 20; again += 1) {
    const archived = account.accept({ type: 'set_address_status', known: last, status: 'archived', alone: true });
    const back = account.accept({
      ...{ type: 'set_address_status', known: { ...last, status: 'archived' }, status: 'active', alone: true },
    });
    t.deepEqual(warned([...archived.events, ...back.events]), []);
  }
  t.deepEqual(shownWarnings(account.state, PERIOD), [{ quota: 'addresses', threshold: 100, used: 100, limit: 100 }]);
  t.deepEqual(shownWarnings(account.state, '2026-08'), []);
  t.deepEqual(
    rowsOf(account.rows, 'quota_warnings').map(({ row }) => [row.quota, row.threshold, row.used, row.of, row.period]),
    [
      ['addresses', 80, 80, 100, PERIOD],
      ['addresses', 100, 100, 100, PERIOD],
    ],
  );
  account.nowMs = NOW_MS + 31 * 86_400_000;
  account.accept({ type: 'set_address_status', known: last, status: 'archived', alone: true });
  t.deepEqual(
    shownWarnings(account.state, '2026-08').map(({ quota, threshold }) => `${quota} ${threshold}`),
    ['addresses 80'],
    'a new month warns anew, of what it has',
  );
  t.deepEqual(account.folded(), account.state);
});

test('console B16: webhooks, edge sessions and a smaller plan warn too; what reaches both thresholds at once is warned of once', (t) => {
  const account = free();
  const { events } = account.accept({ type: 'create_webhook', row: webhookRow(account.state.accountId) });
  t.deepEqual(warned(events), ['webhooks 100']);
  t.deepEqual(warned(account.accept({ type: 'note_sessions', open: 1 }).events), ['edgeSessions 100']);
  t.deepEqual(warned(account.accept({ type: 'note_sessions', open: 1 }).events), []);
  const premium = enrolled({ plan: { tier: 'premium' } });
  const sessions = [1, 3, 4, 5].map((open) => warned(premium.accept({ type: 'note_sessions', open }).events));
  t.deepEqual(sessions, [[], [], ['edgeSessions 80'], ['edgeSessions 100']]);
  t.deepEqual(issue(premium, 85), []);
  t.deepEqual(warned(premium.accept({ type: 'change_plan', plan: { tier: 'free' } }).events), ['addresses 80']);
});

test('console B16: a sandbox and what is unlimited warn of nothing', (t) => {
  const sandbox = enrolled({ environment: 'sandbox', plan: { tier: 'free' } });
  t.deepEqual(issue(sandbox, 101), []);
  t.deepEqual(warned(sandbox.accept({ type: 'note_sessions', open: 3 }).events), []);
  const ultimate = enrolled({ plan: { tier: 'ultimate' } });
  t.deepEqual(warned(ultimate.accept({ type: 'note_sessions', open: 30 }).events), []);
  t.deepEqual(
    warned(ultimate.accept({ type: 'create_webhook', row: webhookRow(ultimate.state.accountId) }).events),
    [],
  );
});

test('console B16: settled withdrawals are counted as the month counts them', (t) => {
  const account = free();
  const settle = (id: string) => {
    account.fold({ type: 'withdrawal_confirmed', id, txid: id, hold: null, period: PERIOD });
  };
  for (let n = 0; n < 79; n += 1) settle(`w${n}`);
  t.deepEqual(issue(account, 1), []);
  settle('w79');
  t.deepEqual(issue(account, 1), ['settledTransactions 80']);
});
