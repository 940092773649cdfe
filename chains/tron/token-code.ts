/**
 * What a TRC-20 contract runs now, as far as it says so itself: nodes serve no storage of contracts. Treasury K18.
 */
import type { Endpoint, Network } from '../chain.ts';
import type { TokenCode } from '../contract-call.ts';
import { callConstant, type CallOutcome } from './constant-call.ts';
import { addressWord, decodeWord, wordOf } from './trc20.ts';

/** Of proxies, and of a contract that another one replaced. */
const SAID = ['implementation()', 'upgradedAddress()', 'deprecated()'];

/** Throws: ChainUnavailable. */
export async function readTokenCode(network: Network, endpoint: Endpoint, contract: string): Promise<TokenCode> {
  const called = (selector: string, parameter = '') =>
    callConstant(network, endpoint, { owner: contract, contract, selector, parameter });
  const said = await Promise.all(
    SAID.map(async (selector) => {
      const outcome = await called(selector);
      return (outcome.kind === 'returned' ? decodeWord(outcome.answer) : null) ?? 0n;
    }),
  );
  // Of nothing, and to itself, which needs no holder. USDT answers false to transfers that succeed: a revert alone is
  // a no.
  const tried = await called('transfer(address,uint256)', addressWord(contract) + wordOf(0n));
  return {
    text: said.map((one) => one.toString(16)).join('-'),
    isDeprecated: said.at(-1) === 1n,
    declined: declinedBy(tried),
  };
}

function declinedBy(tried: CallOutcome): string | null {
  if (tried.kind === 'returned') return null;
  return tried.kind === 'reverted' ? tried.reason : 'no contract is there';
}
