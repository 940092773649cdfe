/** Child processes of developer mode and the demo: they end with their parent, whatever ends it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface Child {
  readonly name: string;
  readonly pid: number;
  /** Resolves with the port once the child said it is ready. Rejects when it exits first. */
  readonly ready: Promise<{ port: number }>;
  readonly exited: Promise<number | null>;
  /** SIGTERM, then SIGKILL after the deadline. Milliseconds. */
  stop(deadlineMs?: number): Promise<void>;
  kill(signal: NodeJS.Signals): void;
}

/** Compiled modules, kept by Node between starts (by content): half of the time that a part needs to load. */
export const COMPILE_CACHE = fileURLToPath(new URL('../node_modules/.cache/flock', import.meta.url));

/** Message that a child sends over its IPC channel when it serves. */
export interface ReadyMessage {
  type: 'ready';
  port: number;
}

const STOP_DEADLINE_MS = 12_000;
/** A start takes seconds; on a machine that is overloaded, more. */
const READY_LIMIT_MS = 90_000;
/** Shown of what a child wrote when it ends before it is ready. */
const LAST_WORDS_BYTES = 2_000;

/**
 * Starts a TypeScript entry with an IPC channel. The child watches the channel: when it closes, because this process
 * ended in whatever way, the child drains and exits, so that a killed parent leaves no orphan. It writes straight to
 * its log file, so that its last lines need no reader, and has a process group of its own, so that Ctrl-C at a terminal
 * reaches our ordered stop first and not the child.
 */
export function startChild(name: string, entry: string, env: Record<string, string>, logFile: string): Child {
  const log = openSync(logFile, 'a+', 0o600);
  const before = fstatSync(log).size;
  const child: ChildProcess = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--disable-sigusr1', entry],
    {
      env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', NODE_COMPILE_CACHE: COMPILE_CACHE, ...env },
      stdio: ['ignore', log, log, 'ipc'],
      detached: true,
    },
  );
  let words = '';
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => {
      words = lastWords(log, before);
      closeSync(log);
      resolve(code);
    });
  });
  const ready = new Promise<{ port: number }>((resolve, reject) => {
    child.on('message', (message: ReadyMessage) => {
      if (message.type === 'ready') resolve({ port: message.port });
    });
    child.once('error', reject);
    const limit = setTimeout(
      () => reject(new Error(`${name} was not ready within ${READY_LIMIT_MS / 1_000} s; see ${logFile}`)),
      READY_LIMIT_MS,
    );
    limit.unref();
    void exited.then((code) =>
      reject(new Error(words === '' ? `${name} ended with ${code} before it was ready` : words)),
    );
  });
  ready.catch(() => undefined); // awaited by its starter; a stop before readiness is no unhandled rejection
  return {
    name,
    pid: child.pid ?? -1,
    ready,
    exited,
    async stop(deadlineMs = STOP_DEADLINE_MS) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), deadlineMs);
      await exited;
      clearTimeout(timer);
    },
    kill(signal) {
      child.kill(signal);
    },
  };
}

/** The end of what was written to a log since it was so long. */
function lastWords(log: number, since: number): string {
  const from = Math.max(since, fstatSync(log).size - LAST_WORDS_BYTES);
  const bytes = Buffer.alloc(LAST_WORDS_BYTES);
  return bytes
    .subarray(0, readSync(log, bytes, 0, LAST_WORDS_BYTES, from))
    .toString('utf8')
    .trim();
}
