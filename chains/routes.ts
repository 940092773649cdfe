/**
 * The routes of a bridge that edges of this release can check whole. The version of the token registry that ships with
 * the code has none: administrators open them by a later one (decision 104, decision 140). Treasury H1.
 */
import type { Registry } from './catalogue.ts';
import { BRIDGED_SYMBOL, BURN_MAX, CCTP_CHAINS, MESSAGE_TRANSMITTER, TOKEN_MESSENGER } from './evm/cctp.ts';

export type BridgeRoute = Registry['routes'][number];

/** Every ordered pair of chains on which the token can be burnt and minted. */
export function routesOf(tokens: Registry['tokens']): BridgeRoute[] {
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

export const isSameWay = (a: Pick<BridgeRoute, 'symbol' | 'from' | 'to'>, b: typeof a): boolean =>
  a.symbol === b.symbol && a.from === b.from && a.to === b.to;

/** Whether a route leads through the very contracts and domains of this release. */
export function isPinned(route: BridgeRoute): boolean {
  const { symbol, from, to, protocol, fromDomain, toDomain, messenger, transmitter, burnMax } = route;
  return (
    symbol === BRIDGED_SYMBOL &&
    protocol === 'cctp_v2' &&
    from !== to &&
    fromDomain === CCTP_CHAINS[from]?.domain &&
    toDomain === CCTP_CHAINS[to]?.domain &&
    messenger === TOKEN_MESSENGER &&
    transmitter === MESSAGE_TRANSMITTER &&
    BigInt(burnMax) <= BURN_MAX
  );
}
