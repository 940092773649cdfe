/** One endpoint of a transport, for a client that speaks for it alone: a witness (G10). */
import { ChainUnavailable, type Endpoint, type Transport } from '../../chains/chain.ts';
import type { Chain } from '../../protocol/slugs.ts';
import type { FailoverTransport } from '../../chains/transport/failover.ts';
import { EndpointFailure } from '../../chains/transport/http-endpoint.ts';

/**
 * The transport narrowed to one endpoint, sharing its health: one that backs off or belongs to another network (G14) is
 * not asked here either.
 */
export function oneEndpoint(chain: Chain, transport: FailoverTransport, endpoint: Endpoint): Transport {
  const others = transport.endpoints.filter((other) => other !== endpoint);
  const pick: Transport['pick'] = (not = []) => {
    if (not.includes(endpoint)) throw new ChainUnavailable(chain, 'no endpoint to ask: none left');
    return transport.pick(others);
  };
  return {
    endpoints: [endpoint],
    pick,
    async attempt(read) {
      const beganMs = transport.elapsedMs();
      try {
        return await read(pick());
      } catch (error) {
        if (error instanceof EndpointFailure) transport.failed(endpoint, error, beganMs);
        throw error;
      }
    },
    report: (...reported) => transport.report(...reported),
  };
}
