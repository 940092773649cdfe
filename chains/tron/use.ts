/**
 * Whether addresses were used, by one node: an account that was activated stays one for ever; a token can be held by an
 * address without an account. Migration M-D6.
 */
import type { Endpoint, Network } from '../chain.ts';
import type { Use, UseAsk } from '../use.ts';
import { readAccount, readTokenBalance } from './account.ts';
import type { Heads } from './heads.ts';

/** Throws: ChainUnavailable, MalformedReply. */
export async function readUse(
  network: Network,
  heads: Heads,
  node: Endpoint,
  { addresses, tokens }: UseAsk,
): Promise<Use> {
  const { height } = await heads.headOf(node);
  const used: boolean[] = [];
  let requests = 1;
  for (const address of addresses) {
    let isUsed = (await readAccount(network, node, address)).exists;
    requests += 1;
    for (const { contract } of tokens) {
      if (isUsed) break;
      isUsed = (await readTokenBalance(network, node, address, contract)) > 0n;
      requests += 1;
    }
    used.push(isUsed);
  }
  // A token can lie at an address that was never activated: without its balance only the account is known.
  return { used, evidence: tokens.length > 0 ? 'history' : 'state', height, requests };
}
