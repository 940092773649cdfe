/** G14: whether an endpoint is of this network, by what it says of itself. */
import { safeText } from './json-rpc.ts';
import { ChainUnavailable, type Endpoint, type Network, type Transport } from './chain.ts';

/** What an operator is shown of an endpoint's own words. A passphrase and a hash fit. */
const SEEN_CHARACTERS_MAX = 120;

/**
 * Reports what the endpoint is found to be. `what` is what the endpoint has or is of. Throws: ChainUnavailable, which
 * names what was seen and expected, when it is of another network.
 */
export function judgeNetwork(
  { slug, identity }: Pick<Network, 'slug' | 'identity'>,
  transport: Pick<Transport, 'report'>,
  endpoint: Endpoint,
  identitySeen: string,
  what: string,
): void {
  if (identitySeen === identity) return transport.report(endpoint, 'ok');
  const seen = safeText(identitySeen).slice(0, SEEN_CHARACTERS_MAX);
  transport.report(endpoint, 'wrong_network', undefined, { expected: identity, seen });
  throw new ChainUnavailable(slug, `${endpoint.name} ${what} ${seen}, expected ${identity}`);
}
