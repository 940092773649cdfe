/**
 * Brings a database to the schema of this version, under one lock: the numbered steps that it lacks (migrations.ts),
 * each in one transaction, then the functions whose text changed, all in one transaction. The only module that may open
 * a transaction from here: nothing else runs on its connection, and a connection that dies leaves the step to be run
 * again. A node that starts applies nothing.
 *
 * A step of indexes on a table that may be large runs without a transaction (decision 69): the nodes append
 * meanwhile. What was left unfinished of an index is dropped, and it is made again.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { withFiles } from '../../protocol/node/settings-in-files.ts';
import { FUNCTION_SET, sqlFunctions, type SqlFunction } from './functions.ts';
import {
  MigrationError,
  migrations,
  planOf,
  tooOld,
  type Applied,
  type IndexStatement,
  type Migration,
} from './migrations.ts';
import { ownerFault } from './sign-in-fault.ts';
import { openDatabase, sqlstateOf, type Sql } from './sql.ts';

/** Any fixed number: all migrating processes of a database wait for the same lock. */
const LOCK = 7_305_818;
const STATEMENT_TIMEOUT_MS = 600_000;
const LOCK_TRIED_EACH_MS = 200;

export interface MigrateOptions {
  /** Of a role that may create schemas and (once) roles. */
  readonly url: string;
  /** Gives the application role this password, so that it can sign in itself. */
  readonly appPassword?: string;
  /** Stops after this number and applies no functions; for tests of the way from every earlier version. */
  readonly upTo?: number;
  /** The functions of this version; for tests of one that fails. */
  readonly functions?: readonly SqlFunction[];
  /** The steps of this version; for tests of one that breaks off. */
  readonly steps?: readonly Migration[];
}

/** The connection that migrates, the steps and functions of this version, and which of their files the server is at. */
interface Migrating {
  readonly sql: Sql;
  readonly steps: readonly Migration[];
  readonly functions: readonly SqlFunction[];
  at(): string | null;
}

/** Runs what is missing; answers the versions before and after. Throws: MigrationError when it cannot. */
export async function migrate({
  url,
  appPassword,
  upTo = Infinity,
  functions = sqlFunctions(),
  steps = migrations(),
}: MigrateOptions): Promise<{ from: number; to: number }> {
  let at: string | null = null;
  const pool = openDatabase({
    url,
    connections: 1,
    name: 'flock-migrate',
    role: null,
    onNotice: (message) => {
      if (message.startsWith(AT)) at = message.slice(AT.length);
    },
  });
  const sql = await pool.reserve();
  const migrating: Migrating = { sql: sql as unknown as Sql, steps, functions, at: () => at };
  try {
    await sql`select set_config('statement_timeout', ${String(STATEMENT_TIMEOUT_MS)}, false), set_config('lock_timeout', '0', false)`;
    await lockMigrations(sql as unknown as Sql);
    await createRoles(sql as unknown as Sql, appPassword);
    await sql.unsafe('set role flock_owner');
    const known = await knownFunctions(sql as unknown as Sql);
    const versions = await runMissing(migrating, known, upTo);
    if (upTo === Infinity) await applyFunctions(migrating, known);
    return versions;
  } finally {
    sql.release();
    await pool.end({ timeout: 5 });
  }
}

/**
 * By asking again: an index that is made concurrently waits for every statement that runs in the database, also for one
 * that waits for this lock.
 */
async function lockMigrations(sql: Sql): Promise<void> {
  for (;;) {
    const [row] = await sql<{ locked: boolean }[]>`select pg_try_advisory_lock(${LOCK}) as locked`;
    if (row!.locked) return;
    await pause(LOCK_TRIED_EACH_MS);
  }
}

/** Roles belong to the whole cluster: another database's migration may be making them at this moment. */
async function createRoles(sql: Sql, appPassword: string | undefined): Promise<void> {
  await sql.unsafe(`
    do $$
    begin
      for attempt in 1..5 loop
        begin
          if not exists (select 1 from pg_roles where rolname = 'flock_owner') then create role flock_owner nologin; end if;
          if not exists (select 1 from pg_roles where rolname = 'flock_app') then create role flock_app login noinherit; end if;
          if not pg_has_role(current_user, 'flock_owner', 'member') then
            execute format('grant flock_owner to %I', current_user);
          end if;
          exit;
        exception when duplicate_object or unique_violation or internal_error then null; -- made meanwhile: look again
        end;
      end loop;
      execute format('grant create on database %I to flock_owner', current_database());
    end $$;
    set role flock_owner;
    create schema if not exists flock;
    set search_path = flock;
    -- A function is private until its file grants it.
    alter default privileges for role flock_owner revoke execute on functions from public;
    create table if not exists migration (
      number int primary key, name text not null, checksum text not null, applied_at timestamptz not null default now());
    alter table migration add column if not exists superseded_by int;
    create table if not exists function (
      name text primary key, checksum text not null, applied_at timestamptz not null default now());
    create table if not exists function_set (one boolean primary key default true check (one), set int not null);
    reset role;`);
  if (appPassword !== undefined) {
    // The role is the cluster's: set only from here, quoted by the server.
    const [row] = await sql<
      { statement: string }[]
    >`select format('alter role flock_app password %L', ${appPassword}::text) as statement`;
    await setRole(sql, row!.statement);
  }
}

