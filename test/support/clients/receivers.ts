/** The five receivers of `clients/receivers`, each with its client as it is installed and a database of its own. */
import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import postgres, { type Sql } from 'postgres';
import { createTestDatabase } from '../postgres.ts';
import { ROOT } from '../tree.ts';
import { placeForGo } from './installed-go.ts';
import { installPython } from './installed-python.ts';
import { installTypescript } from './installed.ts';

export const RECEIVERS = ['express', 'fastify', 'next', 'fastapi', 'go'] as const;
export type ReceiverName = (typeof RECEIVERS)[number];

export interface RunningReceiver {
  /** Where it takes deliveries. */
  readonly url: string;
  readonly table: Sql;
}

export interface Receivers {
  start(name: ReceiverName, secrets: readonly string[]): Promise<RunningReceiver>;
  stop(): Promise<void>;
}

interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

const FROM = join(ROOT, 'clients/receivers');
const SUPPORT = fileURLToPath(new URL('./', import.meta.url));
/** Debian's package, and a file that it brings. */
const PACKAGES = {
  'python3-fastapi': '/usr/lib/python3/dist-packages/fastapi/__init__.py',
  'python3-uvicorn': '/usr/lib/python3/dist-packages/uvicorn/__init__.py',
  'python3-psycopg2': '/usr/lib/python3/dist-packages/psycopg2/__init__.py',
  'golang-github-lib-pq-dev': '/usr/share/gocode/src/github.com/lib/pq/go.mod',
};
const DRIVER = 'github.com/lib/pq';

/** Debian's packages; installed by apt where the machine lacks them and allows it. Throws: some are missing. */
function requirePackages(): void {
  const missing = (): string[] => Object.entries(PACKAGES).flatMap(([name, file]) => (existsSync(file) ? [] : [name]));
  const wanted = missing();
  if (wanted.length === 0) return;
  const say = (names: readonly string[]): Error =>
    new Error(`${names.join(' and ')} missing: apt-get install ${names.join(' ')}`);
  if (process.getuid?.() !== 0) throw say(wanted);
  execFileSync('apt-get', ['update', '-q'], { stdio: 'ignore' });
  execFileSync('apt-get', ['install', '-y', '-q', '--no-install-recommends', ...wanted], {
    stdio: 'ignore',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (missing().length > 0) throw say(missing());
}

/** Installs the clients and builds what is to be built. */
export function installReceivers(): Receivers {
  requirePackages();
  const [typescript, python, go] = [installTypescript(), installPython(), placeForGo()];
  for (const name of ['express', 'fastify', 'postgres'])
    symlinkSync(join(ROOT, 'node_modules', name), join(typescript.folder, 'node_modules', name));
  for (const name of ['express.mjs', 'fastify.mjs', 'next.mjs', 'store.mjs'])
    copyFileSync(join(FROM, name), join(typescript.folder, name));
  copyFileSync(join(SUPPORT, 'next-server.mjs'), join(typescript.folder, 'next-server.mjs'));
  copyFileSync(join(FROM, 'fastapi_receiver.py'), join(python.folder, 'fastapi_receiver.py'));
  const node = (file: string): Program => ({ command: process.execPath, args: [file], cwd: typescript.folder });
  const programs: Readonly<Record<ReceiverName, () => Program>> = {
    express: () => node('express.mjs'),
    fastify: () => node('fastify.mjs'),
    next: () => node('next-server.mjs'),
    fastapi: () => ({
      command: '/usr/bin/python3', // Debian's own, for which its packages are
      args: ['-m', 'uvicorn', 'fastapi_receiver:app', '--port', '0', '--no-access-log'],
      cwd: python.folder,
      env: { ...python.driver.env },
    }),
    go: () => ({ command: goReceiver(go), args: [], cwd: go.folder }),
  };
  const stops: (() => Promise<unknown>)[] = [];
  return {
    async start(name, secrets) {
      const database = await createTestDatabase({ migrated: false });
      stops.push(() => database.close());
      // The server's own settings: a receiver knows nothing of the schemas of Flock.
      const table = postgres(database.url, { max: 4 });
      stops.push(() => table.end());
      await table.unsafe(readFileSync(join(FROM, 'table.sql'), 'utf8'));
      const { port, stop } = await started(name, programs[name](), {
        DATABASE_URL: `${database.url}${name === 'go' ? '?sslmode=disable' : ''}`,
        FLOCK_SECRETS: secrets.join(' '),
        PORT: '0',
      });
      stops.push(stop);
      return { url: `http://127.0.0.1:${port}/hooks`, table };
    },
    async stop() {
      for (const stop of stops.splice(0).toReversed()) await stop();
      for (const place of [typescript, python, go]) place.remove();
    },
  };
}

function goReceiver({ folder, go }: ReturnType<typeof placeForGo>): string {
  const place = join(folder, 'receiver');
  mkdirSync(place);
  copyFileSync(join(FROM, 'go/main.go'), join(place, 'main.go'));
  go([
    'mod',
    'edit',
    `-require=${DRIVER}@v0.0.0`,
    `-replace=${DRIVER}=${join(PACKAGES['golang-github-lib-pq-dev'], '..')}`,
  ]);
  go(['vet', './receiver']);
  const built = join(folder, 'receiver-program');
  go(['build', '-o', built, './receiver']);
  return built;
}

/** Resolves once it says on which port it listens. Throws: it ends before. */
async function started(name: string, program: Program, env: Readonly<Record<string, string>>) {
  const child = spawn(program.command, program.args, {
    cwd: program.cwd,
    env: { PATH: process.env['PATH'], ...program.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  process.once('exit', () => child.kill('SIGKILL')); // a run that broke off leaves nobody behind
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let said = '';
  const port = await new Promise<number>((resolve, reject) => {
    const hear = (text: Buffer): void => {
      said += text.toString('utf8');
      const found = /(?:listening |running on http:\/\/127\.0\.0\.1:)(\d+)/.exec(said);
      if (found !== null) resolve(Number(found[1]));
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.once('error', reject);
    child.once('close', () => reject(new Error(`the receiver ${name} ended: ${said}`)));
  });
  return { port, stop: () => (child.kill('SIGTERM'), ended) };
}
