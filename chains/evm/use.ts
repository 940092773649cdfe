/**
 * Whether addresses were used, at one block of one node: an account that sent, holds, has code (delegated by EIP-7702)
 * or holds a token that was asked about. A token that came and went by a permit leaves none of it. Migration M-D6.
 */
import { ChainUnavailable, type Endpoint } from '../chain.ts';
import type { Use, UseAsk } from '../use.ts';
import { decodeWord, encodeBalanceOf } from './abi.ts';
import type { Heads } from './heads.ts';
import type { EvmNetwork } from './network.ts';
import { askAll, atBlock, call } from './node.ts';
import { bigintOf, countOf } from './quantity.ts';

/** Calls of one request. Choice: providers take 100 calls and more. */
const CALLS_PER_BATCH = 100;

/** Throws: ChainUnavailable where any call is not answered. */
export async function readUse(
  network: EvmNetwork,
  heads: Heads,
  node: Endpoint,
  { addresses, tokens }: UseAsk,
): Promise<Use> {
  const head = await heads.headOf(node),
    at = atBlock(head.hash);
  const calls = addresses.flatMap((address) => [
    call('eth_getTransactionCount', address, at),
    call('eth_getBalance', address, at),
    call('eth_getCode', address, at),
    ...tokens.map(({ contract }) => call('eth_call', { to: contract, data: encodeBalanceOf(address) }, at)),
  ]);
  const answers: unknown[] = [];
  for (let from = 0; from < calls.length; from += CALLS_PER_BATCH)
    answers.push(...(await askAll(network, node, calls.slice(from, from + CALLS_PER_BATCH))));
  const each = 3 + tokens.length;
  const used = addresses.map((_, index) => {
    const [nonce, balance, code, ...held] = answers.slice(index * each, (index + 1) * each);
    const holds = held.some((word, token) => {
      const amount = decodeWord(word);
      if (amount === null) throw new ChainUnavailable(network.slug, `${tokens[token]!.contract} answers no balance`);
      return amount > 0n;
    });
    if (typeof code !== 'string' || !code.startsWith('0x'))
      throw new ChainUnavailable(network.slug, 'no code answered');
    return bigintOf(nonce, 'nonce') > 0n || bigintOf(balance, 'balance') > 0n || code !== '0x' || holds;
  });
  return {
    used,
    evidence: 'state',
    height: countOf(head.number, 'head'),
    requests: 1 + Math.ceil(calls.length / CALLS_PER_BATCH),
  };
}
