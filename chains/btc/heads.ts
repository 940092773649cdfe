/**
 * Where the chain is, as the nodes tell it. The highest head that was ever answered is kept: a node below it is behind
 * and not believed while another one is not (G10); a head that all nodes show lower is a rollback and is answered as it
 * is (C1-12).
 */
import { z } from 'zod';
import { ChainUnavailable, type Endpoint, type Head } from '../chain.ts';
import { indexHead } from './esplora.ts';
import type { BtcNetwork } from './network.ts';
import { ask, call, parsed } from './node.ts';
import type { Sources } from './sources.ts';

export interface Heads {
  /** Newest block of the endpoint that answers, a node or an index. */
  getHead(): Promise<Head>;
  /** The same of the nodes alone, which have the blocks themselves. */
  getNodeHead(): Promise<Head>;
  /** The head that a node states now. Throws: ChainUnavailable when it is behind what nodes showed, or still syncing. */
  headOf(node: Endpoint): Promise<Head>;
}

/**
 * Blocks by which a second node may trail the first and still be believed for a read of state: a block takes seconds to
 * spread.
 */
const TRAILING_BLOCKS_MAX = 1;

const chainReply = z.object({
  blocks: z.int().nonnegative(), headers: z.int().nonnegative(), bestblockhash: z.string().regex(/^[0-9a-f]{64}$/),
  initialblockdownload: z.boolean(),
});

/** A head of a network that is asked of one endpoint after another, and the highest that any of them showed. */
class Tracked {
  readonly #network: BtcNetwork;
  readonly #attempt: (read: (head: Head) => Head) => Promise<Head>;
  seen = 0;

  /** `attempt` reads heads until one passes. */
  constructor(network: BtcNetwork, attempt: (read: (head: Head) => Head) => Promise<Head>) {
    this.#network = network;
    this.#attempt = attempt;
  }

  async get(): Promise<Head> {
    let behind: Head | null = null;
    try {
      const head = await this.#attempt((own) => {
        if (own.height >= this.seen) return own;
        if (behind === null || own.height > behind.height) behind = own;
        throw new ChainUnavailable(this.#network.slug, `the node is at ${own.height}, behind ${this.seen}`);
      });
      this.seen = head.height;
      return head;
    } catch (error) {
      const rolledBack = behind as Head | null;
      if (rolledBack === null || !(error instanceof ChainUnavailable)) throw error;
      this.seen = rolledBack.height;
      return rolledBack;
    }
  }
}

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

  const nodes = new Tracked(network, (pass) => sources.onNode(async (node) => pass(await readHead(node))));
  const noted = async (node: Endpoint): Promise<Head> => {
    const head = await readHead(node);
    nodes.seen = Math.max(nodes.seen, head.height);
    return head;
  };
  const any = new Tracked(network, (pass) =>
    sources.onAny(async (node) => pass(await noted(node)), async (index) => pass(await readIndexHead(index))));

  return {
    getHead: () => any.get(),
    getNodeHead: () => nodes.get(),
    async headOf(node) {
      const head = await readHead(node);
      if (head.height + TRAILING_BLOCKS_MAX < nodes.seen) {
        transport.report(node, 'lagging', head.height);
        throw new ChainUnavailable(network.slug, `the node is at ${head.height}, behind ${nodes.seen}`);
      }
      nodes.seen = Math.max(nodes.seen, head.height);
      return head;
    },
  };
}
