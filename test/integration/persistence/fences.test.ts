/**
 * Reliability finding 3: a takeover commits while a writer waits for its lock. Which forms of the fence refuse the
 * stale write? The table is measured, so that nobody swaps the one form that we use for one that looks like it.
 */
import test from 'ava';
import type { Sql } from '../../../persistence/postgres/sql.ts';
import { createTestDatabase, eventually, type TestDatabase } from '../../support/postgres.ts';

let database: TestDatabase;
test.before(async () => {
  database = await createTestDatabase({ migrated: false });
  const { admin } = database;
  await admin`create schema flock`;
  await admin`create table flock.shard (id int primary key, epoch bigint not null)`;
  await admin`create table flock.account (id int primary key, shard_id int not null, owner_epoch bigint not null, written int not null default 0)`;
  await admin`create table flock.journal (account_id int, by_epoch bigint)`;
  await admin`
    create function flock.stale_write() returns bigint language plpgsql as $$
    begin
      perform 1 from flock.account where id = 1 and owner_epoch = 1 for no key update;
      if not found then return 0; end if;
      insert into flock.journal values (1, 1);
      return 1;
    end $$`;
});
test.after.always(() => database.close());

type Write = (sql: Sql) => Promise<unknown>;

/**
 * Runs a takeover (epoch 1 → 2) that commits while `write`, of the owner of epoch 1, waits behind it. True: it wrote.
 */
async function staleWriteSucceeds(write: Write, takeover: (sql: Sql) => Promise<unknown>): Promise<boolean> {
  const { admin } = database;
  await admin`truncate flock.journal`;
  await admin`delete from flock.account`;
  await admin`delete from flock.shard`;
  await admin`insert into flock.shard values (1, 1)`;
  await admin`insert into flock.account values (1, 1, 1)`;
  const newOwner = await admin.reserve(),
    oldOwner = await admin.reserve();
  try {
    await newOwner.unsafe('begin');
    await takeover(newOwner as unknown as Sql);
    const [{ pid }] = (await oldOwner`select pg_backend_pid() as pid`) as unknown as [{ pid: number }];
    const writing = write(oldOwner as unknown as Sql).then(
      () => null,
      (error: unknown) => error,
    );
    await eventually(
      'the old owner waits',
      async () =>
        (await admin`select 1 from pg_stat_activity where pid = ${pid} and wait_event_type = 'Lock'`).length === 1,
    );
    await newOwner.unsafe('commit');
    const error = await writing;
    if (error !== null) throw error;
    return (await admin`select 1 from flock.journal`).length === 1;
  } finally {
    await newOwner.unsafe('rollback');
    newOwner.release();
    oldOwner.release();
  }
}

const byShard = (sql: Sql) => sql`update flock.shard set epoch = 2 where id = 1`;
const byAccount = (sql: Sql) => sql`update flock.account set owner_epoch = 2 where id = 1`;
const both = async (sql: Sql) => {
  await byAccount(sql);
  await byShard(sql);
};

const FORMS: { name: string; write: Write; takeover: (sql: Sql) => Promise<unknown>; refuses: boolean }[] = [
  {
    name: 'a plain sub-select on the epoch, beside a row that waits',
    takeover: both,
    refuses: false,
    write: (sql) => sql`
      with touched as (update flock.account set written = written + 1 where id = 1 and 1 = (select epoch from flock.shard where id = 1) returning 1)
      insert into flock.journal select 1, 1 from touched`,
  },
  {
    name: 'a shared advisory lock in the same statement',
    refuses: false,
    takeover: async (sql) => {
      await sql`select pg_advisory_xact_lock(42)`;
      await byShard(sql);
    },
    write: (sql) => sql`
      with locked as materialized (select pg_advisory_xact_lock_shared(42))
      insert into flock.journal select 1, 1 from locked, flock.shard where id = 1 and epoch = 1`,
  },
  {
    name: 'the shard row FOR SHARE',
    takeover: byShard,
    refuses: true,
    write: (sql) => sql`
      with fence as materialized (select 1 from flock.shard where id = 1 and epoch = 1 for share) insert into flock.journal select 1, 1 from fence`,
  },
  {
    name: 'the shard row FOR KEY SHARE behind FOR UPDATE',
    refuses: true,
    takeover: async (sql) => {
      await sql`select 1 from flock.shard where id = 1 for update`;
      await byShard(sql);
    },
    write: (sql) => sql`
      with fence as materialized (select 1 from flock.shard where id = 1 and epoch = 1 for key share) insert into flock.journal select 1, 1 from fence`,
  },
  {
    name: 'a predicate on the row that the statement updates',
    takeover: byAccount,
    refuses: true,
    write: (sql) => sql`
      with fence as (update flock.account set written = written + 1 where id = 1 and owner_epoch = 1 returning 1)
      insert into flock.journal select 1, 1 from fence`,
  },
  {
    name: 'a predicate on the row that the statement locks FOR NO KEY UPDATE, in a function (append_accounts)',
    takeover: byAccount,
    refuses: true,
    write: (sql) => sql`select flock.stale_write()`,
  },
];

for (const { name, write, takeover, refuses } of FORMS) {
  test.serial(`reliability 0.3: ${name} ${refuses ? 'refuses' : 'lets through'} a stale write`, async (t) => {
    t.is(await staleWriteSucceeds(write, takeover), !refuses);
  });
}