const CONCURRENTLY_UPDATED = 'XX000';
const SETS_MAX = 10;

/** The server refuses, and does not repeat, what another database of the cluster changed at the same moment. */
async function setRole(sql: Sql, statement: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return void (await sql.unsafe(statement));
    } catch (error) {
      if (sqlstateOf(error) !== CONCURRENTLY_UPDATED || tries === SETS_MAX) throw error;
    }
  }
}

/** Checksums of the applied functions by name. Throws: MigrationError when a newer release has applied its set. */
async function knownFunctions(sql: Sql): Promise<Map<string, string>> {
  const [head] = await sql<{ set: number }[]>`select set from flock.function_set`;
  if (head !== undefined && head.set > FUNCTION_SET) {
    throw new MigrationError(
      'functions_newer',
      `the functions of the database are of set ${head.set}, this version of Flock has set ${FUNCTION_SET}: run migrate of the newest version`,
    );
  }
  const applied = await sql<{ name: string; checksum: string }[]>`select name, checksum from flock.function`;
  return new Map(applied.map(({ name, checksum }) => [name, checksum]));
}

async function runMissing(
  migrating: Migrating,
  known: Map<string, string>,
  upTo: number,
): Promise<{ from: number; to: number }> {
  const { sql, steps, functions } = migrating;
  const done = await sql<Applied[]>`select number, name, checksum from flock.migration order by number`;
  const plan = planOf(done, steps);
  const from = done.at(-1)?.number ?? 0;
  let to = from;
  if (plan.takesOver) {
    await takeOver(migrating, steps[0]!, known);
    to = steps[0]!.number;
  }
  const missing = plan.missing.filter(({ number }) => number <= upTo);
  // Triggers of a step name functions that must be there. Those that are there stay until all tables are as they need.
  if (missing.length > 0) {
    const first = functions.filter(({ name, trigger }) => trigger && !known.has(name));
    await inTransaction(migrating, 'functions', textOf(first));
    for (const { name, checksum } of first) known.set(name, checksum);
  }
  for (const step of missing) {
    if (step.concurrently === null) await inTransaction(migrating, step.name, `${step.text}\n;${recordOf(step)}`);
    else await concurrently(migrating, step, step.concurrently);
    to = step.number;
  }
  return { from, to };
}

const recordOf = ({ number, name, checksum }: Migration): string =>
  `insert into migration (number, name, checksum) values (${number}, '${name}', '${checksum}');`;

/** A function of triggers in every release: all functions are applied in one transaction, so that one shows all. */
const OF_TRIGGERS = 'ledger_entry_has_event';

/**
 * A database that came by steps 1–48 has what the beginning makes: `test/integration/persistence/takeover.test.ts`
 * compares the catalogs. Triggers of that time were made with their functions, after the last step.
 */
async function takeOver(migrating: Migrating, beginning: Migration, known: ReadonlyMap<string, string>): Promise<void> {
  if (!known.has(OF_TRIGGERS)) throw tooOld('the database has all tables, but its functions were not applied');
  await inTransaction(
    migrating,
    beginning.name,
    `update migration set superseded_by = ${beginning.number};${recordOf(beginning)}`,
  );
}

/** Replaces the functions whose text is not the one applied, and records the set. */
async function applyFunctions(migrating: Migrating, known: ReadonlyMap<string, string>): Promise<void> {
  const changed = migrating.functions.filter(({ name, checksum }) => known.get(name) !== checksum);
  await inTransaction(
    migrating,
    'functions',
    `${textOf(changed)}
    insert into function_set as s (set) values (${FUNCTION_SET})
      on conflict (one) do update set set = excluded.set where s.set <> excluded.set;`,
  );
}

