/** Between which chains a token can be bridged, and why not where it cannot. Spec §4.5; treasury H1. */
import type { ROUTE_REASONS } from '../protocol/schema/tokens.ts';
import { FAMILY_OF, type Chain, type Environment } from '../protocol/slugs.ts';
import type { Deployment, Registry } from './catalogue.ts';
import { isPinned, isSameWay } from './routes.ts';

export interface Way {
  readonly symbol: string;
  readonly from: Chain;
  readonly to: Chain;
  /** Why it is closed; null where it is open. */
  readonly reason: (typeof ROUTE_REASONS)[number] | null;
  readonly route: Registry['routes'][number] | null;
}

/** Every ordered pair of deployments of a token. */
export function waysOf(registry: Registry, environment: Environment): Way[] {
  return registry.tokens.flatMap(({ symbol, deployments }) =>
    deployments.flatMap((from) =>
      deployments.filter((to) => to !== from).map((to) => wayOf(registry, environment, symbol, from, to)),
    ),
  );
}

function wayOf({ routes }: Registry, environment: Environment, symbol: string, from: Deployment, to: Deployment): Way {
  const ends = { symbol, from: from.chain, to: to.chain };
  // What an edge would refuse to burn through is not shown as open.
  const route = routes.find((one) => isSameWay(one, ends) && isPinned(one)) ?? null;
  const reason =
    closedBy(from, to) ?? (route === null ? 'not_offered' : environment === 'sandbox' ? 'not_in_sandbox' : null);
  return { ...ends, reason, route: reason === null ? route : null };
}

/** Why no route may lead there; null where one may. */
function closedBy(from: Deployment, to: Deployment): Way['reason'] {
  const both = [from, to];
  if (both.some(({ deprecated }) => deprecated)) return 'deprecated';
  if (both.some(({ bridgeable }) => !bridgeable)) return 'not_bridgeable';
  const families = both.map(({ chain }) => FAMILY_OF[chain]);
  // Sol: the recipient is a token account that must exist; xlm: a forwarder, and a wrong recipient is final.
  if (families.some((family) => family === 'sol' || family === 'xlm')) return 'recipient_checks_missing';
  return families.some((family) => family !== 'evm') || both.some(({ chain }) => chain === 'bsc')
    ? 'no_issuer_bridge'
    : null;
}
