/**
 * Brings a database to the schema of this version: numbered files, forward only, each in one transaction, each with a
 * checksum that a later start compares; then the functions whose text changed, all in one transaction. The only module
 * that may open a transaction from here: nothing else runs on its connection, and a connection that dies leaves the
 * file to be run again.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { FUNCTION_SET, sqlFunctions } from './functions.ts';
import { signInFault } from './sign-in-fault.ts';
import { openDatabase, sqlstateOf, type Sql } from './sql.ts';

export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly text: string;
  readonly checksum: string;
}

export class MigrationError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'MigrationError';
  }
}

const FOLDER = new URL('./tables/', import.meta.url);
/** Any fixed number: all migrating processes of a database wait for the same lock. */
const LOCK = 7_305_818;
const STATEMENT_TIMEOUT_MS = 600_000;

/** The files in their order. Throws: MigrationError when the numbers have a gap. */
export function migrations(): Migration[] {
  const names = readdirSync(FOLDER)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  return names.map((name, index) => {
    const number = Number(/^([0-9]{4})_[a-z0-9_]+\.sql$/.exec(name)?.[1] ?? NaN);
    if (number !== index + 1) throw new MigrationError(`${name} is not number ${index + 1}`);
    const text = readFileSync(new URL(name, FOLDER), 'utf8');
    return { number, name, text, checksum: createHash('sha256').update(text).digest('hex') };
  });
}

export interface MigrateOptions {
  /** Of a role that may create schemas and (once) roles. */
  readonly url: string;
  /** Gives the application role this password, so that it can sign in itself. */
  readonly appPassword?: string;
  /** Stops after this number; for the tests of the way from every earlier version. */
  readonly upTo?: number;
}

/**
 * Runs what is missing; answers the versions before and after. Throws: MigrationError when a file changed after it ran.
 */
export async function migrate({
  url,
  appPassword,
  upTo = Infinity,
}: MigrateOptions): Promise<{ from: number; to: number }> {
  const pool = openDatabase({ url, connections: 1, name: 'flock-migrate', role: null });
  const sql = await pool.reserve();
  try {
    await sql`select set_config('statement_timeout', ${String(STATEMENT_TIMEOUT_MS)}, false), set_config('lock_timeout', '0', false)`;
    await sql`select pg_advisory_lock(${LOCK})`;
    await createRoles(sql as unknown as Sql, appPassword);
    const versions = await runMissing(sql as unknown as Sql, upTo);
    if (upTo === Infinity) await applyFunctions(sql as unknown as Sql);
    return versions;
  } finally {
    sql.release();
    await pool.end({ timeout: 5 });
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
    create table if not exists migration (
      number int primary key, name text not null, checksum text not null, applied_at timestamptz not null default now());
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

async function runMissing(sql: Sql, upTo: number): Promise<{ from: number; to: number }> {
  await sql.unsafe('set role flock_owner');
  const done = await sql<
    { number: number; name: string; checksum: string }[]
  >`select number, name, checksum from flock.migration order by number`;
  const files = migrations();
  for (const { number, name, checksum } of done) {
    const file = files[number - 1];
    if (file === undefined) throw new MigrationError(`the database is at ${name}, newer than this version of Flock`);
    if (file.checksum !== checksum)
      throw new MigrationError(`${name} changed after it ran on this database; a correction is a new file`);
  }
  const from = done.length;
  let to = from;
  for (const { number, name, text, checksum } of files.slice(from).filter((file) => file.number <= upTo)) {
    try {
      await sql.unsafe(`begin; set local search_path = flock, pg_temp;\n${text}\n;
        insert into flock.migration (number, name, checksum) values (${number}, '${name}', '${checksum}'); commit;`);
    } catch (error) {
      await sql.unsafe('rollback').catch(() => undefined);
      throw new MigrationError(`${name}: ${(error as Error).message}`, { cause: error });
    }
    to = number;
  }
  return { from, to };
}

/**
 * Replaces the functions whose text is not the one applied. Throws: MigrationError when a newer release has applied its
 * set.
 */
async function applyFunctions(sql: Sql): Promise<void> {
  const [head] = await sql<{ set: number }[]>`select set from flock.function_set`;
  if (head !== undefined && head.set > FUNCTION_SET) {
    throw new MigrationError(
      `the functions of the database are of set ${head.set}, this version of Flock has set ${FUNCTION_SET}: run migrate of the newest version`,
    );
  }
  const applied = await sql<{ name: string; checksum: string }[]>`select name, checksum from flock.function`;
  const known = new Map(applied.map(({ name, checksum }) => [name, checksum]));
  const changed = sqlFunctions().filter(({ name, checksum }) => known.get(name) !== checksum);
  if (changed.length === 0 && head?.set === FUNCTION_SET) return;
  const noted = changed.map(
    ({ name, checksum }) => `
    insert into function (name, checksum) values ('${name}', '${checksum}')
      on conflict (name) do update set checksum = excluded.checksum, applied_at = clock_timestamp();`,
  );
  try {
    await sql.unsafe(`begin; set local search_path = flock, pg_temp;
      ${changed.map(({ text }) => text).join('\n')}
      ${noted.join('')}
      insert into function_set (set) values (${FUNCTION_SET}) on conflict (one) do update set set = excluded.set; commit;`);
  } catch (error) {
    await sql.unsafe('rollback').catch(() => undefined);
    throw new MigrationError(`functions: ${(error as Error).message}`, { cause: error });
  }
}

/** What went wrong, in words; a database that cannot be reached or signed into has no better ones than the driver's. */
function reasonOf(error: unknown): string {
  return signInFault(error, 'DATABASE_OWNER_URL') ?? (error as { message?: string }).message ?? String(error);
}

if (import.meta.main) {
  const { DATABASE_OWNER_URL: url = '', DATABASE_APP_PASSWORD: appPassword = '' } = process.env;
  if (!/^postgres(?:ql)?:\/\/\S+$/.test(url) || !URL.canParse(url)) {
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
