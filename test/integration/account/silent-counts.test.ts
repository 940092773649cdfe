/** Counts of silent deposits are kept as they come, and say what counting the deposits says. Migration M-O2. */
import test from 'ava';
import type { DepositRow } from '../../../model/rows/deposit.ts';
import type { Stores } from '../../../persistence/postgres/stores.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { adopt, depositRow, newOrganization, openStores, write } from '../../support/store-rows.ts';

let database: TestDatabase;
let stores: Stores;

test.before(async () => {
  database = await createTestDatabase();
  stores = await openStores(database);
});
test.after.always(() => database.close());

test('found F53, migration M-O2: what an imported project received in silence is read from kept counts, however many deposits those are', async (t) => {
  const { live } = await newOrganization(stores);
  const [one, two] = [await adopt(database, live), await adopt(database, live, { chain: 'base' })];
  await database.owner`update import_batch set counts_silent = true where account_id = ${live}`;
  const silent = { announced: false } as const;
  const put = (row: DepositRow) => write(stores, live, [{ table: 'deposit', row }]);
  const rows = [
    depositRow(one, { ...silent, silence: 'historical', status: 'detected' }),
    depositRow(one, { ...silent, silence: 'historical', status: 'detected' }),
    depositRow(two, { ...silent, silence: 'observed', status: 'detected', chain: 'base', ledger: 'base' }),
  ] as const;
  for (const row of rows) await put(row);
  const observed = async () =>
    (await stores.imports.observed(live, 'mig_test')).toSorted((a, b) => (a.chain < b.chain ? -1 : 1));
  const none = { confirmed: 0, pending: 0, reversed: 0 };
  t.deepEqual(await observed(), [
    { ...none, chain: 'base', silence: 'observed', pending: 1 },
    { ...none, chain: 'eth', silence: 'historical', pending: 2 },
  ]);
  await put({ ...rows[0], status: 'confirmed' });
  await put({ ...rows[2], status: 'reversed' });
  await put({ ...rows[2], status: 'reversed' });
  await put({ ...rows[1], status: 'reversed' });
  await put({ ...rows[1], status: 'detected', incarnation: rows[1].incarnation + 1 });
  const now = [
    { ...none, chain: 'base', silence: 'observed', reversed: 1 },
    { ...none, chain: 'eth', silence: 'historical', confirmed: 1, pending: 1 },
  ];
  t.deepEqual(await observed(), now);
  await database.owner`update import_batch set counts_silent = false where account_id = ${live}`;
  t.deepEqual(await observed(), now, 'as one that was committed before they were kept is counted');
});
