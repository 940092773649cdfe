/**
 * A real PostgreSQL for developer mode, the demo and the tests: started, watched and stopped by us.
 *
 *   absent ──initdb──▶ initialised ──postgres──▶ starting ──"ready to accept connections"──▶ serving
 *   serving ──stop() or the parent's end──▶ fast shutdown ──▶ initialised
 *
 * The server runs under a shell that reads a pipe from this process. When this process ends, in whatever way, the pipe
 * closes and the shell shuts the server down: a killed parent leaves no orphan. It has its own session, so that
 * Ctrl-C at a terminal reaches our drain first and not the server.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
  binaryDirectory,
  majorVersion,
  reachable,
  stageDirectory,
  unprivilegedUser,
  type RunAs,
} from './postgres-binaries.ts';

export interface EmbeddedPostgres {
  /** Superuser's URL on 127.0.0.1; the password is this cluster's own. */
  readonly url: string;
  readonly port: number;
  /** Process id of the postmaster. */
  readonly pid: number;
  /** Fast shutdown; resolves when the server is gone. */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  readonly dataDir: string;
  /** Preferred port; the next free one is taken instead when it is in use. Default: the port of the last run. */
  readonly port?: number;
  readonly log?: (line: string) => void;
  /** False where a crash of the machine may lose everything (tests): no fsync. A killed server still loses nothing. */
  readonly durable?: boolean;
  /** Further settings of this run of the server. */
  readonly settings?: Readonly<Record<string, string>>;
}

interface Cluster {
  directory: string;
  port: number;
  password: string;
  /** The process that started the server last, with its start time: a pid alone may be another process by now. */
  holder?: { pid: number; startedAt: string | null };
}

const START_MS = 30_000;
const STOP_MS = 10_000;
const LEFTOVER_MS = 10_000;
const PORT_TRIES = 20;
const ABANDONED_MS = 3_600_000;
const CONNECTIONS_MAX = 200;
const BUILTIN_LOCALES_FROM = 17;
const IO_METHODS_FROM = 18;
/** Of /proc/PID/stat, counted after the name. Source: proc_pid_stat(5), field 22. */
const START_TIME_FIELD = 19;

const USER = 'postgres';
const run = promisify(execFile);

/** Runs the server ("$@") until it ends or standard input closes, then stops it fast. */
const WATCHDOG = `
exec 3<&0 </dev/null
"$@" 3<&- & server=$!
{ cat <&3 >/dev/null 2>&1; kill -INT "$server"; } 2>/dev/null & watch=$!
exec 3<&-
echo "server pid $server" >&2
wait "$server"; code=$?
kill "$watch" 2>/dev/null
exit "$code"`;

/**
 * Starts the server of a data directory and initialises it when it is new.
 * Throws: Error that says what to do when another process serves the directory, no port is free, or it does not start.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const log = options.log ?? (() => undefined);
  const user = unprivilegedUser();
  const binaries = binaryDirectory(user);
  const dataDir = resolve(options.dataDir);
  const cluster = await openCluster(dataDir, binaries, user);
  await endLeftovers(cluster, log);
  for (let tries = 0, port = options.port ?? cluster.port; tries < PORT_TRIES; tries += 1, port = 0) {
    const free = await freePort(port);
    const server = await launch({
      binaries,
      cluster,
      port: free,
      user,
      log,
      durable: options.durable ?? true,
      more: options.settings ?? {},
    });
    if (server === 'port_taken') continue; // someone took it between the look and the bind
    saveCluster(dataDir, { ...cluster, port: free, holder: { pid: process.pid, startedAt: startTimeOf(process.pid) } });
    return server;
  }
  throw new Error(`embedded PostgreSQL found no free port on 127.0.0.1 in ${PORT_TRIES} tries`);
}

/** Deletes the cluster of a data directory, wherever it was staged. The server must be stopped. */
export function removeEmbeddedPostgres(dataDir: string): void {
  const path = join(resolve(dataDir), 'cluster.json');
  if (existsSync(path)) {
    const { directory } = JSON.parse(readFileSync(path, 'utf8')) as Cluster;
    if (existsSync(join(directory, 'PG_VERSION'))) rmSync(directory, { recursive: true, force: true });
    rmSync(`${directory}.owner`, { force: true });
  }
  rmSync(resolve(dataDir), { recursive: true, force: true });
}

/** Waits for a server that is about to end, then deletes the cluster. Throws: Error when the server is in use. */
export async function clearEmbeddedPostgres(dataDir: string): Promise<void> {
  const file = join(resolve(dataDir), 'cluster.json');
  if (existsSync(file)) {
    const cluster = JSON.parse(readFileSync(file, 'utf8')) as Cluster;
    if (existsSync(cluster.directory)) await endLeftovers(cluster, () => undefined);
  }
  removeEmbeddedPostgres(dataDir);
}

function saveCluster(dataDir: string, cluster: Cluster): void {
  writeFileSync(join(dataDir, 'cluster.json'), `${JSON.stringify(cluster)}\n`, { mode: 0o600 });
}

