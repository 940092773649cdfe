/** G14: the chain id of a node, by its own word and by its blocks. */
import type { Endpoint, Transport } from '../chain.ts';
import { judgeNetwork } from '../judge-network.ts';
import type { EvmNetwork } from './network.ts';
import { ask, call } from './node.ts';
import { bigintOf } from './quantity.ts';
import type { RawBlock } from './raw.ts';

/** Throws: ChainUnavailable when the node says another chain id; reports what it says. */
export async function identify(network: EvmNetwork, transport: Transport, endpoint: Endpoint): Promise<void> {
  const id = bigintOf(await ask(network, endpoint, call('eth_chainId')), 'eth_chainId').toString();
  judgeNetwork(network, transport, endpoint, id, 'is of chain');
}

/**
 * Whether a transaction of the block is signed for another chain. A doubt, no verdict: a chain's own transactions have
 * a chain id of zero or none, and the node is asked for its own before it is left out.
 */
export function namesOtherChain({ chainId: own }: EvmNetwork, { transactions }: RawBlock): boolean {
  return transactions.some(({ chainId }) => {
    const id = typeof chainId === 'string' ? Number(chainId) : 0;
    return Number.isSafeInteger(id) && id !== 0 && id !== own;
  });
}
