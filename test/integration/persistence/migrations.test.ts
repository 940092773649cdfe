import test from 'ava';
import { readdirSync } from 'node:fs';
import { FUNCTION_SET, sqlFunctions } from '../../../persistence/postgres/functions.ts';
import { migrate } from '../../../persistence/postgres/migrate.ts';
import {
  indexStatements,
  MigrationError,
  migrations,
  type Migration,
} from '../../../persistence/postgres/migrations.ts';
import { openDatabase, sqlstateOf, type Sql } from '../../../persistence/postgres/sql.ts';
import { catalogOf } from '../../support/catalog.ts';
import { createTestDatabase, eventually, type TestDatabase } from '../../support/postgres.ts';

const withEmpty = async (run: (database: TestDatabase) => Promise<void>) => {
  const database = await createTestDatabase({ migrated: false });
  try {
    await run(database);
  } finally {
    await database.close();
  }
};

/** Other files migrate databases of this cluster at the same time. */
async function forgetPassword(admin: Sql): Promise<void> {
  await eventually('the role is as it was', () =>
    admin`alter role flock_app password null`.then(
      () => true,
      (error: unknown) => {
        if (sqlstateOf(error) !== 'XX000') throw error;
        return false;
      },
    ),
  );
}

const STEPS = migrations();
const BEGINNING = STEPS[0]!.number;
const NEWEST = STEPS.at(-1)!.number;

test.serial('design 3: the schema is the same from every earlier version', async (t) => {
  let expected: string[] = [];
  await withEmpty(async ({ url, admin }) => {
    t.deepEqual(await migrate({ url }), { from: 0, to: NEWEST });
    t.deepEqual(await migrate({ url }), { from: NEWEST, to: NEWEST }, 'a second start changes nothing');
    expected = await catalogOf(admin);
    t.true(expected.length > 1_000);
  });
  await withEmpty(async ({ url, admin }) => {
    t.deepEqual(await migrate({ url, upTo: BEGINNING }), { from: 0, to: BEGINNING });
    for (let version = BEGINNING + 1; version <= NEWEST; version += 1) {
      t.deepEqual(await migrate({ url, upTo: version }), { from: version - 1, to: version });
    }
    await migrate({ url });
    t.deepEqual(await catalogOf(admin), expected, 'version by version, each in a process of its own');
  });
});

test.serial(
  'treasury S23: transactions of operations that are there say what they do and for which; no others do',
  async (t) => {
    await withEmpty(async ({ url, admin }) => {
      await migrate({ url, upTo: 128 });
      await admin.begin(async (tx) => {
        // Rows of before, as they lie there: what they hang on is of no matter here.
        await tx`set local session_replication_role = replica`;
        for (const [id, kind] of [
          ['gas', 'sweep'],
          ['more', 'sweep'],
          ['home', 'sweep'],
          ['allow', 'sweep'],
          ['burnt', 'sweep'],
          ['minted', 'sweep'],
          ['retried', 'sweep'],
          ['own', 'withdrawal'],
        ] as const)
          await tx`
            insert into flock.withdrawal (account_id, id, kind, ledger, chain, from_address, to_address, amount, decimals,
                token_symbol, status, unsigned, versions, created_at, updated_at)
              values ('a', ${id}, ${kind}, 'eth', 'eth', 'f', 't', 1, 18, 'ETH', 'built', '{}', '[]', now(), now())`;
        await tx`
          insert into flock.sweep_operation (account_id, id, job_id, version, chain, address, state, attempt, amount,
              estimate, first_fund_id, fund_id, sweep_id, created_at, updated_at)
            values ('a', 'operation', 'job', 1, 'eth', 'f', 'SIGNING', 2, 1, 1, 'gas', 'more', 'home', now(), now())`;
        await tx`
          insert into flock.bridge_transfer (account_id, id, version, policy_id, from_chain, to_chain, token_contract,
              source, recipient, amount, state, approve_id, burn_id, mint_id, look_at, created_at, updated_at)
            values ('a', 'transfer', 1, 'p', 'eth', 'base', 'c', 's', 'r', 1, 'MINTING', 'allow', 'burnt', 'minted',
              now(), now(), now())`;
      });
      await migrate({ url });
      const rows = await admin<{ id: string; role: string | null; operationId: string | null }[]>`
        select id, role, operation_id from flock.withdrawal order by id`;
      t.deepEqual(
        rows.map(({ id, role, operationId }) => [id, role, operationId]),
        [
          ['allow', 'approve', 'transfer'],
          ['burnt', 'burn', 'transfer'],
          ['gas', 'fund', 'operation'],
          ['home', 'sweep', 'operation'],
          ['minted', 'mint', 'transfer'],
          ['more', 'fund', 'operation'],
          ['own', null, null],
          ['retried', null, null],
        ],
      );
    });
  },
);

