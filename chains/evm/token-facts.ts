/** What a token contract says of itself. V16; start-up check K4. */
import { refuse, type Refusal } from '../../protocol/errors.ts';
import { ChainUnavailable, type Endpoint, type TokenFacts } from '../chain.ts';
import type { RpcAnswer } from '../json-rpc.ts';
import { DECIMALS, decodeText, decodeWord, NAME, SYMBOL } from './abi.ts';
import type { EvmNetwork } from './network.ts';
import { call, tryAskAll } from './node.ts';
import { revertReasonOf } from './rejection.ts';

/** Highest `decimals()` that is believed; a uint8 allows more and no token has it. */
const DECIMALS_MAX = 36n;

/**
 * Symbol and name (empty where the contract has none), decimals. Refuses: TOKEN_NOT_SUPPORTED without usable
 * `decimals()`. Throws: ChainUnavailable.
 */
export async function readTokenFacts(
  network: EvmNetwork,
  endpoint: Endpoint,
  contract: string,
): Promise<TokenFacts | Refusal> {
  const asked = [SYMBOL, NAME, DECIMALS].map((data) => call('eth_call', { to: contract, data }, 'latest'));
  const [symbol, name, decimals] = await tryAskAll(network, endpoint, asked);
  const count = decodeWord(resultOrRevert(network, decimals!));
  if (count === null || count > DECIMALS_MAX) {
    const reason = 'the contract reports no decimals';
    return refuse('TOKEN_NOT_SUPPORTED', { chain: network.slug, tokenContract: contract, reason });
  }
  return {
    symbol: decodeText(resultOrRevert(network, symbol!)),
    name: decodeText(resultOrRevert(network, name!)),
    decimals: Number(count),
  };
}

/**
 * The result, or null where the contract reverts: it has no such function. Throws: ChainUnavailable for other errors.
 */
function resultOrRevert(network: EvmNetwork, answer: RpcAnswer): unknown {
  if (answer.ok) return answer.result;
  if (revertReasonOf(answer.error) !== null) return null;
  throw new ChainUnavailable(network.slug, `eth_call: ${answer.error.message}`);
}
