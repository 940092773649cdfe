/** A database of the last version before the squash, and one whose functions are of the set before, become today's. */
import test from 'ava';
import { FUNCTION_SET, sqlFunctions } from '../../../persistence/postgres/functions.ts';
import { migrate } from '../../../persistence/postgres/migrate.ts';
import {
  historyDigest,
  MigrationError,
  migrations,
  SUPERSEDED,
  type MigrationFault,
} from '../../../persistence/postgres/migrations.ts';
import type { Sql } from '../../../persistence/postgres/sql.ts';
import { catalogOf } from '../../support/catalog.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { formerFunctions, formerTables, migrateFormer } from '../../support/release-of-0048.ts';
import { newOrganization, openStores } from '../../support/store-rows.ts';
import { importsOf, sources } from '../../support/tree.ts';

const BEGINNING = migrations()[0]!.number;
const NEWEST = migrations().at(-1)!.number;

let today: TestDatabase;
let former: TestDatabase;
test.before(async () => {
  today = await createTestDatabase();
  former = await createTestDatabase({ migrated: false });
});
test.after.always(() => Promise.all([today?.close(), former?.close()]));

/** Bookkeeping of `migrate` itself. */
const RECORDS = ['migration', 'function', 'function_set'];
const TABLES = `select c.relname as name from pg_class c
  where c.relnamespace = 'flock'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    and c.relname <> all ('{${RECORDS.join(',')}}') order by 1`;

/** What a row says where the type alone would not do, by table and by column of any table. */
const SAYS: Record<string, Record<string, unknown>> = {
  '': {
    account_id: 'org_a_live',
    organization_id: 'org_a',
    environment: 'live',
    address_id: 'adr_1',
    delivery_id: `dlv_${'a'.repeat(26)}`,
    shard_id: 7,
    decimals: 18,
  },
  account_key: { status: 'active' },
  address: { id: 'adr_1', purpose: 'deposit', status: 'active' },
  billable: { kind: 'withdrawal', period: '2026-06' },
  console_user: { platform_role: null },
  delivery: { id: `dlv_${'a'.repeat(26)}`, status: 'pending', held_reason: null },
  deposit: { status: 'detected' },
  discrepancy: { kind: 'shortfall' },
  edge_session: { role: 'leader' },
  fact: { status: 'seen', was: null, displaced_above: null, displaced_until: null, transfer: { threshold: 12 } },
  inbox: { tries: 0, retry_at: null, trouble: null },
  ledger_entry: { kind: 'detected' },
  list_count: { list: 'deposit', part: 0 },
  mail: { sent_at: null },
  membership: { role: 'owner' },
  sandbox_ledger: { ledger: 'eth@org_a_sandbox' },
  webhook: { status: 'enabled' },
  withdrawal: {
    kind: 'withdrawal',
    status: 'built',
    versions: [],
    unsigned: { replayKey: { kind: 'nonce', value: 1 } },
  },
};

const OF_TYPE: Record<string, unknown> = {
  bool: false,
  date: '2026-06-01',
  timestamptz: '2026-06-01T00:00:00Z',
  uuid: '00000000-0000-4000-8000-000000000001',
  json: { a: 1 },
  jsonb: { a: 1 },
  _text: ['a'],
};

/** One row in every table that has none, past triggers and references: what is compared is that nothing changes it. */
async function fill(admin: Sql): Promise<void> {
  for (const { name } of await admin.unsafe<{ name: string }[]>(TABLES)) {
    const columns = await admin<{ column: string; type: string }[]>`
      select a.attname as column, t.typname as type from pg_attribute a join pg_type t on t.oid = a.atttypid
       where a.attrelid = ${`flock.${name}`}::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''`;
    const row = Object.fromEntries(
      columns.map(({ column, type }) => {
        const said = { ...SAYS[''], ...SAYS[name] };
        return [column, column in said ? said[column] : (OF_TYPE[type] ?? (type === 'text' ? `${column}_1` : 1))];
      }),
    );
    const list = columns.map(({ column }) => `"${column}"`).join();
    await admin.unsafe(
      `set session_replication_role = replica; set search_path = flock;
       insert into "${name}" (${list}) overriding system value
         select ${list} from jsonb_populate_record(null::"${name}", '${JSON.stringify(row)}')
          where not exists (select from "${name}");
       reset session_replication_role; reset search_path`,
    );
  }
}

/** Every row of every table, and where each sequence is. */
type Rows = Record<string, string[]>;

async function rowsOf(admin: Sql): Promise<Rows> {
  const rows: Rows = {};
  for (const { name } of await admin.unsafe<{ name: string }[]>(TABLES)) {
    const found = await admin.unsafe<{ row: string }[]>(
      `select to_jsonb(t)::text as row from flock."${name}" t order by 1`,
    );
    rows[name] = found.map(({ row }) => row);
  }
  const sequences = await admin<{ name: string; at: string }[]>`
    select sequencename as name, last_value::text as at from pg_sequences where schemaname = 'flock'`;
  return { ...rows, sequences: sequences.map(({ name, at }) => `${name} ${at}`).sort() };
}

interface HistoryRow {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
  readonly supersededBy: number | null;
}

const historyOf = async (admin: Sql): Promise<HistoryRow[]> =>
  (
    await admin<HistoryRow[]>`
      select number, name, checksum, superseded_by as "supersededBy" from flock.migration order by number`
  ).map((row) => ({ ...row }));

const functionsOf = async (admin: Sql): Promise<{ name: string; checksum: string }[]> =>
  (
    await admin<
      { name: string; checksum: string }[]
    >`select name, checksum from flock.function order by name collate "C"`
  ).map((row) => ({ ...row }));

