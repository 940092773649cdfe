/**
 * An endpoint that is down is asked by nobody before its time, whichever way a question goes: `pick` leaves it out, and
 * what is asked of all endpoints in turn (identities, traces, proofs) fails here without a request. Each failure counts
 * once, so that the pauses grow; the first request after a pause finds out whether it is back.
 */
import { ChainUnavailable, type Endpoint } from '../chain.ts';
import type { Chain } from '../../protocol/slugs.ts';
import type { FailoverTransport } from './failover.ts';
import { EndpointFailure } from './http-endpoint.ts';

/** The endpoint as everybody but its own monitor asks it; `transportOf` is the transport that it becomes part of. */
export function leftAlone<E extends Endpoint>(
  chain: Chain,
  endpoint: E,
  transportOf: () => Pick<FailoverTransport, 'elapsedMs' | 'failed' | 'pauseMs'>,
): E {
  const guarded: E = {
    ...endpoint,
    async request(call) {
      const transport = transportOf(),
        pauseMs = transport.pauseMs(guarded);
      if (pauseMs > 0)
        throw new ChainUnavailable(chain, `the endpoint is down, it is asked again in ${Math.ceil(pauseMs / 1_000)} s`);
      const beganMs = transport.elapsedMs();
      try {
        return await endpoint.request(call);
      } catch (error) {
        if (error instanceof EndpointFailure) transport.failed(guarded, error, beganMs);
        throw error;
      }
    },
  };
  return guarded;
}
