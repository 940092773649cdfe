/**
 * The head of the chain, as the nodes report it. The highest head ever reported is kept: a node below it is behind
 * and not believed while another one is not (G10); a head that all nodes show lower is a rollback and is answered as it
 * is (C1-12).
 */
import { z } from 'zod';
import { ChainUnavailable, type Endpoint, type Head } from '../chain.ts';
import { HighestHead } from '../highest-head.ts';
import { indexHead } from './esplora.ts';
import type { BtcNetwork } from './network.ts';
import { ask, call, parsed } from './node.ts';
import type { Sources } from './sources.ts';

export interface Heads {
  /** Newest block of the endpoint that answers, a node or an index. */
  getHead(): Promise<Head>;
  /** The same of the nodes alone, which have the blocks themselves. */
  getNodeHead(): Promise<Head>;
  /**
   * The head that a node states now. Throws: ChainUnavailable when it is behind what nodes showed, or still syncing.
   */
  headOf(node: Endpoint): Promise<Head>;
  /**
   * The head that an address index states now. Throws: ChainUnavailable when it is behind what nodes or indexes showed:
   * an address that was paid since looks like one that never was.
   */
  indexHeadOf(index: Endpoint): Promise<Head>;
}

/**
 * Blocks by which a second node may trail the first and still be believed for a read of state: a block takes seconds to
 * spread.
 */
const TRAILING_BLOCKS_MAX = 1;

const chainReply = z.object({
  blocks: z.int().nonnegative(),
  headers: z.int().nonnegative(),
  bestblockhash: z.string().regex(/^[0-9a-f]{64}$/),
  initialblockdownload: z.boolean(),
});

export function createHeads(network: BtcNetwork, sources: Sources): Heads {
  const { transport } = sources;

  /** Height and hash from one answer. */
  const readHead = async (node: Endpoint): Promise<Head> => {
    const reply = parsed(chainReply, await ask(network, node, call('getblockchaininfo')), 'getblockchaininfo');
    // A node in its first download, or one that has headers whose blocks it lacks, shows an old chain.
    if (reply.initialblockdownload || reply.headers > reply.blocks + TRAILING_BLOCKS_MAX) {
      transport.report(node, 'lagging', reply.blocks);
      throw new ChainUnavailable(network.slug, `the node is syncing: block ${reply.blocks} of ${reply.headers}`);
    }
    transport.report(node, 'ok', reply.blocks);
    return { height: reply.blocks, hash: reply.bestblockhash, finalizedHeight: null };
  };
  const readIndexHead = async (index: Endpoint): Promise<Head> => {
    const head = await indexHead(network, index);
    transport.report(index, 'ok', head.height);
    return head;
  };

  const nodes = new HighestHead<Head>(network.slug, transport),
    any = new HighestHead<Head>(network.slug, transport);
  const noted = async (node: Endpoint): Promise<Head> => {
    const head = await readHead(node);
    nodes.note(head.height);
    return head;
  };

  /** 0 where indexes are all there is, or no node answers: then an index is judged by what was seen. */
  const nodesHeight = async (): Promise<number> => {
    try {
      return (await nodes.get((pass) => sources.onNode(async (node) => pass(await readHead(node))))).height;
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      return 0;
    }
  };

  return {
    getHead: () =>
      any.get((pass) =>
        sources.onAny(
          async (node) => pass(await noted(node)),
          async (index) => pass(await readIndexHead(index)),
        ),
      ),
    getNodeHead: () => nodes.get((pass) => sources.onNode(async (node) => pass(await readHead(node)))),
    async indexHeadOf(index) {
      const head = await indexHead(network, index);
      const seen = Math.max(nodes.seen, any.seen, await nodesHeight());
      if (head.height + TRAILING_BLOCKS_MAX < seen) {
        transport.report(index, 'lagging', head.height);
        throw any.behind(head.height);
      }
      return head;
    },
    async headOf(node) {
      const head = await readHead(node);
      if (head.height + TRAILING_BLOCKS_MAX < nodes.seen) {
        transport.report(node, 'lagging', head.height);
        throw nodes.behind(head.height);
      }
      nodes.note(head.height);
      return head;
    },
  };
}
