/** Texts that only their chain can read: addresses and tokens. */
import { findDeployment } from './catalogue.ts';
import type { Catalogue, Network, ParsedAddress, Token } from './chain.ts';
import { factsOf, networkOf } from './registry.ts';
import { isRefusal, refuse, type Refusal } from '../protocol/errors.ts';
import type { Chain } from '../protocol/slugs.ts';

/** Refuses: INVALID_ADDRESS. */
export function parseAddress(chain: Chain, text: string): ParsedAddress | Refusal {
  return factsOf(chain).parseAddress(networkOf(chain), text);
}

/** A catalogued token of the chain; null for the native coin. Refuses: TOKEN_NOT_SUPPORTED, TOKEN_NOT_ON_CHAIN. */
export function tokenOf(
  { catalogue, network }: { catalogue: Catalogue; network: Network },
  text: string | null | undefined,
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
  { network }: { network: Pick<Network, 'nativeSymbol' | 'nativeDecimals'> },
  token: Token | null,
): { symbol: string; decimals: number } {
  return token === null
    ? { symbol: network.nativeSymbol, decimals: network.nativeDecimals }
    : { symbol: token.symbol, decimals: token.decimals };
}
