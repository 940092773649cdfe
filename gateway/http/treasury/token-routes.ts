/** Between which chains a token can be bridged. Spec §4.5; treasury H1. */
import type { Deployment, Registry } from '../../../chains/catalogue.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { FAMILY_OF } from '../../../protocol/slugs.ts';
import type { Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';

type Way = ReplyOf<'listTokenRoutes'>['routes'][number];

export function tokenRouteHandler({ chains }: Pick<HandlerDeps, 'chains'>): Pick<Handlers, 'listTokenRoutes'> {
  return {
    async listTokenRoutes() {
      const { current } = chains.tokens;
      return { registryVersion: current.version, routes: routesOf(current) };
    },
  };
}

/** Every ordered pair of deployments of a token, open or closed with the reason. */
export function routesOf(registry: Registry): Way[] {
  return registry.tokens.flatMap(({ symbol, deployments }) =>
    deployments.flatMap((from) =>
      deployments.filter((to) => to !== from).map((to) => wayOf(registry, symbol, from, to)),
    ),
  );
}

function wayOf({ routes }: Registry, symbol: string, from: Deployment, to: Deployment): Way {
  const ends = { symbol, from: from.chain, to: to.chain };
  const route = routes.find((one) => one.symbol === symbol && one.from === from.chain && one.to === to.chain);
  const reason = closedBy(from, to) ?? (route === undefined ? 'not_offered' : null);
  return reason === null
    ? { ...ends, status: 'open', reason, protocol: route!.protocol, seconds: route!.seconds, burnMax: route!.burnMax }
    : { ...ends, status: 'closed', reason, protocol: null, seconds: null, burnMax: null };
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