async function openCluster(dataDir: string, binaries: string, user: RunAs): Promise<Cluster> {
  mkdirSync(dataDir, { recursive: true });
  const file = join(dataDir, 'cluster.json');
  if (existsSync(file)) {
    const known = JSON.parse(readFileSync(file, 'utf8')) as Cluster;
    if (existsSync(join(known.directory, 'PG_VERSION'))) return known;
  }
  const directory = reachable(dataDir, user) ? join(dataDir, 'cluster') : stagedDirectory(dataDir, user);
  const cluster: Cluster = { directory, port: 0, password: randomBytes(24).toString('base64url') };
  rmSync(directory, { recursive: true, force: true }); // an initdb that was killed half-way
  mkdirSync(directory, { mode: 0o700 });
  const passwordFile = `${directory}.password`;
  writeFileSync(passwordFile, cluster.password, { mode: 0o600 });
  if (user !== null) for (const path of [directory, passwordFile]) chownSync(path, user.uid, user.gid);
  chmodSync(directory, 0o700);
  try {
    await run(
      join(binaries, 'initdb'),
      [
        '--pgdata',
        directory,
        '--username',
        USER,
        '--pwfile',
        passwordFile,
        '--auth',
        'scram-sha-256',
        '--encoding',
        'UTF8',
        ...localeOf(majorVersion(binaries)),
        '--data-checksums',
        '--no-sync',
      ],
      { cwd: '/', env: environment(), ...user },
    );
  } catch (error) {
    rmSync(directory, { recursive: true, force: true });
    throw new Error(initdbFailure((error as { stderr?: string }).stderr?.trim() ?? String(error), directory));
  } finally {
    rmSync(passwordFile, { force: true });
  }
  saveCluster(dataDir, cluster);
  return cluster;
}

/** What a person does about it; a new cluster takes some 40 MB. */
export function initdbFailure(said: string, directory: string): string {
  if (/No space left on device|Disk quota exceeded/i.test(said))
    return `the disk is full: PostgreSQL needs 100 MB below ${directory}. Make room, or name another data directory (--data-dir)`;
  if (/Permission denied/i.test(said))
    return `PostgreSQL may not write to ${directory}: name a data directory that its user can reach (--data-dir)`;
  return `initdb failed: ${said}`;
}

/** Bytes order text on every version; 17 and later classify characters without the machine's C library too. */
function localeOf(major: number): string[] {
  return major >= BUILTIN_LOCALES_FROM
    ? ['--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8', '--locale', 'C']
    : ['--locale', 'C.UTF-8'];
}

/** A place outside of the data directory, which a file beside it names as its owner. */
function stagedDirectory(dataDir: string, user: RunAs): string {
  const stage = stageDirectory(user);
  removeAbandoned(stage);
  const directory = join(stage, `cluster-${randomBytes(8).toString('hex')}`);
  writeFileSync(`${directory}.owner`, dataDir, { mode: 0o600 });
  return directory;
}

/** Deletes staged clusters whose data directory was deleted without us, or has another cluster by now. */
export function removeAbandoned(stage: string): void {
  for (const name of readdirSync(stage).filter((entry) => /^cluster-[0-9a-f]{16}\.owner$/.test(entry))) {
    const directory = join(stage, name.slice(0, -'.owner'.length));
    try {
      if (!isAbandoned(stage, name, directory)) continue;
    } catch (error) {
      // Its owner, or another start, deleted it since it was listed.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      continue;
    }
    for (const path of [directory, `${directory}.password`, join(stage, name)])
      rmSync(path, { recursive: true, force: true });
  }
}

function isAbandoned(stage: string, name: string, directory: string): boolean {
  const file = join(readFileSync(join(stage, name), 'utf8'), 'cluster.json');
  if (existsSync(file) && (JSON.parse(readFileSync(file, 'utf8')) as Cluster).directory === directory) return false;
  // Without a cluster.json it may be in the making: that takes seconds, not an hour.
  const isYoung = Date.now() - statSync(join(stage, name)).mtimeMs < ABANDONED_MS;
  return !isYoung && !(existsSync(directory) && processesIn(directory).length > 0);
}

