/**
 * The routes of a bridge that edges of this release can check whole. No published version of the token registry has
 * one: none is opened before transfers were tried from chain to chain (decision 104). Treasury H1.
 */
import type { Registry } from './catalogue.ts';
import { BRIDGED_SYMBOL, BURN_MAX, CCTP_CHAINS, MESSAGE_TRANSMITTER, TOKEN_MESSENGER } from './evm/cctp.ts';

/** Every ordered pair of chains on which the token can be burnt and minted. */
export function routesOf(tokens: Registry['tokens']): Registry['routes'] {
  const ends = tokens
    .filter(({ symbol }) => symbol === BRIDGED_SYMBOL)
    .flatMap(({ deployments }) => deployments)
    .flatMap(({ chain, monitored, deprecated, bridgeable }) => {
      const known = CCTP_CHAINS[chain];
      return known !== undefined && monitored && bridgeable && !deprecated ? [{ chain, ...known }] : [];
    });
  return ends.flatMap((from) =>
    ends
      .filter((to) => to !== from)
      .map((to) => ({
        symbol: BRIDGED_SYMBOL,
        from: from.chain,
        to: to.chain,
        protocol: 'cctp_v2' as const,
        fromDomain: from.domain,
        toDomain: to.domain,
        messenger: TOKEN_MESSENGER,
        transmitter: MESSAGE_TRANSMITTER,
        seconds: from.seconds,
        burnMax: String(BURN_MAX),
      })),
  );
}