/** Begins the notice that says at which function's file the server is. */
const AT = 'flock migrate: ';

/** The functions, and the rows that record them. */
function textOf(functions: readonly SqlFunction[]): string {
  const recorded = functions.map(
    ({ name, checksum }) => `
    insert into function (name, checksum) values ('${name}', '${checksum}')
      on conflict (name) do update set checksum = excluded.checksum, applied_at = clock_timestamp();`,
  );
  const marked = functions.map(
    ({ name, text }) => `do $at$ begin raise notice '${AT}functions/${name}.sql'; end $at$;\n${text}`,
  );
  return [...marked, `do $at$ begin raise notice '${AT}'; end $at$;`, ...recorded].join('\n');
}

/**
 * All statements are one text: this client would run what comes after a dead connection on another one. What was not
 * committed ends with the connection, which `migrate` closes: nothing is sent on it after a failure, because this
 * client dies of a write to one that the server closed, and its TypeError would hide the server's words.
 */
async function inTransaction({ sql, at }: Migrating, what: string, statements: string): Promise<void> {
  try {
    await sql.unsafe(`begin; set local search_path = flock, pg_temp;\n${statements}\ncommit;`);
  } catch (error) {
    throw failedAt(at() || what, error);
  }
}

function failedAt(where: string, error: unknown): MigrationError {
  const { message, detail } = error as { message: string; detail?: string };
  const words =
    sqlstateOf(error) === null
      ? `the connection to the server ended here (${message}): nothing of this was applied. The server's own log says why; then run migrate again`
      : `${message}${detail === undefined ? '' : ` (${detail})`}`;
  return new MigrationError('statement_failed', `${where}: ${words}`, { cause: error });
}

/** Statement by statement, however long the server needs; the step is recorded when all of its indexes are there. */
async function concurrently(
  migrating: Migrating,
  step: Migration,
  statements: readonly IndexStatement[],
): Promise<void> {
  const run = (text: string) => migrating.sql.unsafe(text);
  try {
    await run('set search_path = flock, pg_temp');
    await run('set statement_timeout = 0');
    for (const { text, makes } of statements) {
      if (makes !== null && (await isUnfinished(migrating.sql, makes))) await run(`drop index concurrently ${makes}`);
      await run(text);
    }
    await run(`set statement_timeout = ${STATEMENT_TIMEOUT_MS}`);
  } catch (error) {
    throw failedAt(step.name, error);
  }
  await inTransaction(migrating, step.name, recordOf(step));
}

/** Whether an index of this name was begun and not made: by a process that died, or with rows that it refuses. */
async function isUnfinished(sql: Sql, index: string): Promise<boolean> {
  const rows = await sql`
    select from pg_index i join pg_class c on c.oid = i.indexrelid
     where c.relname = ${index} and c.relnamespace = 'flock'::regnamespace and not i.indisvalid`;
  return rows.length > 0;
}

/** What went wrong, in words; a database that cannot be reached or signed into has no better ones than the driver's. */
function reasonOf(error: unknown): string {
  if (error instanceof MigrationError) return `${error.code}: ${error.message}`;
  return ownerFault(error) ?? (error as { message?: string }).message ?? String(error);
}

if (import.meta.main) {
  const problems: string[] = [];
  const { DATABASE_OWNER_URL: url = '', DATABASE_APP_PASSWORD: appPassword = '' } = withFiles(
    process.env,
    ['DATABASE_OWNER_URL', 'DATABASE_APP_PASSWORD'],
    problems,
  );
  if (problems.length > 0) {
    process.stderr.write(`migrate: ${problems.join('; ')}\n`);
    process.exitCode = 78;
  } else if (!/^postgres(?:ql)?:\/\/\S+$/.test(url) || !URL.canParse(url)) {
    process.stderr.write(
      'migrate: DATABASE_OWNER_URL is needed: postgres://OWNER:PASSWORD@HOST/DATABASE, a role that may create schemas and roles\n',
    );
    process.exitCode = 78;
  } else {
    try {
      const { from, to } = await migrate({ url, ...(appPassword === '' ? {} : { appPassword }) });
      process.stdout.write(
        from === to ? `the database is at version ${to} already\n` : `migrated from ${from} to ${to}\n`,
      );
      if (appPassword === '')
        process.stderr.write(
          'DATABASE_APP_PASSWORD is not set: the password of flock_app is left as it is, and it cannot sign in before it has one\n',
        );
    } catch (error) {
      process.stderr.write(`migrate: ${reasonOf(error)}\n`);
      process.exitCode = 1;
    }
  }
}