test.serial(
  'a step that the server refuses is named, leaves nothing behind, and runs when the cause is gone',
  async (t) => {
    await withEmpty(async ({ url, admin }) => {
      await createTestDatabase().then((other) => other.close()); // the roles are there
      await admin.unsafe(`
      create schema flock authorization flock_owner;
      create table flock.organization (id int);
      alter table flock.organization owner to flock_owner;`);
      const refused = await t.throwsAsync(migrate({ url }), { instanceOf: MigrationError });
      t.is((refused as MigrationError).code, 'statement_failed');
      t.regex(refused!.message, new RegExp(`${STEPS[0]!.name}.*organization`));
      t.truthy(refused!.cause);
      t.is((await admin`select from flock.migration`).length, 0);
      t.is(
        (await admin`select from pg_class where relname = 'account' and relnamespace = 'flock'::regnamespace`).length,
        0,
      );
      await admin`drop table flock.organization`;
      t.deepEqual(await migrate({ url }), { from: 0, to: NEWEST });
    });
  },
);

const planted = (text: string) => [
  ...sqlFunctions(),
  { name: 'zz_planted', text, checksum: 'planted', trigger: false } as const,
];

test.serial(
  "a function that the server refuses is named beside the server's words, and nothing of the set is applied",
  async (t) => {
    await withEmpty(async ({ url, admin }) => {
      const text = 'create function zz_planted() returns int language sql as $$ select no_such_column from account $$;';
      const refused = await t.throwsAsync(migrate({ url, functions: planted(text) }), { instanceOf: MigrationError });
      t.is((refused as MigrationError).code, 'statement_failed');
      t.is(refused!.message, 'functions/zz_planted.sql: column "no_such_column" does not exist');
      t.is(sqlstateOf(refused!.cause), '42703');
      t.deepEqual([...(await admin`select from flock.function where name = 'append_accounts'`)], []);
      t.deepEqual(await migrate({ url }), { from: NEWEST, to: NEWEST });
    });
  },
);

test.serial(
  'a backend that dies under a function is told with its name, and the process that migrates lives on to say it',
  async (t) => {
    await withEmpty(async ({ url, admin }) => {
      const running = t.throwsAsync(migrate({ url, functions: planted('select pg_sleep(600);') }), {
        instanceOf: MigrationError,
      });
      await eventually('the backend that runs the function is terminated', async () => {
        const ended = await admin`select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'flock-migrate' and datname = current_database() and wait_event = 'PgSleep'`;
        return ended.length > 0;
      });
      t.regex((await running)!.message, /^functions\/zz_planted\.sql: the connection to the server ended here/);
      t.deepEqual(await migrate({ url }), { from: NEWEST, to: NEWEST }, 'and nothing was left half done');
    });
  },
);

test.serial('two nodes that start at once migrate once', async (t) => {
  await withEmpty(async ({ url }) => {
    const results = await Promise.all([migrate({ url }), migrate({ url }), migrate({ url })]);
    t.deepEqual(results.map(({ from }) => from).sort(), [0, NEWEST, NEWEST].sort());
  });
});

