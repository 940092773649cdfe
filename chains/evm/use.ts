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
  const balances = (index: number): (bigint | null)[] =>
    answers.slice(index * each + 3, (index + 1) * each).map(decodeWord);
  // A contract that is not on this chain answers nothing, and nobody holds anything of it.
  const silent = tokens.filter((_, token) => addresses.some((_, index) => balances(index)[token] === null));
  const asked = silent.map(({ contract }) => call('eth_getCode', contract, at));
  const codes = asked.length === 0 ? [] : await askAll(network, node, asked);
  const there = silent.find((_, token) => codes[token] !== '0x');
  if (there !== undefined) throw new ChainUnavailable(network.slug, `${there.contract} answers no balance`);
  const used = addresses.map((_, index) => {
    const [nonce, balance, code] = answers.slice(index * each, index * each + 3);
    if (typeof code !== 'string' || !code.startsWith('0x'))
      throw new ChainUnavailable(network.slug, 'no code answered');
    const holds = balances(index).some((amount) => amount !== null && amount > 0n);
    return bigintOf(nonce, 'nonce') > 0n || bigintOf(balance, 'balance') > 0n || code !== '0x' || holds;
  });
  return {
    used,
    evidence: 'state',
    height: countOf(head.number, 'head'),
    requests: 1 + Math.ceil(calls.length / CALLS_PER_BATCH) + Math.min(1, silent.length),
  };
}
