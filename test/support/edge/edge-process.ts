/** The edge as a process of its own, for what only a kill can show. */
import { spawn, type ChildProcess } from 'node:child_process';
import type { ExecutionContext } from 'ava';
import { COMPILE_CACHE } from '../../../developer/children.ts';
import { partEntries } from '../built-parts.ts';
import { API_KEYS, ask, PHRASE, type EdgeReply } from './edges.ts';

export interface EdgeProcess {
  readonly pid: number;
  readonly url: string;
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Standard output and error so far. */
  readonly output: () => string;
  kill(signal: NodeJS.Signals): void;
  closeChannel(): void;
  ask(method: string, path: string, body?: unknown): Promise<EdgeReply>;
}

export interface ProcessOptions {
  readonly cloudUrl: string;
  readonly dataDir: string;
  readonly localKey?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Wait until it says that it is ready; false where it is expected to end first. */
  readonly waits?: boolean;
  /** Options of Node.js; none, as of a start that forgot the flag, when absent. */
  readonly options?: readonly string[];
}

/** Starts edge/main.ts; it is killed when the test ends. */
export async function startEdgeProcess(
  t: ExecutionContext,
  { cloudUrl, dataDir, localKey = '', env = {}, waits = true, options = [] }: ProcessOptions,
): Promise<EdgeProcess> {
  const given = Object.entries({
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    API_KEY: API_KEYS.live,
    CLOUD_URL: cloudUrl,
    MNEMONIC: PHRASE,
    EDGE_DATA_DIR: dataDir,
    EDGE_PORT: '0',
    EDGE_CHAINS: 'eth',
    EDGE_WEBHOOK_ALLOWLIST: '127.0.0.0/8,127.0.0.1',
    ...env,
  }).filter(([, value]) => value !== undefined);
  const child: ChildProcess = spawn(process.execPath, [...options, (await partEntries()).edge], {
    env: Object.fromEntries(given) as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  );
  t.teardown(() => child.kill('SIGKILL'));
  const port = await new Promise<number>((resolve, reject) => {
    child.on('message', (message: { port: number }) => resolve(message.port));
    void exited.then(({ code }) =>
      waits ? reject(new Error(`the edge exited with ${code}:\n${output}`)) : resolve(0),
    );
  });
  const url = `http://127.0.0.1:${port}`;
  return {
    pid: child.pid!,
    url,
    exited,
    output: () => output,
    kill: (signal) => void child.kill(signal),
    closeChannel: () => child.disconnect(),
    ask: (method, path, body) => ask(url, { method, path, body, headers: { 'x-api-key': localKey } }),
  };
}
