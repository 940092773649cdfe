/** Statements as the database holds them. Console B10; faults 30 and 31. */
import test from 'ava';
import type { StatementRow } from '../../../model/account/billing.ts';
import type { RowWrite } from '../../../model/account/capabilities.ts';
import type { Stores } from '../../../persistence/postgres/stores.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { newOrganization, openStores, write } from '../../support/store-rows.ts';

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
    await write(stores, live, [bill('2026-12', Date.UTC(2027, 0, 1)), bill('2027-01', Date.UTC(2027, 1, 1))]);
    t.deepEqual(await numbersOf(live), ['FLK-2027-000002', 'FLK-2027-000001'], 'a year of its own, newest first');
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
