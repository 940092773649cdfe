/** Between which chains a token can be bridged. Spec §4.5; treasury H1. */
import { waysOf, type Way } from '../../../chains/ways.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import type { Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';

export function tokenRouteHandler({ chains }: Pick<HandlerDeps, 'chains'>): Pick<Handlers, 'listTokenRoutes'> {
  return {
    async listTokenRoutes({ caller: { environment } }) {
      const { current } = chains.tokens;
      return { registryVersion: current.version, routes: waysOf(current, environment).map(wayView) };
    },
  };
}

function wayView({ route, reason, ...ends }: Way): ReplyOf<'listTokenRoutes'>['routes'][number] {
  return reason === null && route !== null
    ? { ...ends, status: 'open', reason, protocol: route.protocol, seconds: route.seconds, burnMax: route.burnMax }
    : { ...ends, status: 'closed', reason, protocol: null, seconds: null, burnMax: null };
}
