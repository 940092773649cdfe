/** Statements as the database holds them. Console B10; faults 30 and 31. */
import test from 'ava';
import { letterOf } from '../../../gateway/mail/letters.ts';
import type { StatementRow } from '../../../model/account/billing.ts';
import type { RowWrite } from '../../../model/account/capabilities.ts';
import type { Billed } from '../../../model/ports/billing-store.ts';
import type { Stores } from '../../../persistence/postgres/stores.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { addressRow, newOrganization, openStores, withdrawalRow, write } from '../../support/store-rows.ts';

let database: TestDatabase;
let stores: Stores;
test.before(async () => {
  database = await createTestDatabase();
  stores = await openStores(database);
});
test.after.always(() => database.close());

const JULY_MS = Date.UTC(2026, 6, 1);
function bill(period: string, issuedAtMs: number, more: Partial<StatementRow> = {}): RowWrite {
  const row: StatementRow = {
    id: newId('stm', issuedAtMs),
    period,
    lines: [{ kind: 'base', tier: 'premium', band: 'launch', cents: '9900' }],
    totalCents: '9900',
    settled: 3,
    issuedAtMs,
    ...more,
  };
  return { table: 'statements', key: period, row };
}
const numbersOf = async (accountId: AccountId) =>
  (await stores.billing.statements(accountId)).map(({ number }) => number);

test.serial(
  'console B10 (fault 31): of fifty bills at once each has a number of its own, without a gap; a refused one takes none',
  async (t) => {
    const accounts = await Promise.all(Array.from({ length: 50 }, async () => (await newOrganization(stores)).live));
    await Promise.all(accounts.map((live) => write(stores, live, [bill('2026-06', JULY_MS)])));
    await t.throwsAsync(() => write(stores, accounts[0]!, [bill('2026-06', JULY_MS)]), { message: /statement_once/ });
    await t.throwsAsync(() => write(stores, accounts[0]!, [bill('2026-07', JULY_MS, { totalCents: '1' })]), {
      message: /statement_adds_up/,
    });
    await write(stores, accounts[0]!, [bill('2026-07', JULY_MS)]);
    const numbers = (await Promise.all(accounts.map(numbersOf))).flat().sort();
    t.deepEqual(
      numbers,
      Array.from({ length: 51 }, (_, n) => `FLK-2026-${String(n + 1).padStart(6, '0')}`),
    );
    const { live } = await newOrganization(stores);
    await write(stores, live, [bill('2024-12', Date.UTC(2025, 0, 1)), bill('2025-01', Date.UTC(2025, 1, 1))]);
    t.deepEqual(await numbersOf(live), ['FLK-2025-000002', 'FLK-2025-000001'], 'a year of its own, newest first');
  },
);

test.serial(
  'found F56: a node whose clock is months ahead issues no statement of a month that is not over',
  async (t) => {
    const { live } = await newOrganization(stores);
    const monthAt = (atMs: number) => new Date(atMs).toISOString().slice(0, 7);
    for (const atMs of [Date.now() + 3_600_000, Date.now() + 40 * 86_400_000])
      await t.throwsAsync(() => write(stores, live, [bill(monthAt(atMs), atMs)]), { message: /statement_month_over/ });
    t.deepEqual(await numbersOf(live), []);
  },
);

test.serial('console B10: a statement is what was written, for its own tenant, and never changes', async (t) => {
  const { live } = await newOrganization(stores);
  const other = await newOrganization(stores);
  const write_ = bill('2026-06', JULY_MS);
  await write(stores, live, [write_]);
  const [found] = await stores.billing.statements(live);
  t.like(found, (write_ as { row: StatementRow }).row);
  t.deepEqual(await stores.billing.statement(live, found!.id), found!);
  t.is(await stores.billing.statement(other.live, found!.id), null);
  t.deepEqual(await stores.billing.statements(other.live), []);
  for (const change of [
    () => database.owner`update statement set total_cents = 1 where id = ${found!.id}`,
    () => database.owner`update statement set lines = '[]' where id = ${found!.id}`,
    () => database.owner`delete from statement where id = ${found!.id}`,
  ]) {
    await t.throwsAsync(async () => void (await change()), { message: /statement_immutable/ });
  }
  for (const change of [
    () => database.owner`update statement_number set last = 1 where year = 2026`,
    () => database.owner`update statement_number set last = last + 2 where year = 2026`,
  ]) {
    await t.throwsAsync(async () => void (await change()), { message: /statement_number_rises/ });
  }
  await t.throwsAsync(async () => void (await database.owner`delete from statement_number`), {
    message: /statement_number_stays/,
  });
  await t.throwsAsync(() => write(stores, other.sandbox, [bill('2026-06', JULY_MS)]), {
    message: /statement_of_live/,
  });
});

