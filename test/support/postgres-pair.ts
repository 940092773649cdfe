/**
 * PostgreSQL servers of a test that follow each other: a primary, a standby that streams from it, a server that is
 * restored from a backup and the archived log. Made with `initdb` and `postgres` alone, which every build has.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { binaryDirectory, unprivilegedUser } from '../../developer/postgres-binaries.ts';
import { openDatabase, type Sql } from '../../persistence/postgres/sql.ts';
import { patiently } from './patience.ts';
import { freePort } from '../../developer/ports.ts';

const run = promisify(execFile);
const ENV = { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
/** A directory that was copied while the server wrote has pieces of two moments; the log makes it whole. */
const NOT_COPIED = new Set(['postmaster.pid', 'postmaster.opts', 'pg_replslot', 'pg_stat_tmp']);

export class PostgresServer {
  readonly url: string;
  readonly directory: string;
  readonly port: number;
  readonly #servers: PostgresServers;
  #child: ChildProcess | null = null;

  constructor(servers: PostgresServers, directory: string, port: number) {
    this.#servers = servers;
    this.directory = directory;
    this.port = port;
    this.url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  }

  /** Starts it; resolves when it answers. */
  async start(settings: Readonly<Record<string, string>> = {}): Promise<void> {
    const all = {
      listen_addresses: '127.0.0.1',
      port: String(this.port),
      unix_socket_directories: '',
      fsync: 'off',
      max_connections: '100',
      wal_level: 'replica',
      ...settings,
    };
    const child = spawn(
      join(this.#servers.binaries, 'postgres'),
      ['-D', this.directory, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      { cwd: '/', env: ENV, stdio: 'ignore', ...this.#servers.user },
    );
    this.#child = child;
    const ended = new Promise<never>((_, reject) =>
      child.once('exit', (code) => reject(new Error(`PostgreSQL in ${this.directory} ended with ${code}`))),
    );
    ended.catch(() => undefined); // later on it is killed
    await Promise.race([ended, patiently('PostgreSQL', () => this.ask((sql) => sql`select 1`))]);
  }

  /** SIGQUIT: every process of it ends at once, as with a machine that is gone. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGQUIT');
    await gone;
  }

  async ask<T>(ask: (sql: Sql) => Promise<T>): Promise<T> {
    const sql = openDatabase({ url: this.url, connections: 1, name: 'flock-pair', role: null });
    try {
      return await ask(sql);
    } finally {
      await sql.end({ timeout: 5 });
    }
  }

  /** A standby that takes writes from now on. */
  async promote(): Promise<void> {
    await this.ask((sql) => sql`select pg_promote()`);
    await patiently(
      'the promotion',
      () => this.ask((sql) => sql<{ standby: boolean }[]>`select pg_is_in_recovery() as standby`),
      ([row]) => row?.standby === false,
    );
  }
}

export class PostgresServers {
  readonly user = unprivilegedUser();
  readonly binaries = binaryDirectory(this.user);
  readonly #folder = mkdtempSync(join(tmpdir(), 'flock-pair-'));
  readonly #made: PostgresServer[] = [];

  constructor() {
    chmodSync(this.#folder, 0o755);
  }

  /** A folder of the server's user. */
  folder(name: string): string {
    const path = join(this.#folder, name);
    mkdirSync(path, { mode: 0o700 });
    this.#give(path);
    return path;
  }

  async primary(settings: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
    const directory = this.folder(`server-${this.#made.length}`);
    await run(
      join(this.binaries, 'initdb'),
      ['-D', directory, '-U', 'postgres', '--auth=trust', '-E', 'UTF8', '--locale=C', '--no-sync', '--data-checksums'],
      { cwd: '/', env: ENV, ...this.user },
    );
    const server = await this.#server(directory);
    await server.start(settings);
    return server;
  }

  /** A copy of a running server, taken as a base backup is; not started. */
  async copyOf(server: PostgresServer): Promise<PostgresServer> {
    const directory = this.folder(`server-${this.#made.length}`);
    const label = await server.ask(async (sql) => {
      await sql`select pg_backup_start('copy', true)`;
      for (const name of readdirSync(server.directory)) {
        if (NOT_COPIED.has(name)) continue;
        cpSync(join(server.directory, name), join(directory, name), { recursive: true, force: true });
      }
      const [row] = await sql<{ labelfile: string }[]>`select labelfile from pg_backup_stop(false)`;
      return row!.labelfile;
    });
    for (const name of ['pg_replslot', 'pg_stat_tmp']) mkdirSync(join(directory, name), { mode: 0o700 });
    writeFileSync(join(directory, 'backup_label'), label);
    return this.#server(directory);
  }

  /** The signal file of a server that begins as a standby, or that is being restored. */
  begins(server: PostgresServer, as: 'standby' | 'recovery'): void {
    writeFileSync(join(server.directory, `${as}.signal`), '');
    this.#giveAll(server.directory);
  }

  async close(): Promise<void> {
    await Promise.all(this.#made.map((server) => server.kill()));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #server(directory: string): Promise<PostgresServer> {
    const server = new PostgresServer(this, directory, await freePort());
    this.#made.push(server);
    return server;
  }

  #give(path: string): void {
    if (this.user !== null) chownSync(path, this.user.uid, this.user.gid);
  }

  #giveAll(path: string): void {
    this.#give(path);
    for (const entry of readdirSync(path, { withFileTypes: true }))
      if (entry.isDirectory()) this.#giveAll(join(path, entry.name));
      else this.#give(join(path, entry.name));
  }
}
