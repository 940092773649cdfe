/** A real EVM node (anvil) as a child process, for the demo, the tests and the benchmarks. */
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Agent, request } from 'undici';
import { openAnvilProxy } from './anvil-proxy.ts';
import { guarded } from './watchdog.ts';

export interface AnvilOptions {
  readonly chainId: number;
  /** False: blocks are made by `anvil_mine` only. True: a transaction is in a block when its call is answered. */
  readonly automine?: boolean;
  /** A block each time so many seconds have passed, and none for a transaction. */
  readonly blockSeconds?: number;
  /** Blocks between safe, finalized and the head. Small when absent, so that the tags move. */
  readonly slotsInEpoch?: number;
  /** Further arguments of the command. */
  readonly args?: readonly string[];
}

export interface Anvil {
  readonly url: string;
  /** One JSON-RPC call. Throws: Error with the node's text. */
  rpc<T = unknown>(method: string, params?: readonly unknown[]): Promise<T>;
  stop(): Promise<void>;
}

const START_MS = 15_000;
/** Characters of its standard error in an error. */
const SAID_MAX = 500;

/** The binary of this machine's architecture, as its registry package ships it. */
function binary(): string {
  const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';
  return createRequire(import.meta.url).resolve(`@foundry-rs/anvil-${process.platform}-${architecture}/bin/anvil`);
}

/** Starts a node on a free loopback port. Throws: Error when it does not listen in time. */
export async function startAnvil({
  chainId,
  blockSeconds,
  automine = blockSeconds === undefined,
  slotsInEpoch = 2,
  args = [],
}: AnvilOptions): Promise<Anvil> {
  // Without a folder of its own it keeps states under the home of who runs it, and leaves them there when it is killed.
  const states = mkdtempSync(join(tmpdir(), 'flock-anvil-'));
  const child = spawn(
    ...guarded(
      'KILL',
      binary(),
      [
        '--host',
        '127.0.0.1',
        '--port',
        '0',
        '--chain-id',
        String(chainId),
        '--slots-in-an-epoch',
        String(slotsInEpoch),
        '--no-mining', // the proxy asks for blocks
        '--cache-path',
        states,
        ...args,
      ],
      states,
    ),
    { stdio: ['pipe', 'pipe', 'pipe'] },
  );
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const end = (): void => {
    child.stdin.destroy();
  };
  const port = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('anvil did not listen in time')), START_MS);
    child.once('error', reject);
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => {
      said = `${said}${chunk.toString()}`.slice(-SAID_MAX);
    });
    void exited.then(() => reject(new Error(`anvil ended before it listened: ${said}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = /Listening on [^:]+:([0-9]+)/.exec(line)?.[1];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    });
  }).catch((error: unknown) => {
    end();
    throw error;
  });
  const node = `http://127.0.0.1:${port}`;
  const proxy = await openAnvilProxy({ node, automine, blockSeconds }).catch((error: unknown) => {
    end();
    throw error;
  });
  const dispatcher = new Agent({ pipelining: 0 });
  let id = 0;
  return {
    url: proxy.url,
    async rpc<T>(method: string, params: readonly unknown[] = []) {
      const reply = await request(proxy.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        dispatcher,
        body: JSON.stringify({ jsonrpc: '2.0', id: (id += 1), method, params }),
      });
      if (reply.statusCode !== 200) throw new Error(`${method}: ${await reply.body.text()}`);
      const answer = (await reply.body.json()) as { result?: T; error?: { message: string } };
      if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
      return answer.result as T;
    },
    async stop() {
      end();
      await exited;
      await proxy.close();
      await dispatcher.destroy();
    },
  };
}
