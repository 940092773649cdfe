/** Texts of a request that only their chain can read: addresses and tokens. */
import { catalogueOf, findDeployment } from '../../../chains/catalogue.ts';
import type { Catalogue, Network, ParsedAddress, Token } from '../../../chains/chain.ts';
import { factsOf, networkOf } from '../../../chains/registry.ts';
import { isRefusal, refuse, type Refusal } from '../../../protocol/errors.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import { CHAINS, FAMILY_OF, type Chain, type Family } from '../../../protocol/slugs.ts';
import type { ChainAccess, ChainBinding } from '../../../model/ports/chain-access.ts';
import { AMOUNT_FORM, formatAmount } from '../../../protocol/money.ts';

/** Refuses: CHAIN_UNAVAILABLE with `permanent` for a chain that is not enabled for the account. */
export function notEnabled(chains: ChainAccess, accountId: AccountId, chain: Chain): Refusal | null {
  return chains.enabled(accountId).includes(chain)
    ? null
    : refuse('CHAIN_UNAVAILABLE', { chain, permanent: true, reason: 'not enabled' });
}

/** Names of the smallest unit of each family's native coin. */
const SMALLEST_UNIT: Readonly<Record<Family, string>> = {
  btc: 'satoshi',
  evm: 'wei',
  tron: 'sun',
  sol: 'lamport',
  xrp: 'drop',
  xlm: 'stroop',
};

/**
 * A refusal of an amount with an example in the smallest unit of the asset that was asked for, where the request names
 * its chain.
 */
export function withAmountExample(refusal: Refusal, asked: unknown): Refusal {
  const { chain: slug, tokenContract } = (asked ?? {}) as { chain?: unknown; tokenContract?: unknown };
  const chain = CHAINS.find((each) => each === slug);
  if (!refusal.message.includes(AMOUNT_FORM) || chain === undefined) return refusal;
  const network = networkOf(chain),
    contract = typeof tokenContract === 'string' ? factsOf(chain).parseToken(network, tokenContract) : null;
  const token = contract === null || isRefusal(contract) ? null : (catalogueOf(chain).get(contract) ?? null);
  // the token is no token here: said by a refusal of its own
  if (token === null && typeof tokenContract === 'string') return refusal;
  const { symbol, decimals } = assetOf({ network }, token),
    unit = token === null ? SMALLEST_UNIT[FAMILY_OF[chain]] : `10^-${decimals} ${symbol}`;
  const amount = `15${'0'.repeat(Math.max(decimals - 1, 0))}`,
    example = { amount, is: `${formatAmount(BigInt(amount), decimals)} ${symbol}`, unit, decimals };
  return {
    ...refusal,
    message: `${refusal.message}; for example "${example.amount}" is ${example.is} (unit: ${unit})`,
    details: { ...refusal.details, example },
  };
}

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
  { network }: Pick<ChainBinding, 'network'>,
  token: Token | null,
): { symbol: string; decimals: number } {
  return token === null
    ? { symbol: network.nativeSymbol, decimals: network.nativeDecimals }
    : { symbol: token.symbol, decimals: token.decimals };
}
