/** What a doctor sees of the cloud's database, as the role of the application. Ecosystem X35. */
import { durabilityProblem, readDurability } from '../../../persistence/postgres/durability.ts';
import { FUNCTION_SET, sqlFunctions } from '../../../persistence/postgres/functions.ts';
import { MigrationError, migrations, planOf, type Applied } from '../../../persistence/postgres/migrations.ts';
import { createClusterStore } from '../../../persistence/postgres/cluster-store.ts';
import { createOperatorStore } from '../../../persistence/postgres/operator-store.ts';
import { createUnreadableHooks } from '../../../persistence/postgres/sealed-secrets.ts';
import type { Sql } from '../../../persistence/postgres/sql.ts';
import { fail, ok, unknown, warn, type Check, type Finding } from '../../../protocol/node/doctor/examine.ts';
import { VERSION } from '../../../protocol/version.ts';

/** The first version that the schema needs, and the newest that the tests run. */
const SERVER_MIN = 150_000;
const SERVER_TESTED = 180_000;
const CLOCK_WARN_SECONDS = 2;
const LAG_WARN_SECONDS = 30;
const NUMBERS_WARN = 0.5;
const NUMBERS_FAIL = 0.9;
const BACKUP_WARN_SECONDS = 26 * 3_600;
const CONFIGURATION = 'docs/configuration.md';

export function databaseChecks(sql: Sql, leaseSeconds: number): Check[] {
  const operators = createOperatorStore(sql);
  const state = () => operators.databaseState();
  return [
    { id: 'database', page: 'docs/runbooks/database-down.md', look: () => serverFinding(sql) },
    { id: 'database_durability', page: `${CONFIGURATION}#standbys`, look: () => durabilityFinding(sql) },
    { id: 'database_pages', page: `${CONFIGURATION}#backup-and-restore`, look: () => pagesFinding(sql) },
    { id: 'database_role', page: `${CONFIGURATION}#migration-npm-run-migrate`, look: () => roleFinding(sql) },
    { id: 'migrations', page: `${CONFIGURATION}#migration-npm-run-migrate`, look: () => migrationsFinding(sql) },
    { id: 'functions', page: `${CONFIGURATION}#migration-npm-run-migrate`, look: () => functionsFinding(sql) },
    {
      id: 'database_clock',
      page: 'docs/runbooks/clock-off.md',
      look: async () => {
        const askedMs = Date.now();
        const { clockMs } = await state();
        const [answeredMs, tookSeconds] = [Date.now(), (Date.now() - askedMs) / 1_000];
        return clockFinding(((askedMs + answeredMs) / 2 - clockMs) / 1_000, tookSeconds);
      },
    },
    {
      id: 'replicas',
      page: 'docs/runbooks/postgres-lag.md',
      look: async () => replicasFinding(await state(), await slotsOf(sql)),
    },
    { id: 'archive', page: 'docs/runbooks/archive-failing.md', look: async () => archiveFinding(await state()) },
    { id: 'backup', page: 'docs/runbooks/backup-old.md', look: async () => backupFinding(await state()) },
    { id: 'wraparound', page: 'docs/runbooks/wraparound.md', look: async () => numbersFinding(await state()) },
    { id: 'secrets', page: 'docs/operator-commands.md#on-the-clouds-database', look: () => secretsFinding(sql) },
    { id: 'nodes', page: 'docs/several-nodes.md', look: () => nodesFinding(sql, leaseSeconds) },
    { id: 'shards', page: 'docs/runbooks/shard-unowned.md', look: () => shardsFinding(sql, leaseSeconds) },
  ];
}

type State = Awaited<ReturnType<ReturnType<typeof createOperatorStore>['databaseState']>>;

async function serverFinding(sql: Sql): Promise<Finding> {
  const [row] = await sql<{ version: number; name: string; encoding: string }[]>`
    select current_setting('server_version_num')::int as version, current_setting('server_version') as name,
           current_setting('server_encoding') as encoding`;
  return serverFindingOf(row!);
}

