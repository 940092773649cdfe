/**
 * What the configured endpoints are: Core-family nodes, which prove blocks and outputs, and address indexes (Esplora's
 * API, as electrs and mempool serve it), which know the outputs of an address at once. Recognised by their answers, so
 * that an operator lists all of them in one setting.
 */
import { ChainUnavailable, MalformedReply, type Endpoint, type Transport } from '../chain.ts';
import { isIndex } from './esplora.ts';
import type { BtcNetwork } from './network.ts';
import { call, failureOf, tryAsk } from './node.ts';

export type SourceKind = 'node' | 'index';

export interface Sources {
  readonly transport: Transport;
  /** Throws: ChainUnavailable when the endpoint does not answer, or neither knows JSON-RPC nor Esplora's API. */
  kindOf(endpoint: Endpoint): Promise<SourceKind>;
  /** Tries one node after another; indexes are passed over. Throws: ChainUnavailable. */
  onNode<T>(read: (node: Endpoint) => Promise<T>): Promise<T>;
  /** Tries one endpoint after another, each by its own way. Throws: ChainUnavailable. */
  onAny<T>(byNode: (node: Endpoint) => Promise<T>, byIndex: (index: Endpoint) => Promise<T>): Promise<T>;
  /** The endpoints that are indexes; one that does not answer now is left out. */
  indexes(): Promise<Endpoint[]>;
}

/** Statuses of a web server that has nothing at the path of JSON-RPC, or nothing that takes a POST. */
const NO_RPC_HERE = new Set([400, 404, 405, 501]);

export function createSources(network: BtcNetwork, transport: Transport): Sources {
  const kinds = new Map<Endpoint, SourceKind>();

  const kindOf: Sources['kindOf'] = async (endpoint) => {
    const known = kinds.get(endpoint);
    if (known !== undefined) return known;
    const kind = await detect(network, endpoint);
    kinds.set(endpoint, kind);
    return kind;
  };

  const onAny: Sources['onAny'] = (byNode, byIndex) =>
    transport.attempt(async (endpoint) => ((await kindOf(endpoint)) === 'node' ? byNode(endpoint) : byIndex(endpoint)));

  return {
    transport,
    kindOf,
    onAny,
    onNode: (read) =>
      onAny(read, () => {
        throw new ChainUnavailable(network.slug, 'an address index, no node');
      }),
    async indexes() {
      const found = await Promise.allSettled(transport.endpoints.map(kindOf));
      return transport.endpoints.filter((_, i) => found[i]!.status === 'fulfilled' && found[i]!.value === 'index');
    },
  };
}

async function detect(network: BtcNetwork, endpoint: Endpoint): Promise<SourceKind> {
  const asked = call('getblockchaininfo');
  try {
    const answer = await tryAsk(network, endpoint, asked);
    if (answer.ok) return 'node';
    // a node that warms up, or keeps us out
    if (!NO_RPC_HERE.has(answer.error.code)) throw failureOf(network, asked, answer.error);
  } catch (error) {
    if (!(error instanceof MalformedReply)) throw error; // a page of a web server
  }
  if (await isIndex(network, endpoint)) return 'index';
  throw new ChainUnavailable(network.slug, 'neither a node nor an address index');
}
