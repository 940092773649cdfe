/**
 * A real EVM node for tests: anvil on a free port, with the chain id of the network that the test is about. It ends
 * with the test, and with the test's process whatever ends that.
 */
import type { ExecutionContext } from 'ava';
import { createHttpEndpoint, type HttpEndpoint } from '../../chains/transport/http-endpoint.ts';
import type { EvmNetwork } from '../../chains/evm/network.ts';
import { callRpc } from '../../chains/json-rpc.ts';
import { startAnvil as startDeveloperAnvil, type AnvilOptions } from '../../developer/anvil.ts';

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

/** Blocks between safe, finalized and the head, as on Ethereum. */
const SLOTS_IN_EPOCH = 32;

/** Starts a node for the network. */
export async function startAnvil(
  t: ExecutionContext,
  network: EvmNetwork,
  options: Omit<AnvilOptions, 'chainId'> = {},
): Promise<Anvil> {
  const { url, stop } = await startDeveloperAnvil({
    chainId: Number(network.chainId),
    slotsInEpoch: SLOTS_IN_EPOCH,
    ...options,
  });
  t.teardown(stop);
  const endpoint = createHttpEndpoint({ chain: network.slug, name: `anvil-${new URL(url).port}`, url });
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
