/** The company's own nodes (EDGE_VERIFY_RPC_<CHAIN>), opened on first use. */
import { createFailoverTransport, wallTimer } from '../../chains/transport/failover.ts';
import { createHttpEndpoint } from '../../chains/transport/http-endpoint.ts';
import type { Catalogue, ChainClient, ChainModule, Network } from '../../chains/chain.ts';
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
  /** Tokens of the registry in use, the same object while it is in use: another one opens a node anew. */
  readonly catalogueOf: (chain: Chain) => Catalogue;
  readonly monotonicMs: () => number;
}

export function createOwnNodes({ nodes, confirmations, catalogueOf, monotonicMs }: OwnNodesSettings): OwnNodes {
  const endpoints = new Map(
    [...nodes].map(([chain, urls]) => [
      chain,
      urls.map((url, index) =>
        createHttpEndpoint({ chain, name: `${chain}-verify-${index + 1}`, url, timeoutMs: NODE_ANSWER_TIMEOUT_MS }),
      ),
    ]),
  );
  const opened = new Map<Chain, { catalogue: Catalogue; node: Promise<OwnNode> }>();
  const open = async (chain: Chain, catalogue: Catalogue): Promise<OwnNode> => {
    const module = await loadModule(chain);
    const own = networkOf(chain);
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
      const catalogue = catalogueOf(chain),
        known = opened.get(chain);
      if (known !== undefined && known.catalogue === catalogue) return known.node;
      const node = open(chain, catalogue);
      opened.set(chain, { catalogue, node });
      return node;
    },
    async close() {
      await Promise.all([...endpoints.values()].flat().map((endpoint) => endpoint.close()));
    },
  };
}
