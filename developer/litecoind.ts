/**
 * A real Core-family node (Debian's litecoind, in regtest) as a child process, for tests of the Bitcoin family: no
 * registry ships bitcoind. It is run under Bitcoin's relay rules (replacement on, dust at 3 satoshi per vbyte) and
 * stays below height 431, where that network's own extension begins.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { guarded } from './watchdog.ts';
import { freePort } from './ports.ts';

export interface LitecoindOptions {
  /** Further arguments of the command. */
  readonly args?: readonly string[];
}

export interface Litecoind {
  /** With user and password of the node's cookie. */
  readonly url: string;
  readonly port: number;
  /** One JSON-RPC call, numbers as JavaScript reads them. Throws: NodeRefusal with code and text of the node. */
  rpc<T = unknown>(method: string, params?: readonly unknown[]): Promise<T>;
  stop(): Promise<void>;
}

/** A JSON-RPC error of the node. */
export class NodeRefusal extends Error {
  readonly code: number;
  constructor(method: string, { code, message }: { code: number; message: string }) {
    super(`${method}: ${message}`);
    this.name = 'NodeRefusal';
    this.code = code;
  }
}

const START_MS = 30_000;
const POLL_MS = 25;
/** RPC_IN_WARMUP. */
const WARMING_UP = -28;

const RELAY_RULES = [
  '-mempoolreplacement=1',
  '-dustrelayfee=0.00003',
  '-minrelaytxfee=0.00001',
  '-incrementalrelayfee=0.00001',
  '-acceptnonstdtxn=0',
];

/**
 * Starts a node in an empty directory on a free loopback port. Throws: Error when it is not installed or does not
 * answer in time.
 */
export async function startLitecoind({ args = [] }: LitecoindOptions = {}): Promise<Litecoind> {
  const directory = await mkdtemp(join(tmpdir(), 'flock-litecoind-')),
    port = await freePort();
  const child = spawn(
    ...guarded('KILL', 'litecoind', [
      '-regtest',
      `-datadir=${directory}`,
      `-rpcport=${port}`,
      '-rpcbind=127.0.0.1',
      '-rpcallowip=127.0.0.1',
      '-server',
      '-listen=0',
      '-dnsseed=0',
      '-fallbackfee=0.0001',
      '-keypool=5',
      '-printtoconsole=0',
      '-nodebuglogfile',
      '-rpcworkqueue=128',
      ...RELAY_RULES,
      ...args,
    ]),
    { stdio: ['pipe', 'ignore', 'pipe'] },
  );
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-1_000);
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let running = true;
  void exited.then(() => {
    running = false;
  });
  const end = async (): Promise<void> => {
    child.stdin.destroy();
    await exited;
    await rm(directory, { recursive: true, force: true });
  };
  let cookie = '',
    id = 0;
  const rpc = async <T>(method: string, params: readonly unknown[] = []): Promise<T> => {
    const reply = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      body: JSON.stringify({ jsonrpc: '1.0', id: (id += 1), method, params }),
      headers: { authorization: `Basic ${Buffer.from(cookie).toString('base64')}` },
    });
    const answer = (await reply.json()) as { result: T; error: { code: number; message: string } | null };
    if (answer.error !== null) throw new NodeRefusal(method, answer.error);
    return answer.result;
  };
  const answers = async (): Promise<boolean> => {
    try {
      cookie = (await readFile(join(directory, 'regtest', '.cookie'), 'utf8')).trim();
      await rpc('getblockcount');
      return true;
    } catch (error) {
      if (error instanceof NodeRefusal && error.code !== WARMING_UP) throw error;
      return false; // no cookie yet, no listener yet, or warming up
    }
  };
  const deadline = performance.now() + START_MS;
  while (running && performance.now() < deadline && !(await answers())) await pause(POLL_MS);
  if (!running || performance.now() >= deadline) {
    await end();
    throw new Error(`litecoind did not answer (installed with apt-get install litecoind?): ${said}`);
  }
  const [user, password] = cookie.split(':');
  return { url: `http://${user}:${password}@127.0.0.1:${port}`, port, rpc, stop: end };
}
