/** Texts of a request that only their chain can read: addresses and tokens. */
import { findDeployment } from '../../../chains/catalogue.ts';
import type { Catalogue, Network, ParsedAddress, Token } from '../../../chains/chain.ts';
import { factsOf, networkOf } from '../../../chains/registry.ts';
import { isRefusal, refuse, type Refusal } from '../../../protocol/errors.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import type { Chain } from '../../../protocol/slugs.ts';
import type { ChainAccess, ChainBinding } from '../../../model/ports/chain-access.ts';

/** Refuses: CHAIN_UNAVAILABLE with `permanent` for a chain that is not enabled for the account. */
export function notEnabled(chains: ChainAccess, accountId: AccountId, chain: Chain): Refusal | null {
  return chains.enabled(accountId).includes(chain)
    ? null
    : refuse('CHAIN_UNAVAILABLE', { chain, permanent: true, reason: 'not enabled' });
}

/** Refuses: INVALID_ADDRESS. */
export function parseAddress(chain: Chain, text: string): ParsedAddress | Refusal {
  return factsOf(chain).parseAddress(networkOf(chain), text);
}

/** A catalogued token of the chain; null for the native coin. Refuses: TOKEN_NOT_SUPPORTED, TOKEN_NOT_ON_CHAIN. */
export function tokenOf(
  { catalogue, network }: { catalogue: Catalogue; network: Network }, text: string | null | undefined,
): Token | null | Refusal {
  if (text === null || text === undefined) return null;
  const contract = factsOf(network.slug).parseToken(network, text);
  if (isRefusal(contract)) return contract;
  const token = catalogue.get(contract);
  if (token !== undefined) return token;
  const deployment = findDeployment(network.slug, contract);
  return isRefusal(deployment)
    ? deployment
    : refuse('TOKEN_NOT_SUPPORTED', { chain: network.slug, reason: 'not monitored' });
}

/** An asset's symbol and decimals: the token's, or the native coin's. */
export function assetOf(
  { network }: Pick<ChainBinding, 'network'>, token: Token | null,
): { symbol: string; decimals: number } {
  return token === null
    ? { symbol: network.nativeSymbol, decimals: network.nativeDecimals }
    : { symbol: token.symbol, decimals: token.decimals };
}
