/** One account that is locked or slow: the others do not wait for it. Design 2. */
import test from 'ava';
import { type Stores, createStores } from '../../../persistence/postgres/stores.ts';
import { openDatabase } from '../../../persistence/postgres/sql.ts';
import { initialAccount } from '../../../model/account/state.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { addressRow, appendOf, newOrganization, NOW_MS, openStores } from '../../support/store-rows.ts';

let database: TestDatabase;
let stores: Stores;
test.before(async () => {
  database = await createTestDatabase();
  stores = await openStores(database);
});
test.after.always(() => database.close());

const EVENT = { type: 'sandbox_reset' } as const;
/** Far below what a lock is waited for, and what a caller waits. */
const AT_ONCE_MS = 2_900;

/** Holds what a statement locks until `work` has ended. */
async function whileLocked(lock: string, work: () => Promise<void>): Promise<void> {
  const holder = await database.admin.reserve();
  try {
    await holder.unsafe('begin');
    await holder.unsafe(lock);
    await work();
    await holder.unsafe('rollback');
  } finally {
    holder.release();
  }
}

for (const [what, locked] of [
  ['one', 1],
  ['six', 6],
] as const) {
  test.serial(
    `found F59: ${what} of forty accounts locked: the others are written at once, theirs when the lock is gone`,
    async (t) => {
      const organizations = await Promise.all(Array.from({ length: 40 }, () => newOrganization(stores)));
      const guilty = organizations.slice(0, locked),
        innocent = organizations.slice(locked);
      const appends = await Promise.all(
        organizations.map(({ live }) => appendOf(stores, live, [{ table: 'address', row: addressRow(live) }], [EVENT])),
      );
      const next = await Promise.all(innocent.map(({ live }) => appendOf(stores, live, [], [EVENT])));
      let done = 0,
        late: Promise<unknown>[] = [];
      const ids = guilty.map(({ live }) => `'${live}'`).join(',');
      await whileLocked(`select 1 from flock.account where account_id in (${ids}) for update`, async () => {
        const begunMs = performance.now();
        late = appends.slice(0, locked).map((append) =>
          stores.accounts.append(append).then((outcome) => {
            done += 1;
            return outcome;
          }),
        );
        const outcomes = await Promise.all(appends.slice(locked).map((append) => stores.accounts.append(append)));
        t.true(outcomes.every(({ kind }) => kind === 'appended'));
        const again = await Promise.all(
          next.map((append) => stores.accounts.append({ ...append, expectedVersion: append.expectedVersion + 1 })),
        );
        t.true(
          again.every(({ kind }) => kind === 'appended'),
          'nor does a second round of theirs wait',
        );
        t.true(performance.now() - begunMs < AT_ONCE_MS, `${performance.now() - begunMs} ms`);
        t.is(done, 0, 'the locked ones wait');
      });
      t.deepEqual(
        await Promise.all(late),
        guilty.map(() => ({ kind: 'appended' })),
      );
    },
  );
}

test.serial('found F59: a lock inside the statement, not on an account, holds up its own account only', async (t) => {
  const organizations = await Promise.all(Array.from({ length: 12 }, () => newOrganization(stores)));
  const [guilty, ...innocent] = organizations;
  const peak = (day: string) => [{ table: 'address_peak', day, active: 5 } as const];
  await stores.accounts.append(await appendOf(stores, guilty!.live, peak('2026-06-01')));
  const appends = await Promise.all(
    organizations.map(({ live }) => appendOf(stores, live, peak('2026-06-01'), [EVENT])),
  );
  let late: Promise<unknown> = Promise.resolve();
  await whileLocked(`select 1 from flock.address_peak where account_id = '${guilty!.live}' for update`, async () => {
    const begunMs = performance.now();
    late = stores.accounts.append(appends[0]!);
    const outcomes = await Promise.all(appends.slice(1).map((append) => stores.accounts.append(append)));
    t.is(outcomes.filter(({ kind }) => kind === 'appended').length, innocent.length);
    t.true(performance.now() - begunMs < AT_ONCE_MS, `${performance.now() - begunMs} ms`);
  });
  t.deepEqual(await late, { kind: 'appended' });
});

test.serial(
  'found F55: a statement that takes too long runs apart: its others are written, and only the slow one is told to come again',
  async (t) => {
    const organizations = await Promise.all(Array.from({ length: 4 }, () => newOrganization(stores)));
    const [slow, ...quick] = organizations;
    const sql = openDatabase({ url: database.url, connections: 1, name: 'flock-test-slow' });
    t.teardown(() => sql.end({ timeout: 5 }));
    await sql`select set_config('statement_timeout', '400', false)`;
    const appends = await Promise.all(organizations.map(({ live }) => appendOf(stores, live, [], [EVENT])));
    const { accounts } = createStores({
      sql,
      nowMs: () => NOW_MS,
      epochOf: () => appends[0]?.ownerEpoch,
      initialAccount,
    });
    await database.owner.unsafe(`
    create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(20); return new; end $$;
    create trigger slow before update on account for each row when (new.account_id = '${slow!.live}' and new.version > old.version) execute function slow();`);
    const outcomes = await Promise.allSettled(appends.map((append) => accounts.append(append)));
    await database.owner.unsafe('drop trigger slow on account; drop function slow()');
    const [first, ...others] = outcomes;
    t.is(first?.status === 'rejected' && (first.reason as { code?: string }).code, 'store_away');
    t.deepEqual(
      others.map((outcome) => outcome.status === 'fulfilled' && outcome.value.kind),
      quick.map(() => 'appended'),
    );
  },
);
