/**
 * A real EVM node for tests: anvil on a free port, with the chain id of the network that the test is about. It ends
 * with the test, and with the test's process whatever ends that: a shell holds it and kills it when its input closes.
 */
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import type { ExecutionContext } from 'ava';
import { createHttpEndpoint, type HttpEndpoint } from '../../chains/transport/http-endpoint.ts';
import type { EvmNetwork } from '../../chains/evm/network.ts';
import { callRpc } from '../../chains/json-rpc.ts';

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
const START_MS_MAX = 20_000;

function binary(): string {
  const name = `@foundry-rs/anvil-${process.platform}-${ARCHITECTURES[process.arch] ?? process.arch}`;
  return createRequire(import.meta.url).resolve(`${name}/bin/anvil`);
}

export interface Anvil {
  readonly url: string;
  readonly endpoint: HttpEndpoint;
  /** One call; the node's error is thrown with its text. */
  rpc<T = unknown>(method: string, ...params: unknown[]): Promise<T>;
  mine(blocks?: number): Promise<void>;
  height(): Promise<number>;
  fund(address: string, wei: bigint): Promise<void>;
  /** Sends from any address without a key, mines unless automining is off, and gives the txid. */
  send(transaction: { from: string; to?: string; value?: bigint; data?: string; gas?: bigint }): Promise<string>;
  setCode(address: string, code: string): Promise<void>;
}

const KEEPER = '"$0" "$@" & node=$!; read -r _; kill "$node" 2>/dev/null; wait "$node"';

/** Starts a node for the network; further arguments are anvil's own. */
export async function startAnvil(t: ExecutionContext, network: EvmNetwork, ...args: string[]): Promise<Anvil> {
  const child = spawn('sh', ['-c', KEEPER, binary(), '--port', '0', '--chain-id', String(network.chainId), ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  t.teardown(async () => {
    child.stdin.end();
    await exited;
  });
  const port = await new Promise<string>((resolve, reject) => {
    let said = '';
    const late = setTimeout(() => reject(new Error(`anvil did not start: ${said.slice(-500)}`)), START_MS_MAX);
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      const listening = /Listening on 127\.0\.0\.1:(\d+)/.exec(said);
      if (listening !== null) {
        clearTimeout(late);
        resolve(listening[1]!);
      }
    });
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    child.once('error', reject);
    void exited.then(() => reject(new Error(`anvil ended: ${said.slice(-500)}`)));
  });
  const url = `http://127.0.0.1:${port}`,
    endpoint = createHttpEndpoint({ chain: network.slug, name: `anvil-${port}`, url });
  t.teardown(() => endpoint.close());
  return anvilAt(network, url, endpoint);
}

function anvilAt(network: EvmNetwork, url: string, endpoint: HttpEndpoint): Anvil {
  const rpc = async <T>(method: string, ...params: unknown[]): Promise<T> => {
    const answer = await callRpc(network.slug, endpoint, method, params);
    if (!answer.ok) throw new Error(`${method}: ${answer.error.code} ${answer.error.message}`);
    return answer.result as T;
  };
  return {
    url,
    endpoint,
    rpc,
    mine: async (blocks = 1) => {
      await rpc('anvil_mine', `0x${blocks.toString(16)}`);
    },
    height: async () => Number(await rpc<string>('eth_blockNumber')),
    fund: async (address, wei) => {
      await rpc('anvil_setBalance', address, `0x${wei.toString(16)}`);
    },
    setCode: async (address, code) => {
      await rpc('anvil_setCode', address, code);
    },
    send: async ({ from, to, value = 0n, data = '0x', gas = 1_000_000n }) => {
      await rpc('anvil_impersonateAccount', from);
      return rpc<string>('eth_sendTransaction', {
        from,
        to,
        value: `0x${value.toString(16)}`,
        data,
        gas: `0x${gas.toString(16)}`,
      });
    },
  };
}