/** The steps of this version, and one more that makes indexes concurrently. */
function withIndexes(text: string): Migration[] {
  const name = `${String(NEWEST + 1).padStart(4, '0')}_planted.sql`;
  return [...STEPS, { number: NEWEST + 1, name, text, checksum: 'planted', concurrently: indexStatements(text, name) }];
}
const isValid = async (admin: Sql, name: string): Promise<boolean | undefined> =>
  (
    await admin<
      { valid: boolean }[]
    >`select indisvalid as valid from pg_index where indexrelid = to_regclass(${`flock.${name}`})`
  )[0]?.valid;

test.serial(
  'found: an index of a large table is made while its rows are written, and one that a dead process left unfinished is made again',
  async (t) => {
    await withEmpty(async ({ url, admin }) => {
      await migrate({ url });
      const steps = withIndexes(`create index concurrently if not exists planted_first on organization (id);
        -- and
        create index concurrently if not exists planted_second on organization ((id || 'x'));`);
      // A statement that began before keeps it waiting; rows can be written all the while.
      const held = await admin.reserve();
      await held.unsafe('begin; lock table flock.organization in row exclusive mode');
      const running = t.throwsAsync(migrate({ url, steps }), { instanceOf: MigrationError });
      await eventually('the server builds and waits', async () => (await isValid(admin, 'planted_first')) === false);
      t.is((await admin`update flock.organization set name = name`).length, 0, 'which keeps no write waiting');
      await eventually('the process that migrates is ended', async () => {
        const ended = await admin`select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'flock-migrate' and datname = current_database() and query ~ 'concurrently'`;
        return ended.length > 0;
      });
      t.regex((await running)!.message, /_planted\.sql: (the connection to the server ended here|terminating)/);
      await held.unsafe('rollback');
      held.release();
      t.is(await isValid(admin, 'planted_first'), false, 'which no statement uses, and each write pays for');
      t.deepEqual(await migrate({ url, steps }), { from: NEWEST, to: NEWEST + 1 });
      t.deepEqual([await isValid(admin, 'planted_first'), await isValid(admin, 'planted_second')], [true, true]);
      t.deepEqual(await migrate({ url, steps }), { from: NEWEST + 1, to: NEWEST + 1 });
    });
  },
);

