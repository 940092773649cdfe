/** The company's own nodes (EDGE_VERIFY_RPC_<CHAIN>), opened on first use. */
import { createFailoverTransport, wallTimer } from '../../chains/transport/failover.ts';
import { createHttpEndpoint } from '../../chains/transport/http-endpoint.ts';
import { catalogueOf } from '../../chains/catalogue.ts';
import type { ChainClient, ChainModule, Network } from '../../chains/chain.ts';
import { loadModule, networkOf } from '../../chains/registry.ts';
import type { Chain } from '../../protocol/slugs.ts';

/** Time-out of one request to a node. */
export const NODE_ANSWER_TIMEOUT_MS = 10_000;
/** After so long without an answer the next node is asked as well. */
const HEDGE_MS = 2_500;

export interface OwnNode {
  readonly network: Network;
  readonly module: ChainModule;
  readonly client: ChainClient;
}
export interface OwnNodes {
  readonly has: (chain: Chain) => boolean;
  readonly of: (chain: Chain) => Promise<OwnNode>;
  close(): Promise<void>;
}

export interface OwnNodesSettings {
  /** Addresses of the company's nodes, by chain. */
  readonly nodes: ReadonlyMap<Chain, readonly string[]>;
  /** Confirmations to require where they differ from the network's own threshold. */
  readonly confirmations?: ReadonlyMap<Chain, number>;
  readonly monotonicMs: () => number;
}

export function createOwnNodes({ nodes, confirmations, monotonicMs }: OwnNodesSettings): OwnNodes {
  const endpoints = new Map(
    [...nodes].map(([chain, urls]) => [
      chain,
      urls.map((url, index) =>
        createHttpEndpoint({ chain, name: `${chain}-verify-${index + 1}`, url, timeoutMs: NODE_ANSWER_TIMEOUT_MS }),
      ),
    ]),
  );
  const opened = new Map<Chain, Promise<OwnNode>>();
  const open = async (chain: Chain): Promise<OwnNode> => {
    const module = await loadModule(chain);
    const own = networkOf(chain),
      catalogue = catalogueOf(chain);
    const network = { ...own, threshold: confirmations?.get(chain) ?? own.threshold };
    const transport = createFailoverTransport({
      chain,
      endpoints: endpoints.get(chain)!,
      elapsedMs: monotonicMs,
      random: Math.random,
      blockTimeMs: own.blockTimeMs,
      hedge: { ms: HEDGE_MS, timer: wallTimer },
    });
    return { network, module, client: module.createClient(network, transport, catalogue) };
  };
  return {
    has: (chain) => nodes.has(chain),
    of(chain) {
      let node = opened.get(chain);
      if (node === undefined) opened.set(chain, (node = open(chain)));
      return node;
    },
    async close() {
      await Promise.all([...endpoints.values()].flat().map((endpoint) => endpoint.close()));
    },
  };
}
