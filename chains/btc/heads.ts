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
  getHead(): Promise<Head>;
  /** The head that a node states now. Throws: ChainUnavailable when it is behind what was seen, or still syncing. */
  headOf(endpoint: Endpoint): Promise<Head>;
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

export function createHeads(network: BtcNetwork, sources: Sources): Heads {
  const { transport } = sources;
  let seen = 0;

  /** Height and hash from one answer. */
  const readHead = async (endpoint: Endpoint): Promise<Head> => {
    const reply = parsed(chainReply, await ask(network, endpoint, call('getblockchaininfo')), 'getblockchaininfo');
    // A node in its first download, or one that has headers whose blocks it lacks, shows an old chain.
    if (reply.initialblockdownload || reply.headers > reply.blocks + TRAILING_BLOCKS_MAX) {
      transport.report(endpoint, 'lagging', reply.blocks);
      throw new ChainUnavailable(network.slug, `the node is syncing: block ${reply.blocks} of ${reply.headers}`);
    }
    transport.report(endpoint, 'ok', reply.blocks);
    return { height: reply.blocks, hash: reply.bestblockhash, finalizedHeight: null };
  };

  const getHead = async (): Promise<Head> => {
    let behind: Head | null = null;
    try {
      const head = await transport.attempt(async (endpoint) => {
        const own = await sources.kindOf(endpoint) === 'node'
          ? await readHead(endpoint) : await indexHead(network, endpoint);
        if (own.height >= seen) return own;
        if (behind === null || own.height > behind.height) behind = own;
        throw new ChainUnavailable(network.slug, `the node is at ${own.height}, behind ${seen}`);
      });
      seen = head.height;
      return head;
    } catch (error) {
      const rolledBack = behind as Head | null;
      if (rolledBack === null || !(error instanceof ChainUnavailable)) throw error;
      seen = rolledBack.height;
      return rolledBack;
    }
  };

  const headOf = async (endpoint: Endpoint): Promise<Head> => {
    const head = await readHead(endpoint);
    if (head.height + TRAILING_BLOCKS_MAX < seen) {
      transport.report(endpoint, 'lagging', head.height);
      throw new ChainUnavailable(network.slug, `the node is at ${head.height}, behind ${seen}`);
    }
    seen = Math.max(seen, head.height);
    return head;
  };

  return { getHead, headOf };
}