const TODAY = sqlFunctions()
  .map(({ name, checksum }) => ({ name, checksum }))
  .sort((a, b) => (a.name < b.name ? -1 : 1));

test.serial(
  'house 4, ecosystem X67: a skipped step, a database that is older than 0048, or whose history is not ours, is refused with the next step',
  async (t) => {
    const refused = async (code: MigrationFault, message: RegExp) => {
      const before = await former.admin`select count(*)::int as n from flock.migration`;
      const error = await t.throwsAsync(migrate({ url: former.url }), { instanceOf: MigrationError, message });
      t.is((error as MigrationError).code, code);
      t.deepEqual(await former.admin`select count(*)::int as n from flock.migration`, before, 'and nothing was done');
    };
    await migrateFormer(former.url, 47);
    await refused(
      'database_too_old',
      /is at 0047_.*first run "npm run -s migrate" of the last version.*0048_amount_of_version/,
    );
    await migrateFormer(former.url, 48);
    await refused('database_too_old', /functions were not applied.*first run/);
    await migrateFormer(former.url);
    await former.admin`update flock.migration set checksum = 'other' where number = 2`;
    await refused('migration_changed', /1 to 48 of this database are not those of Flock/);
    await former.admin`update flock.migration set checksum = ${formerTables()[1]!.checksum} where number = 2`;
    t.is(historyDigest(formerTables()), SUPERSEDED.digest);
    t.is(formerTables().at(-1)!.name, SUPERSEDED.name);
  },
);

/** Rows in the tables and columns that there were before: later steps may add both. */
function asBefore({ sequences, ...found }: Rows, { sequences: _, ...before }: Rows): Rows {
  const picked = Object.entries(before).map(([table, was]) => {
    const columns = Object.keys(JSON.parse(was[0]!) as object).sort();
    const rows = (found[table] ?? []).map((row) => {
      const values = JSON.parse(row) as Record<string, unknown>;
      return JSON.stringify(columns.map((column) => [column, values[column]]));
    });
    return [table, rows.sort()] as const;
  });
  return { ...Object.fromEntries(picked), sequences: sequences! };
}

test.serial(
  'house 4: a database of 0048 that holds rows in every table is taken over once: same catalogs, same rows',
  async (t) => {
    await fill(former.admin);
    const rows = await rowsOf(former.admin);
    t.deepEqual(
      Object.entries(rows).filter(([, found]) => found.length === 0),
      [],
      'every table has a row',
    );
    const both = await Promise.all([migrate({ url: former.url }), migrate({ url: former.url })]);
    t.deepEqual(
      both.map(({ from }) => from).sort((a, b) => a - b),
      [48, NEWEST],
      'one takes it over, the other waits and finds it done',
    );
    t.deepEqual(asBefore(await rowsOf(former.admin), rows), asBefore(rows, rows));
    const ours = await catalogOf(former.admin);
    t.true(ours.length > 1_000);
    t.deepEqual(ours, await catalogOf(today.admin));
    t.deepEqual(await historyOf(former.admin), [
      ...formerTables().map(({ name, checksum }, at) => ({ number: at + 1, name, checksum, supersededBy: BEGINNING })),
      ...migrations().map(({ number, name, checksum }) => ({ number, name, checksum, supersededBy: null })),
    ]);
    t.deepEqual(await functionsOf(former.admin), TODAY);
    const stores = await openStores(former);
    const { live } = await newOrganization(stores);
    t.is((await stores.accounts.load(live))?.state.accountId, live, 'and it serves');
  },
);

test.serial('house 4: a release of before finds a newer database and applies nothing', async (t) => {
  const before = await functionsOf(former.admin);
  await t.throwsAsync(migrateFormer(former.url), { message: /newer than this version of Flock/ });
  t.deepEqual(await functionsOf(former.admin), before);
});

test.serial('house 4: functions of the set before are replaced, those of a set after never', async (t) => {
  await today.owner.unsafe(`set search_path = flock, pg_temp; update function_set set set = ${FUNCTION_SET - 1};
    ${formerFunctions()
      .map(
        ({ name, text, checksum }) => `${text}; update function set checksum = '${checksum}' where name = '${name}';`,
      )
      .join('\n')}
    reset search_path`);
  t.notDeepEqual(await functionsOf(today.admin), TODAY);
  t.deepEqual(await migrate({ url: today.url }), { from: NEWEST, to: NEWEST });
  t.deepEqual(await functionsOf(today.admin), TODAY);
  t.deepEqual(await catalogOf(today.admin), await catalogOf(former.admin));
  await today.admin`update flock.function_set set set = ${FUNCTION_SET + 1}`;
  await today.admin`update flock.function set checksum = 'of a newer release'`;
  await today.admin`delete from flock.migration where number > ${BEGINNING}`;
  const error = await t.throwsAsync(migrate({ url: today.url }), { message: /run migrate of the newest version/ });
  t.is((error as MigrationError).code, 'functions_newer');
  t.true((await functionsOf(today.admin)).every(({ checksum }) => checksum === 'of a newer release'));
});

test('house 4: `migrate` alone applies: no node imports it, and the role of a node may not replace a function', async (t) => {
  const importers = sources().filter((file) =>
    importsOf(file).some(({ target }) => target === 'persistence/postgres/migrate.ts'),
  );
  t.deepEqual(
    importers.map(({ path }) => path),
    ['developer/database.ts'],
  );
  const replacing = today.sql.unsafe(
    'create or replace function flock.links_kept() returns bigint language sql immutable as $$ select 1::bigint $$',
  );
  t.is((await t.throwsAsync<Error & { code: string }>(replacing))?.code, '42501');
});
