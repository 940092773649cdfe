/** `npm start` as a person runs it: real processes, told apart by their data directory. */
import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { ROOT } from './tree.ts';

/** Issue 2.1: a killed parent leaves no orphan for longer than this. */
const GONE_MS = 10_000;
const POLL_MS = 50;

export interface Started {
  /** Of npm, or of node where npm was left out. */
  readonly pid: number;
  readonly output: () => string;
  /** Resolves when it says that it is ready. Rejects with its output when it ends first. */
  readonly ready: Promise<void>;
  readonly exited: Promise<number | null>;
}

export interface StartAsk {
  dataDir: string;
  ports: readonly [number, number];
  args?: readonly string[];
  via?: 'npm' | 'node';
}

/** Starts developer mode; whatever the test leaves behind is killed with it. */
export function start(t: ExecutionContext, { dataDir, ports, args = [], via = 'npm' }: StartAsk): Started {
  const [command, begin] = via === 'npm' ? ['npm', ['start', '--']] : [process.execPath, ['developer/start.ts']];
  const { PATH = '', HOME = '' } = process.env;
  const child: ChildProcess = spawn(command, [...begin, '--data-dir', dataDir, ...args], {
    cwd: ROOT,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH, HOME, CLOUD_PORT: String(ports[0]), EDGE_PORT: String(ports[1]) },
  });
  let text = '';
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const ready = new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        if (text.includes('Ready in')) resolve();
      });
    }
    void exited.then((code) => reject(new Error(`ended with ${code}: ${text}`)));
  });
  ready.catch(() => undefined);
  t.teardown(() => {
    for (const pid of processesOf(dataDir)) killIfThere(pid);
  });
  return { pid: child.pid!, output: () => text, ready, exited };
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended meanwhile.
  }
}

/** Processes that have to do with a data directory: by their arguments, their output or their working directory. */
export function processesOf(dataDir: string): number[] {
  const mentions = (pid: string): boolean => {
    try {
      return (
        readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(dataDir) ||
        readlinkSync(`/proc/${pid}/cwd`).startsWith(dataDir) ||
        readlinkSync(`/proc/${pid}/fd/1`).startsWith(dataDir)
      );
    } catch {
      return false; // gone meanwhile, or somebody else's
    }
  };
  return readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name) && Number(name) !== process.pid && mentions(name))
    .map(Number);
}

/** Resolves when nothing of a data directory runs any more. Throws: Error when something does after ten seconds. */
export async function allGone(dataDir: string): Promise<void> {
  const deadline = performance.now() + GONE_MS;
  for (let left = processesOf(dataDir); left.length > 0; left = processesOf(dataDir)) {
    if (performance.now() > deadline) throw new Error(`still running after ${GONE_MS} ms: ${left.join(', ')}`);
    await delay(POLL_MS);
  }
}

/** Pid of the process that npm started. */
export function nodeBelow(npm: number, dataDir: string): number {
  const found = processesOf(dataDir).find(
    (pid) => pid !== npm && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('developer/start.ts'),
  );
  if (found === undefined) throw new Error('no node runs developer mode');
  return found;
}

/** Two ports that nobody has at this moment. */
export async function freePorts(): Promise<[number, number]> {
  const servers = [createServer(), createServer()];
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve) => {
          server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
        }),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return [ports[0]!, ports[1]!];
}

/** A directory that is deleted with the test file, and `-b` beside it. */
export function temporaryDirectory(t: { after: { always(work: () => void): void } }): string {
  const directory = mkdtempSync(join(tmpdir(), 'flock-startup-'));
  chmodSync(directory, 0o755); // PostgreSQL of a root process runs as another user
  t.after.always(() => {
    for (const made of [directory, `${directory}-b`]) rmSync(made, { recursive: true, force: true });
  });
  return directory;
}
