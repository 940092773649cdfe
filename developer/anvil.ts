/** A real EVM node (anvil) as a child process, for the demo, the tests and the benchmarks. */
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { Agent, request } from 'undici';
import { guarded } from './watchdog.ts';

export interface AnvilOptions {
  readonly chainId: number;
  /** False: blocks are made by `anvil_mine` only. */
  readonly automine?: boolean;
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
/** Far above what any call takes. */
const ANSWER_MS = 120_000;
const READS = /^(?:eth_(?:get|call|block|accounts|chainId|estimateGas|gasPrice|feeHistory)|net_|web3_|debug_)/;
/** Blocks between safe, finalized and the head: small, so that the tags move. */
const SLOTS_IN_EPOCH = 2;

/** The binary of this machine's architecture, as its registry package ships it. */
function binary(): string {
  const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';
  return createRequire(import.meta.url).resolve(`@foundry-rs/anvil-${process.platform}-${architecture}/bin/anvil`);
}

/** Starts a node on a free loopback port. Throws: Error when it does not listen in time. */
export async function startAnvil({ chainId, automine = true, args = [] }: AnvilOptions): Promise<Anvil> {
  const child = spawn(
    ...guarded('KILL', binary(), [
      '--host',
      '127.0.0.1',
      '--port',
      '0',
      '--chain-id',
      String(chainId),
      '--slots-in-an-epoch',
      String(SLOTS_IN_EPOCH),
      ...(automine ? [] : ['--no-mining']),
      ...args,
    ]),
    { stdio: ['pipe', 'pipe', 'pipe'] },
  );
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const end = (): void => {
    child.stdin.destroy();
  };
  const port = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('anvil did not listen in time')), START_MS);
    child.once('error', reject);
    void exited.then(() => reject(new Error('anvil ended before it listened')));
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
  child.stderr.resume();
  const url = `http://127.0.0.1:${port}`;
  // A connection for each call: a busy node closes idle ones just when they are used again.
  const dispatcher = new Agent({ pipelining: 0 });
  let id = 0;
  return {
    url,
    async rpc<T>(method: string, params: readonly unknown[] = []) {
      const ask = () =>
        request(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          dispatcher,
          headersTimeout: ANSWER_MS,
          body: JSON.stringify({ jsonrpc: '2.0', id: (id += 1), method, params }),
        });
      const reply = await ask().catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'UND_ERR_HEADERS_TIMEOUT') throw error;
        // It was seen that a call is never answered. What changes nothing is asked again.
        if (!READS.test(method)) throw new Error(`${method}: no answer within ${ANSWER_MS} ms`);
        return ask();
      });
      const answer = (await reply.body.json()) as { result?: T; error?: { message: string } };
      if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
      return answer.result as T;
    },
    async stop() {
      end();
      await exited;
      await dispatcher.destroy();
    },
  };
}
