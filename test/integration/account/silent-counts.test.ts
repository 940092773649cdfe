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

test('migration M-O2, M-R2: what came while a batch was being committed counts from the first, and of what was released nothing counts', async (t) => {
  const { live } = await newOrganization(stores);
  const account = (set: string) =>
    database.owner.unsafe(`update import_batch set ${set} where account_id = '${live}' and id = 'imp_new'`);
  const append = (part: string, more: object) =>
    database.owner`select append_imports(${JSON.stringify({
      [part]: [{ account_id: live, id: 'imp_new', adopting: 1, ...more }],
    })}::text::jsonb)`;
  await adopt(database, live);
  await database.owner`update migration_project set state = 'observe' where account_id = ${live}`;
  await database.owner`
    insert into import_batch (account_id, id, project_id, created_at) values (${live}, 'imp_new', 'mig_test', now())`;
  await account(`state = 'validating', dry_run_id = 'dry', adopting = 1`);
  await account(`state = 'valid'`);
  const reserve = () => append('imports_reserved', { dry_run_id: 'dry', heights: { eth: 1 } });
  const put = (row: DepositRow) => write(stores, live, [{ table: 'deposit', row }]);
  const of = (address: Parameters<typeof depositRow>[0]) =>
    depositRow(address, { announced: false, silence: 'observed', status: 'detected' });
  const none = { chain: 'eth', silence: 'observed', confirmed: 0, pending: 0, reversed: 0 };
  const observed = () => stores.imports.observed(live, 'mig_test');
  const agrees = async (expected: object[], what: string) => {
    t.deepEqual(await observed(), expected as never, what);
    await account('counts_silent = false');
    t.deepEqual(await observed(), expected as never, `${what}: as the deposits are counted`);
    await account('counts_silent = true');
  };

  await reserve();
  const first = await adopt(database, live, { batchId: 'imp_new' }, 'committing');
  const early = of(first);
  await put(early);
  // It lost a claim: its addresses are released, and it is reserved again.
  await append('imports_undone', { becomes: 'conflict' });
  while ((await database.owner<{ n: number }[]>`select release_import(${live}, 'imp_new', 10) as n`)[0]!.n > 0);
  await put({ ...early, status: 'reversed' });
  for (const state of ['created', 'validating', 'valid']) await account(`state = '${state}'`);
  await reserve();
  const second = await adopt(database, live, { batchId: 'imp_new' }, 'committing');
  const [meanwhile, one] = [of(second), of(second)];
  await put(meanwhile);
  await append('imports_opened', {});
  await put(one);
  await agrees([{ ...none, pending: 2 }], 'open');
  await put({ ...one, status: 'reversed' });
  await put({ ...meanwhile, status: 'confirmed' });
  await put({ ...early, status: 'detected', incarnation: early.incarnation + 1 });
  await agrees([{ ...none, confirmed: 1, reversed: 1 }], 'moved');
  // Whatever was counted before: no append is refused for it.
  await database.owner`update import_silent set rows = 0 where account_id = ${live}`;
  await t.notThrowsAsync(put({ ...meanwhile, status: 'reversed' }));
});