export function serverFindingOf(row: { version: number; name: string; encoding: string }): Finding {
  const [{ version, encoding }, name] = [row, `PostgreSQL ${row.name.split(' ')[0]}`];
  if (encoding !== 'UTF8') return fail(`the database is encoded as ${encoding}`, 'make it anew with encoding UTF8');
  if (version < SERVER_MIN) return fail(`${name} is too old`, 'upgrade to PostgreSQL 15 or later');
  return version >= SERVER_TESTED + 10_000 ? warn(`${name} is newer than what was tested`, 'use 15 to 18') : ok(name);
}

async function durabilityFinding(sql: Sql): Promise<Finding> {
  const problem = durabilityProblem(await readDurability(sql));
  const [seen, remedy] = (problem ?? '').split('; ');
  return problem === null ? ok('what was acknowledged survives') : fail(seen!, remedy ?? 'correct the setting');
}

async function pagesFinding(sql: Sql): Promise<Finding> {
  const [row] = await sql<{ on: boolean }[]>`select current_setting('data_checksums') = 'on' as on`;
  return row!.on
    ? ok('pages have checksums')
    : warn('pages have no checksums: a damaged one is read as it is', 'stop the server and run pg_checksums --enable');
}

async function roleFinding(sql: Sql): Promise<Finding> {
  const [row] = await sql<{ isMore: boolean; ownsTables: boolean }[]>`
    select r.rolsuper or r.rolcreaterole or r.rolcreatedb or r.rolreplication or r.rolbypassrls as is_more,
           pg_has_role(r.oid, 'flock_owner', 'member') as owns_tables
      from pg_roles r where r.rolname = session_user`;
  return roleFindingOf(row!);
}

export function roleFindingOf({ isMore, ownsTables }: { isMore: boolean; ownsTables: boolean }): Finding {
  if (!isMore && !ownsTables) return ok('the role of DATABASE_URL may do what a node needs, and no more');
  const seen = `the role of DATABASE_URL ${isMore ? 'is a superuser, or makes roles or databases' : 'owns the tables'}`;
  return warn(seen, 'sign in as flock_app (DATABASE_APP_PASSWORD at migrate)');
}

async function migrationsFinding(sql: Sql): Promise<Finding> {
  const done = await sql<Applied[]>`select number, name, checksum from flock.migration order by number`;
  return migrationsFindingOf(done);
}

export function migrationsFindingOf(done: readonly Applied[]): Finding {
  const steps = migrations();
  try {
    const { missing, takesOver } = planOf(done, steps);
    const count = missing.length + (takesOver ? 1 : 0);
    if (count === 0) return ok(`all are applied, up to ${steps.at(-1)!.number}`);
    return fail(`${count} are missing`, 'npm run migrate of this version');
  } catch (error) {
    if (!(error instanceof MigrationError)) throw error;
    return fail(error.message.split(': ')[0]!, 'run the version that the database is of');
  }
}

async function functionsFinding(sql: Sql): Promise<Finding> {
  const [[head], rows] = await Promise.all([
    sql<{ set: number }[]>`select set from flock.function_set`,
    sql<{ name: string; checksum: string }[]>`select name, checksum from flock.function`,
  ]);
  return functionsFindingOf(head?.set ?? 0, new Map(rows.map(({ name, checksum }) => [name, checksum])));
}

export function functionsFindingOf(set: number, applied: ReadonlyMap<string, string>): Finding {
  if (set > FUNCTION_SET) return warn('they are of a newer release', 'bring this node to the newest release');
  const other = sqlFunctions().filter(({ name, checksum }) => applied.get(name) !== checksum);
  const [first] = other;
  return first === undefined
    ? ok('all are of this release')
    : fail(`${other.length} are not of this release: ${first.name}`, 'npm run migrate of this version');
}

