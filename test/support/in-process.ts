/** A stand-in's node in this process, as an endpoint of the transport: what is no answer fails as it does over HTTP. */
import type { Endpoint } from '../../chains/chain.ts';
import { EndpointFailure } from '../../chains/transport/http-endpoint.ts';
import { NoAnswer, type InProcess } from '../../developer/stand-ins/in-process.ts';
import type { Chain } from '../../protocol/slugs.ts';

const made = new WeakMap<InProcess, Endpoint>();

/** The one endpoint of a node: a transport keeps its health by it. */
export function inProcess(chain: Chain, node: InProcess): Endpoint {
  const endpoint: Endpoint = made.get(node) ?? {
    name: node.name,
    async request(call) {
      try {
        return await node.request(call);
      } catch (error) {
        throw error instanceof NoAnswer ? new EndpointFailure(chain, error.message) : error;
      }
    },
  };
  made.set(node, endpoint);
  return endpoint;
}

/**
 * How long a test waits for a stand-in over HTTP: it lives in the test's own process, and waits for its turn behind
 * whatever else that does on a machine with a load.
 */
export const ANSWER_MS_MAX = 150_000;
