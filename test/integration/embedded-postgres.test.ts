import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import test from 'ava';
import { openDatabase } from '../../persistence/postgres/sql.ts';
import {
  processesIn,
  removeEmbeddedPostgres,
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../../developer/embedded-postgres.ts';
import { reachable, unprivilegedUser } from '../../developer/postgres-binaries.ts';
import { ROOT } from '../support/tree.ts';
import { eventually } from '../support/postgres.ts';

const folders: string[] = [];
function newDataDir(): string {
  const folder = mkdtempSync(join(tmpdir(), 'flock-embedded-'));
  folders.push(folder);
  return join(folder, 'postgres');
}
const directoryOf = (dataDir: string) =>
  (JSON.parse(readFileSync(join(dataDir, 'cluster.json'), 'utf8')) as { directory: string }).directory;

test.after.always(() => {
  for (const folder of folders) {
    removeEmbeddedPostgres(join(folder, 'postgres'));
    rmSync(folder, { recursive: true, force: true });
  }
});

async function query<T>(
  server: EmbeddedPostgres,
  run: (sql: ReturnType<typeof openDatabase>) => Promise<T>,
): Promise<T> {
  const sql = openDatabase({ url: server.url, connections: 1, name: 'embedded-test', role: null });
  try {
    return await run(sql);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** A process of its own that starts the server and says so; it stays until it is killed or told to stop. */
async function startInChild(dataDir: string): Promise<{ child: ReturnType<typeof spawn>; url: string; pid: number }> {
  const script = `
    import { startEmbeddedPostgres } from ${JSON.stringify(new URL('developer/embedded-postgres.ts', `file://${ROOT}`).href)};
    const server = await startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)}, durable: false });
    process.stdout.write(JSON.stringify({ url: server.url, pid: server.pid }) + '\\n');
    process.stdin.resume();`;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
    cwd: ROOT,
  });
  const [line] = (await once(createInterface({ input: child.stdout! }), 'line')) as [string];
  return { child, ...(JSON.parse(line) as { url: string; pid: number }) };
}

test.serial('design 6: it starts, keeps its data over a restart, and stops', async (t) => {
  const dataDir = newDataDir();
  const first = await startEmbeddedPostgres({ dataDir, durable: false });
  const [row] = await query(first, async (sql) => {
    await sql`create table public.kept as select 1 as one`;
    return sql`
      select current_setting('server_encoding') as encoding, datlocale, current_setting('listen_addresses') as addresses,
             current_setting('unix_socket_directories') as sockets, current_setting('timezone') as zone
        from pg_database where datname = current_database()`;
  });
  t.deepEqual({ ...row }, { encoding: 'UTF8', datlocale: 'C.UTF-8', addresses: '127.0.0.1', sockets: '', zone: 'UTC' });
  t.is(statSync(join(dataDir, 'cluster.json')).mode & 0o077, 0, 'the password is readable by its owner only');
  await first.stop();
  await first.stop();
  t.deepEqual(processesIn(directoryOf(dataDir)), []);
  const second = await startEmbeddedPostgres({ dataDir, durable: false });
  t.is(second.url, first.url, 'the same port and password');
  t.deepEqual(
    [...(await query(second, (sql) => sql`select one from public.kept`))].map((kept) => kept.one),
    [1],
  );
  const wrong = new URL(second.url);
  wrong.password = 'guess';
  const refused = openDatabase({ url: wrong.href, connections: 1, name: 'wrong', role: null });
  await t.throwsAsync(refused`select 1`, { message: /password authentication failed/ });
  await refused.end({ timeout: 1 });
  await second.stop();
});

test.serial('a killed parent leaves no orphan, and the next start recovers', async (t) => {
  const dataDir = newDataDir();
  const { child, url, pid } = await startInChild(dataDir);
  t.true(processesIn(directoryOf(dataDir)).includes(pid));
  child.kill('SIGKILL');
  await once(child, 'exit');
  const server = await startEmbeddedPostgres({ dataDir, durable: false });
  t.not(server.pid, pid);
  t.is(server.url, url);
  await server.stop();
  t.deepEqual(processesIn(directoryOf(dataDir)), []);
});

test.serial(
  'a postmaster that was killed with all it held leaves a stale pid file, which is no obstacle',
  async (t) => {
    const dataDir = newDataDir();
    const { child, pid } = await startInChild(dataDir);
    process.kill(pid, 'SIGKILL');
    await eventually('the server is gone', async () => processesIn(directoryOf(dataDir)).length === 0);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const pidFile = join(directoryOf(dataDir), 'postmaster.pid');
    t.true(existsSync(pidFile));
    // The worst case: the number belongs to a living process by now, which is no PostgreSQL of this directory.
    writeFileSync(pidFile, readFileSync(pidFile, 'utf8').replace(/^[0-9]+/, String(process.pid)));
    const server = await startEmbeddedPostgres({ dataDir, durable: false });
    t.is((await query(server, (sql) => sql`select 1 as one`)).length, 1);
    await server.stop();
  },
);

test.serial('a second start on the same data says who holds it', async (t) => {
  const dataDir = newDataDir();
  const server = await startEmbeddedPostgres({ dataDir, durable: false });
  await t.throwsAsync(startEmbeddedPostgres({ dataDir, durable: false }), {
    message: /in use by PostgreSQL \(pid [0-9].*another Flock runs on the same data/,
  });
  t.is((await query(server, (sql) => sql`select 1 as one`)).length, 1, 'and harms nobody');
  await server.stop();
});

test.serial('a port that is taken is passed over', async (t) => {
  const blocker = createServer();
  await new Promise<void>((done) => blocker.listen(0, '127.0.0.1', done));
  const { port } = blocker.address() as { port: number };
  const server = await startEmbeddedPostgres({ dataDir: newDataDir(), port, durable: false });
  t.not(server.port, port);
  t.is((await query(server, (sql) => sql`select 1 as one`)).length, 1);
  await server.stop();
  await new Promise((done) => blocker.close(done));
});

test.serial(
  'an initdb that was interrupted is begun anew; a removed cluster is gone with its staged data',
  async (t) => {
    const dataDir = newDataDir();
    mkdirSync(join(dataDir, 'cluster'), { recursive: true });
    writeFileSync(join(dataDir, 'cluster', 'half'), 'x');
    const server = await startEmbeddedPostgres({ dataDir, durable: false });
    await server.stop();
    const directory = directoryOf(dataDir);
    t.true(existsSync(join(directory, 'PG_VERSION')));
    removeEmbeddedPostgres(dataDir);
    t.false(existsSync(directory));
    t.false(existsSync(dataDir));
    removeEmbeddedPostgres(dataDir);
  },
);

test.serial(
  'a staged cluster whose data directory was deleted without us is cleared away by a later start',
  async (t) => {
    const dataDir = newDataDir();
    const server = await startEmbeddedPostgres({ dataDir, durable: false });
    await server.stop();
    const directory = directoryOf(dataDir);
    if (process.getuid?.() !== 0) {
      t.is(directory, join(dataDir, 'cluster'), 'an ordinary user needs no stage');
      return;
    }
    t.false(directory.startsWith(dataDir), 'below a private directory nobody else can reach');
    rmSync(dataDir, { recursive: true });
    const hourAgo = new Date(Date.now() - 3_700_000);
    utimesSync(`${directory}.owner`, hourAgo, hourAgo);
    const next = newDataDir();
    const other = await startEmbeddedPostgres({ dataDir: next, durable: false });
    t.false(existsSync(directory));
    t.true(existsSync(directoryOf(next)));
    await other.stop();
  },
);

test('who runs it: an unprivileged user for root, the user itself else', (t) => {
  const passwd =
    'root:x:0:0::/root:/bin/sh\ndaemon:x:1:1::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\npostgres:x:101:104::/:/bin/sh\n';
  t.deepEqual(unprivilegedUser(passwd, 0), { uid: 101, gid: 104 });
  t.deepEqual(unprivilegedUser(passwd.replace(/postgres.*\n/, ''), 0), { uid: 65534, gid: 65534 });
  t.deepEqual(unprivilegedUser('root:x:0:0::/root:/bin/sh\ndaemon:x:1:1::/:/bin/sh\n', 0), { uid: 1, gid: 1 });
  t.is(unprivilegedUser(passwd, 1000), null);
  t.throws(() => unprivilegedUser('root:x:0:0::/root:/bin/sh\n', 0), { message: /names no other user/ });
});

test('a directory below a private home is not reachable by another user', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'flock-home-')); // mode 0700
  folders.push(home);
  const { uid, gid } = statSync(home);
  t.true(reachable(join(home, 'clone/node_modules'), null));
  t.true(reachable(join(home, 'clone/node_modules'), { uid, gid }));
  t.false(reachable(join(home, 'clone/node_modules'), { uid: uid + 1, gid: gid + 1 }));
  t.true(reachable(tmpdir(), { uid: uid + 1, gid: gid + 1 }));
});