/** `tookSeconds`: how long the question took; its answer was true at some moment of that. */
export function clockFinding(seconds: number, tookSeconds = 0): Finding {
  const off = Math.max(0, Math.abs(seconds) - tookSeconds / 2);
  const seen = `${Math.round(Math.abs(seconds))} s ${seconds < 0 ? 'behind' : 'ahead of'} the database`;
  return off > CLOCK_WARN_SECONDS ? fail(seen, 'have the clocks of both set by NTP') : ok('within 2 s of the database');
}

/** Slots that nobody reads keep the log for ever. */
async function slotsOf(sql: Sql): Promise<number> {
  const [row] = await sql<{ idle: number }[]>`
    select count(*)::int as idle from pg_replication_slots where not active`;
  return row!.idle;
}

export function replicasFinding({ replicaLagSeconds: lag }: Pick<State, 'replicaLagSeconds'>, idle: number): Finding {
  if (idle > 0)
    return warn(`${idle} replication slots have no reader, and keep the log`, 'start their standby, or drop the slot');
  if (lag === null) return ok('no standby is seen');
  return lag > LAG_WARN_SECONDS
    ? warn(`the slowest standby is ${Math.round(lag)} s behind`, 'look at the standby and its network')
    : ok('standbys follow');
}

export function archiveFinding({ archiveFailing }: Pick<State, 'archiveFailing'>): Finding {
  if (archiveFailing === null) return ok('there is no archive');
  return archiveFailing
    ? fail('the last segment was not archived', 'look at archive_command and its disk')
    : ok('it works');
}

export function backupFinding({ backupAgeSeconds: age }: Pick<State, 'backupAgeSeconds'>): Finding {
  if (age === null) return ok('none was recorded (record_backup)');
  const seen = `the last one is ${Math.round(age / 3_600)} h old`;
  return age > BACKUP_WARN_SECONDS ? warn(seen, 'look why the base copy was not made') : ok(seen);
}

export function numbersFinding({ numbersUsed }: Pick<State, 'numbersUsed'>): Finding {
  const seen = `${Math.round(numbersUsed * 100)} % of the transaction numbers are used`;
  if (numbersUsed > NUMBERS_FAIL) return fail(seen, 'vacuum freeze now, and look what holds autovacuum back');
  return numbersUsed > NUMBERS_WARN ? warn(seen, 'look what holds autovacuum back') : ok(seen);
}

async function secretsFinding(sql: Sql): Promise<Finding> {
  return secretsFindingOf((await createUnreadableHooks(sql).list({ account: '', id: '' }, 1)).length);
}

export function secretsFindingOf(held: number): Finding {
  return held === 0
    ? ok('none is known that does not open')
    : fail('deliveries wait for a secret that no key opens', 'put the former key behind the first of SECRET_KEY');
}

async function nodesFinding(sql: Sql, leaseSeconds: number): Promise<Finding> {
  const nodes = await createClusterStore(sql).nodes(leaseSeconds);
  return nodesFindingOf(nodes.map(({ alive, about }) => ({ alive, version: about?.version ?? null })));
}

export function nodesFindingOf(nodes: readonly { alive: boolean; version: string | null }[]): Finding {
  const alive = nodes.filter((node) => node.alive);
  if (alive.length === 0) return fail('no node is alive', 'start one: npm run cloud');
  const versions = [...new Set(alive.map(({ version }) => version ?? 'unknown'))];
  if (versions.length > 1 || versions[0] !== VERSION)
    return warn(`nodes are ${versions.join(', ')}, this is ${VERSION}`, 'end the rollout: bring all to one version');
  return ok(`${alive.length} alive, of ${VERSION}`);
}

async function shardsFinding(sql: Sql, leaseSeconds: number): Promise<Finding> {
  const { shards } = await createClusterStore(sql).owners(leaseSeconds);
  const held = shards.filter(({ owner, vacant }) => owner !== null && !vacant).length;
  if (shards.length === 0) return unknown('the database lists no shards', 'look at the check migrations');
  return held === shards.length
    ? ok(`all ${held} are served`)
    : fail(
        `${shards.length - held} of ${shards.length} are nobody's`,
        'look at the nodes; they claim them within a lease',
      );
}
