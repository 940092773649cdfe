/** What a TRC-20 contract says of itself. V16; start-up check K4. */
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { Endpoint, Network, TokenFacts } from '../chain.ts';
import { callConstant } from './constant-call.ts';
import { decodeText, decodeWord } from './trc20.ts';

/** Highest `decimals()` that is believed; a uint8 allows more and no token has it. */
const DECIMALS_MAX = 36n;

/**
 * Symbol and name (empty where the contract has none), decimals. Refuses: TOKEN_NOT_SUPPORTED without usable
 * `decimals()`. Throws: ChainUnavailable.
 */
export async function readTokenFacts(
  network: Network,
  endpoint: Endpoint,
  contract: string,
): Promise<TokenFacts | Refusal> {
  const answerOf = async (selector: string): Promise<string> => {
    const outcome = await callConstant(network, endpoint, { owner: contract, contract, selector, parameter: '' });
    return outcome.kind === 'returned' ? outcome.answer : '';
  };
  const [decimals, symbol, name] = await Promise.all(['decimals()', 'symbol()', 'name()'].map(answerOf));
  const count = decodeWord(decimals!);
  if (count === null || count > DECIMALS_MAX) {
    const reason = 'the contract reports no decimals';
    return refuse('TOKEN_NOT_SUPPORTED', { chain: network.slug, tokenContract: contract, reason });
  }
  return { symbol: decodeText(symbol!), name: decodeText(name!), decimals: Number(count) };
}