test.serial(
  'console B15: owners hear of a statement at its issue, when it is due, a week later and when it lapses, once each',
  async (t) => {
    const { live } = await newOrganization(stores);
    const [write_] = [bill('2026-06', JULY_MS)];
    await write(stores, live, [write_]);
    const kinds = async () =>
      (
        await database.owner<
          { kind: string }[]
        >`select kind from mail where account_id = ${live} order by created_at, kind`
      ).map(({ kind }) => kind);
    const DAY_MS = 86_400_000;
    for (const [day, expected] of [
      [0, 1],
      [0, 1],
      [13, 1],
      [14, 2],
      [20, 2],
      [21, 3],
    ] as const) {
      await stores.billing.writeLetters(JULY_MS + day * DAY_MS);
      t.is((await kinds()).length, expected, `day ${day}`);
    }
    const row = (write_ as { row: StatementRow }).row;
    const pay = (amountCents: string, id: string) => ({
      table: 'collections' as const,
      key: id,
      row: { id, statementId: row.id, amountCents, byUser: 'u', reason: 'bank', collectedAtMs: JULY_MS },
    });
    await write(stores, live, [pay('4000', 'col_1')]);
    t.like(await stores.billing.statement(live, row.id), { paidCents: '4000' });
    t.true(await stores.billing.isCollected(live, 'col_1'));
    t.false(await stores.billing.isCollected(live, 'col_2'));
    await stores.billing.writeLetters(JULY_MS + 28 * DAY_MS);
    t.deepEqual(await kinds(), ['statement_issued', 'statement_due', 'statement_late', 'subscription_lapsed']);
    const mails = await stores.mail.claimDue(1_000, JULY_MS + 29 * DAY_MS, 1);
    const letters = mails
      .filter(({ accountId }) => accountId === live)
      .map((mail) => letterOf(mail, 'https://flock.example.com')!);
    t.is(letters.length, 4);
    t.true(letters.every(({ text, subject }) => text.includes('USD 99.00') && subject.includes('FLK-')));
    t.true(letters.at(-1)!.text.includes('left to pay       USD 59.00'));
    const paid = await newOrganization(stores);
    const whole = bill('2026-06', JULY_MS) as { row: StatementRow } & RowWrite;
    await write(stores, paid.live, [whole]);
    await write(stores, paid.live, [
      { ...pay('9900', 'col_3'), row: { ...pay('9900', 'col_3').row, statementId: whole.row.id } },
    ]);
    await stores.billing.writeLetters(JULY_MS);
    t.is((await database.owner`select from mail where account_id = ${paid.live}`).length, 0);
    await t.throwsAsync(async () => void (await database.owner`delete from collection`), {
      message: /collection_immutable/,
    });
  },
);

test.serial(
  'console B11: what a month was billed for is walked one by one: counted, taken off and counted again, of this month and account alone',
  async (t) => {
    const { live } = await newOrganization(stores);
    const other = await newOrganization(stores);
    const from = addressRow(live, { chain: 'eth' });
    const sent = Array.from({ length: 5 }, () => withdrawalRow(from));
    await write(stores, live, [
      { table: 'address', row: from },
      ...sent.map((row): RowWrite => ({ table: 'withdrawal', row })),
    ]);
    const billed = (n: number, period: string): RowWrite => ({
      table: 'billable',
      withdrawalId: sent[n]!.id,
      kind: 'withdrawal',
      period,
    });
    await write(stores, live, [billed(0, '2026-05'), billed(1, '2026-06'), billed(2, '2026-06'), billed(3, '2026-07')]);
    for (const [n, period, change] of [
      [0, '2026-06', -1],
      [1, '2026-06', -1],
      [1, '2026-06', 1],
      [2, '2026-07', -1],
    ] as const)
      await write(stores, live, [{ table: 'billable_change', withdrawalId: sent[n]!.id, period, change }]);
    const walked: [string, number][] = [];
    for (let after: string | null = null, pages = 0; ; pages += 1) {
      const page: Billed[] = await stores.billing.billedOf(live, '2026-06', after, 1);
      if (page.length === 0 || pages > 9) break;
      walked.push(...page.map(({ withdrawalId, counted }): [string, number] => [withdrawalId, counted]));
      after = page.at(-1)!.key;
    }
    const [a, b, c] = sent.map(({ id }) => id);
    t.deepEqual(walked, [
      [a!, -1],
      [b!, 1],
      [b!, -1],
      [b!, 1],
      [c!, 1],
    ]);
    t.deepEqual(await stores.billing.billedOf(other.live, '2026-06', null, 10), []);
  },
);