function environment(): Record<string, string> {
  return { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
}

/** Pids of the processes that work in a data directory: every PostgreSQL process does, and hardly anything else. */
export function processesIn(directory: string): number[] {
  const real = realpathSync(directory);
  return readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`) === real;
      } catch {
        return false; // gone meanwhile, or not ours to look at
      }
    });
}

/** When a process started, in ticks since boot; null when there is no such process, or only its unread exit code. */
function startTimeOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : (fields[START_TIME_FIELD] ?? null);
  } catch {
    return null;
  }
}

/** Why a data directory cannot be had, and what to do; the server is the oldest of its processes. */
export function inUse(directory: string, pids: readonly number[], held: boolean): string {
  return `${directory} is in use by PostgreSQL (pid ${pids.join(', ')}): ${
    held
      ? 'another Flock runs on the same data; stop it first or choose another data directory'
      : `a server whose Flock was killed does not end by itself; end it:  kill -INT ${Math.min(...pids)}`
  }`;
}

/**
 * After a killed parent the old server is about to stop: waits for it. A pid file whose pid is no PostgreSQL of this
 * directory is removed, because PostgreSQL itself only looks whether some process has that number.
 * Throws: Error when the process that started the server is alive, or the server does not end.
 */
async function endLeftovers({ directory, holder }: Cluster, log: (line: string) => void): Promise<void> {
  const held = holder !== undefined && holder.startedAt !== null && startTimeOf(holder.pid) === holder.startedAt;
  const pidFile = join(directory, 'postmaster.pid');
  const deadline = performance.now() + LEFTOVER_MS;
  for (let pids = processesIn(directory), said = false; pids.length > 0; pids = processesIn(directory)) {
    if (held || performance.now() > deadline) {
      throw new Error(inUse(directory, pids, held));
    }
    if (!said) log(`waiting for the last server of ${directory} to end (pid ${pids.join(', ')})`);
    said = true;
    await delay(100);
  }
  if (existsSync(pidFile)) {
    log('removing a stale postmaster.pid');
    rmSync(pidFile);
  }
}

/** The wanted port when it is free, else the next free one above it, else any. */
async function freePort(wanted: number): Promise<number> {
  for (let port = wanted; wanted > 0 && port < wanted + PORT_TRIES && port < 65_536; port += 1) {
    if ((await listenOnce(port)) !== null) return port;
  }
  const any = await listenOnce(0);
  if (any === null) throw new Error('no free port on 127.0.0.1');
  return any;
}

function listenOnce(port: number): Promise<number | null> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', () => done(null));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const bound = (server.address() as { port: number }).port;
      server.close(() => done(bound));
    });
  });
}

interface Launch {
  binaries: string;
  cluster: Cluster;
  port: number;
  user: RunAs;
  log: (line: string) => void;
  durable: boolean;
  more: Readonly<Record<string, string>>;
}

async function launch({
  binaries,
  cluster,
  port,
  user,
  log,
  durable,
  more,
}: Launch): Promise<EmbeddedPostgres | 'port_taken'> {
  const settings: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    max_connections: String(CONNECTIONS_MAX),
    timezone: 'UTC',
    log_timezone: 'UTC',
    jit: 'off',
    ...(majorVersion(binaries) >= IO_METHODS_FROM ? { io_method: 'sync' } : {}),
    ...(durable ? {} : { fsync: 'off', full_page_writes: 'off' }),
    ...more,
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(
    '/bin/sh',
    ['-c', WATCHDOG, 'postgres-watchdog', join(binaries, 'postgres'), '-D', cluster.directory, ...args],
    {
      cwd: '/',
      env: environment(),
      detached: true,
      stdio: ['pipe', 'ignore', 'pipe'],
      ...user,
    },
  );
  // A forgotten stop() must not keep this process alive; its end stops the server.
  child.unref();
  for (const stream of [child.stdin, child.stderr]) (stream as unknown as { unref(): void }).unref();
  child.stdin!.on('error', () => undefined); // the server ended first
  const exited = new Promise<void>((done) => child.once('exit', () => done()));
  const started = await untilReady(child, exited, log);
  if (started.outcome === 'port_taken') return 'port_taken';
  if (started.outcome !== 'ready')
    throw new Error(`embedded PostgreSQL did not start (${started.outcome}):\n${started.lines}`);
  const auth = `${USER}:${encodeURIComponent(cluster.password)}`;
  return {
    url: `postgres://${auth}@127.0.0.1:${port}/postgres`,
    port,
    pid: started.pid,
    stop: () => stop(child, exited, started.pid),
  };
}

async function untilReady(child: ChildProcess, exited: Promise<void>, log: (line: string) => void) {
  let lines = '';
  let pid = 0;
  const keepAlive = setTimeout(() => undefined, START_MS); // the child's own handles are not counted
  const outcome = await new Promise<'ready' | 'exited' | 'timeout'>((done) => {
    createInterface({ input: child.stderr! }).on('line', (line) => {
      lines = `${lines}${line}\n`.slice(-4_000);
      log(line);
      if (line.startsWith('server pid ')) pid = Number(line.slice('server pid '.length));
      if (line.includes('database system is ready to accept connections')) done('ready');
    });
    child.once('error', (error) => {
      lines += error.message;
      done('exited');
    });
    void exited.then(() => done('exited'));
    void delay(START_MS, undefined, { ref: false }).then(() => done('timeout'));
  });
  clearTimeout(keepAlive);
  if (outcome === 'timeout') child.stdin!.end();
  return {
    outcome:
      outcome === 'exited' && /could not bind|could not create any TCP/.test(lines) ? ('port_taken' as const) : outcome,
    lines,
    pid,
  };
}

/** Closing the pipe asks for a fast shutdown; a server that does not obey in time is killed. */
async function stop(child: ChildProcess, exited: Promise<void>, pid: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.stdin!.end();
  const timer = setTimeout(() => {
    try {
      process.kill(pid, 'SIGQUIT');
    } catch {
      // It ended meanwhile.
    }
  }, STOP_MS);
  await exited;
  clearTimeout(timer);
}