test.serial(
  'a step of indexes that the rows refuse is named, and the next migrate begins its index again',
  async (t) => {
    await withEmpty(async ({ url, admin }) => {
      await migrate({ url });
      await admin`insert into flock.chain_head (ledger, height, at) values ('eth', 1, now()), ('btc', 1, now())`;
      const steps = withIndexes('create unique index concurrently if not exists planted_once on chain_head (height);');
      const refused = await t.throwsAsync(migrate({ url, steps }), { instanceOf: MigrationError });
      t.is((refused as MigrationError).code, 'statement_failed');
      t.regex(refused!.message, /_planted\.sql: could not create unique index "planted_once" \(Key/);
      await admin`update flock.chain_head set height = 2 where ledger = 'btc'`;
      t.deepEqual(await migrate({ url, steps }), { from: NEWEST, to: NEWEST + 1 });
      t.true(await isValid(admin, 'planted_once'));
    });
  },
);

test('a step that makes an index concurrently has nothing else, and can be begun again', (t) => {
  for (const statement of [
    'create index concurrently planted on fact (ledger)',
    'create index concurrently if not exists planted on fact (ledger); alter table fact add column more int',
    'drop index concurrently planted',
  ])
    t.throws(() => indexStatements(statement, '9999_planted.sql'), {
      message: /tables\/9999_planted\.sql makes an index/,
    });
  t.is(indexStatements('-- not concurrently\ncreate index planted on fact (ledger)', '9999_planted.sql'), null);
});

test.serial('a migration that changed after it ran, and a database of a newer version, are refused', async (t) => {
  await withEmpty(async ({ url, admin }) => {
    await migrate({ url });
    await admin`update flock.migration set checksum = 'other' where number = ${BEGINNING}`;
    const changed = await t.throwsAsync(migrate({ url }), {
      instanceOf: MigrationError,
      message: /0049_beginning changed after it ran/,
    });
    t.is((changed as MigrationError).code, 'migration_changed');
    await admin`update flock.migration set checksum = ${STEPS[0]!.checksum} where number = ${BEGINNING}`;
    await admin`insert into flock.migration (number, name, checksum) values (${NEWEST + 1}, '9999_later.sql', 'x')`;
    const newer = await t.throwsAsync(migrate({ url }), {
      instanceOf: MigrationError,
      message: /newer than this version/,
    });
    t.is((newer as MigrationError).code, 'database_newer');
  });
});

test.serial(
  'house 4: each function of the database stands in one file, and is replaced when its text changes',
  async (t) => {
    const files = readdirSync(new URL('../../../persistence/postgres/functions/', import.meta.url)).map((name) =>
      name.replace(/\.sql$/, ''),
    );
    files.sort();
    t.deepEqual(
      sqlFunctions()
        .map(({ name }) => name)
        .sort(),
      files,
    );
    await withEmpty(async ({ url, admin }) => {
      await migrate({ url });
      const live = await admin<
        { name: string }[]
      >`select proname as name from pg_proc where pronamespace = 'flock'::regnamespace order by 1`;
      t.deepEqual(live.map(({ name }) => name).sort(), files, 'one overload of each, and no other');
      const [applied] = await admin<{ at: Date }[]>`select max(applied_at) as at from flock.function`;
      await migrate({ url });
      const [again] = await admin<{ at: Date }[]>`select max(applied_at) as at from flock.function`;
      t.deepEqual(again!.at, applied!.at, 'nothing changed: nothing is applied');
      await admin`update flock.function set checksum = 'other' where name = 'links_kept'`;
      await admin.unsafe(
        'create or replace function flock.links_kept() returns bigint language sql immutable as $$ select 1::bigint $$',
      );
      await migrate({ url });
      const [kept] = await admin<{ n: string }[]>`select flock.links_kept()::text as n`;
      t.is(kept!.n, '10000');
      await admin`update flock.function_set set set = ${FUNCTION_SET + 1}`;
      await t.throwsAsync(migrate({ url }), {
        instanceOf: MigrationError,
        message: /run migrate of the newest version/,
      });
    });
  },
);

test.serial(
  'found: whoever points at a row that a sandbox reset deletes is found by an index, and not by reading its account',
  async (t) => {
    await withEmpty(async ({ url, admin }) => {
      await migrate({ url });
      // The index begins with a column of the reference that is not the account, or with two of them.
      const unindexed = await admin<{ name: string }[]>`
      select c.conname as name from pg_constraint c
       where c.contype = 'f' and c.conparentid = 0 and c.confrelid = any ('{flock.attempt,flock.delivery,flock.publication,flock.deposit,flock.withdrawal,flock.address,flock.ledger_entry}'::regclass[])
         and not exists (select from pg_index i where i.indrelid = c.conrelid and i.indpred is null and i.indkey[0] = any (c.conkey)
           and ((select attname <> 'account_id' from pg_attribute where attrelid = c.conrelid and attnum = i.indkey[0]) or (i.indnkeyatts > 1 and i.indkey[1] = any (c.conkey))))`;
      t.deepEqual(
        unindexed.map(({ name }) => name),
        [],
      );
    });
  },
);

test.serial(
  'found F71: a trigger that looks at rows runs as their owner, so that row security hides none from it',
  async (t) => {
    await withEmpty(async ({ url, admin }) => {
      await migrate({ url });
      const asCaller = await admin<{ name: string }[]>`
      select proname as name from pg_proc where pronamespace = 'flock'::regnamespace and prorettype = 'trigger'::regtype
         and not prosecdef and prosrc ~* '(select|insert|update|delete|perform)[[:space:]]'`;
      t.deepEqual(
        asCaller.map(({ name }) => name),
        [],
      );
    });
  },
);

test.serial(
  'all objects belong to flock_owner, and the application role can be given a password of its own',
  async (t) => {
    await withEmpty(async ({ url, admin }) => {
      const before = await admin`select rolpassword from pg_authid where rolname = 'flock_app'`;
      await migrate({ url, appPassword: "quote ' and \\ backslash" });
      const foreign = await admin`
      select relname from pg_class where relnamespace = 'flock'::regnamespace and relowner <> 'flock_owner'::regrole
      union all select proname from pg_proc where pronamespace = 'flock'::regnamespace and proowner <> 'flock_owner'::regrole`;
      t.deepEqual([...foreign], []);
      const own = new URL(url);
      own.username = 'flock_app';
      own.password = encodeURIComponent("quote ' and \\ backslash");
      const sql = openDatabase({ url: own.href, connections: 1, name: 'own-login' });
      const [row] = await sql`select session_user, current_user, count(*) as shards from shard`;
      t.deepEqual({ ...row }, { sessionUser: 'flock_app', currentUser: 'flock_app', shards: 1024 });
      await sql.end({ timeout: 5 });
      // Roles are the whole cluster's: leave it as it was.
      if (before.length === 0 || before[0]!.rolpassword === null) await forgetPassword(admin);
    });
  },
);

test.serial(
  "the role is the whole cluster's: that another database sets it at the same moment fails no migration",
  async (t) => {
    await withEmpty(async ({ url, admin }) => {
      await migrate({ url });
      const [{ password }] = await admin<
        [{ password: string | null }]
      >`select rolpassword as password from pg_authid where rolname = 'flock_app'`;
      const other = await admin.reserve();
      try {
        await other.unsafe('begin; alter role flock_app connection limit -1');
        const migrated = migrate({ url, appPassword: 'of its own' });
        await eventually(
          'it waits for the role',
          async () =>
            (
              await admin`
        select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like 'alter role%' and datname = current_database()`
            ).length > 0,
        );
        await other.unsafe('commit');
        t.like(await migrated, { from: NEWEST });
      } finally {
        other.release();
        if (password === null) await forgetPassword(admin);
      }
    });
  },
);

test.serial(
  'design 3: the registry is partitioned by the first byte of its key; point reads take one index',
  async (t) => {
    const database = await createTestDatabase();
    t.teardown(() => database.close());
    const parts = await database.owner<{ name: string; bound: string }[]>`
    select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'flock.address_registry'::regclass order by 1`;
    t.is(parts.length, 16);
    t.like(parts[15], {
      name: 'address_registry_f',
      bound: "FOR VALUES FROM ('f0000000-0000-0000-0000-000000000000') TO (MAXVALUE)",
    });
    // On tables without statistics, as on the first day: the key and not some other index that begins like it.
    const planOf = async (query: string) =>
      (await database.owner.unsafe(`explain ${query}`)).map((row) => String(Object.values(row)[0])).join('\n');
    t.regex(await planOf("select 1 from flock.address where account_id = 'a' and id = 'b'"), /using address_pkey/);
    t.regex(
      await planOf("select 1 from flock.address where account_id = 'a' and address = 'b'"),
      /using address_by_text/,
    );
    t.regex(await planOf("select 1 from flock.deposit where account_id = 'a' and id = 'b'"), /using deposit_pkey/);
    t.regex(
      await planOf("select 1 from flock.withdrawal where account_id = 'a' and id = 'b'"),
      /using withdrawal_pkey/,
    );
    t.regex(
      await planOf("select 1 from flock.fact where ledger = 'a' and txid = 'b' and output_index = 1"),
      /using fact_once/,
    );
    t.regex(await planOf("select 1 from flock.delivery where account_id = 'a' and id = 'b'"), /using delivery_pkey/);
    t.regex(await planOf("select 1 from flock.inbox where id = 1 and account_id = 'b'"), /using inbox_pkey/);
  },
);
