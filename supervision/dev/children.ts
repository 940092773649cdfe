/** Child processes of developer mode and the demo: they end with their parent, whatever ends it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { createWriteStream, type WriteStream } from 'node:fs';

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

/** Message that a child sends over its IPC channel when it serves. */
export interface ReadyMessage { type: 'ready'; port: number }

const STOP_DEADLINE_MS = 12_000;

/**
 * Starts a TypeScript entry with an IPC channel. The child watches the channel: when it closes, because this process
 * ended in whatever way, the child drains and exits, so that a killed parent leaves no orphan.
 */
export function startChild(name: string, entry: string, env: Record<string, string>, logFile: string | null): Child {
  const log: WriteStream | null = logFile === null ? null : createWriteStream(logFile, { flags: 'a' });
  const child: ChildProcess = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', entry], {
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env },
    stdio: ['ignore', log === null ? 'inherit' : 'pipe', log === null ? 'inherit' : 'pipe', 'ipc'],
  });
  let lastLines = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      log?.write(chunk);
      lastLines = (lastLines + chunk.toString()).slice(-2_000);
    });
  }
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => {
      log?.end();
      resolve(code);
    });
  });
  const ready = new Promise<{ port: number }>((resolve, reject) => {
    child.on('message', (message: ReadyMessage) => {
      if (message.type === 'ready') resolve({ port: message.port });
    });
    child.once('error', reject);
    void exited.then((code) => reject(new Error(`${name} exited with ${code} before it was ready:\n${lastLines}`)));
  });
  ready.catch(() => undefined); // awaited by whoever starts it; a stop before readiness is no unhandled rejection
  return {
    name, pid: child.pid ?? -1, ready, exited,
    async stop(deadlineMs = STOP_DEADLINE_MS) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), deadlineMs);
      await exited;
      clearTimeout(timer);
    },
    kill(signal) { child.kill(signal); },
  };
}
