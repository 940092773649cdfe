/**
 * Real PostgreSQL for tests: `DATABASE_URL` when it is set, else one embedded server for the whole run. Each test file
 * gets a database of its own, cloned from a migrated template.
 *
 *   const database = await createTestDatabase();
 *   test.after.always(() => database.close());
 */
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { sqlFunctions } from '../../persistence/postgres/functions.ts';
import { migrate } from '../../persistence/postgres/migrate.ts';
import { migrations } from '../../persistence/postgres/migrations.ts';
import { openDatabase, type Sql } from '../../persistence/postgres/sql.ts';

export interface TestDatabase {
  /** Superuser's URL of the database, for processes that a test starts and for `openDatabase`. */
  readonly url: string;
  /** As the application role. */
  readonly sql: Sql;
  /** As the owner of the schema, for attacks on its invariants and for looking. */
  readonly owner: Sql;
  /** As the superuser (pg_terminate_backend). */
  readonly admin: Sql;
  /** Closes the pools and drops the database. Throws: Error when someone else left a connection open. */
  close(): Promise<void>;
}

const START_MS = 60_000;
const POLL_MS = 25;
const CONNECTIONS = 8;
const LEAK_MS = 20_000;
const EVENTUALLY_MS = 150_000;
/**
 * Who fills tables and holds locks takes the time that the machine needs; the limits of the application's role are its
 * own.
 */
const PATIENT = { statementTimeoutMs: 0, settings: { idle_in_transaction_session_timeout: '0' } };
const TEMPLATE_LOCK = 7_305_819;

/** Start of a process in ticks since boot: a pid alone may have been another process in an earlier run. */
function startOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '0';
}

/** URL of the server's superuser. Throws: Error when it did not start, with its reason. */
export async function testServerUrl(): Promise<string> {
  if (process.env.DATABASE_URL !== undefined) return process.env.DATABASE_URL;
  // AVA runs each file in a child of its own: the parent is the run. A file that is run alone has some other parent.
  const folder = join(tmpdir(), `flock-test-postgres-${process.ppid}-${startOf(process.ppid)}`);
  try {
    mkdirSync(folder, { mode: 0o755 });
    const host = spawn(
      process.execPath,
      [new URL('./postgres-host.ts', import.meta.url).pathname, String(process.ppid), folder],
      {
        detached: true,
        stdio: 'ignore',
      },
    );
    host.unref();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const deadline = performance.now() + START_MS;
  while (performance.now() < deadline) {
    if (existsSync(join(folder, 'url'))) return readFileSync(join(folder, 'url'), 'utf8');
    if (existsSync(join(folder, 'failed'))) throw new Error(readFileSync(join(folder, 'failed'), 'utf8'));
    await delay(POLL_MS);
  }
  throw new Error(`no PostgreSQL after ${START_MS} ms`);
}

function urlOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

/** The migrated template of this version of the schema; made once, by whoever comes first. */
async function ensureTemplate(server: string): Promise<string> {
  const hash = createHash('sha256')
    .update([...migrations(), ...sqlFunctions()].map(({ checksum }) => checksum).join())
    .digest('hex')
    .slice(0, 16);
  const name = `flock_template_${hash}`;
  const pool = openDatabase({ url: server, connections: 1, name: 'flock-test-template', role: null });
  const sql = await pool.reserve();
  try {
    await sql`select set_config('lock_timeout', '60s', false), set_config('statement_timeout', '60s', false)`;
    await sql`select pg_advisory_lock(${TEMPLATE_LOCK})`;
    const [known] = await sql`select datistemplate from pg_database where datname = ${name}`;
    if (known?.datistemplate === true) return name;
    await sql`drop database if exists ${sql(name)}`; // a run that was killed half-way
    await sql`create database ${sql(name)}`;
    await migrate({ url: urlOf(server, name) });
    await sql`alter database ${sql(name)} is_template true`;
    return name;
  } finally {
    sql.release();
    await pool.end({ timeout: 5 });
  }
}

/** A name that no other database has: tests of one file start at once, in one process and one millisecond. */
export const newDatabaseName = (prefix: string): string => `${prefix}_${randomBytes(8).toString('hex')}`;

/**
 * A fresh database with the whole schema. `migrated: false` leaves it empty; `server` is the superuser's URL of another
 * server than the run's.
 */
export async function createTestDatabase({
  migrated = true,
  server: named,
}: { migrated?: boolean; server?: string | undefined } = {}): Promise<TestDatabase> {
  const server = named ?? (await testServerUrl());
  const name = newDatabaseName('flock_test');
  const maintenance = openDatabase({ url: server, connections: 1, name: 'flock-test', role: null, ...PATIENT });
  if (migrated)
    await maintenance`create database ${maintenance(name)} template ${maintenance(await ensureTemplate(server))}`;
  else await maintenance`create database ${maintenance(name)}`;
  const url = urlOf(server, name);
  const sql = openDatabase({ url, connections: CONNECTIONS, name: 'flock-test-app' });
  const owner = openDatabase({ url, connections: 2, name: 'flock-test-owner', role: 'flock_owner', ...PATIENT });
  const admin = openDatabase({ url, connections: 4, name: 'flock-test-admin', role: null, ...PATIENT });
  return {
    url,
    sql,
    owner,
    admin,
    async close() {
      await Promise.all([sql, owner, admin].map((pool) => pool.end({ timeout: 5 })));
      const left = await leftConnections(maintenance, name);
      await maintenance`drop database if exists ${maintenance(name)} with (force)`;
      await maintenance.end({ timeout: 5 });
      if (left.length > 0) throw new Error(`connections left open: ${left.join(', ')}`);
    },
  };
}

/** Resolves when the condition holds. Throws: Error with its name after minutes: a machine may be slow. */
export async function eventually(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + EVENTUALLY_MS;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`);
  }
}

/** Backends end a moment after their client; those that stay are a leak. */
async function leftConnections(sql: Sql, database: string): Promise<string[]> {
  const deadline = performance.now() + LEAK_MS;
  for (;;) {
    const rows = await sql<{ name: string; query: string }[]>`
      select application_name as name, left(query, 80) as query from pg_stat_activity
       where datname = ${database} and backend_type = 'client backend'`;
    if (rows.length === 0 || performance.now() > deadline) return rows.map((row) => `${row.name} (${row.query})`);
    await delay(POLL_MS);
  }
}
