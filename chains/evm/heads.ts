/**
 * Where the chain is, as the endpoints tell it. The highest head that was ever answered is kept: an endpoint below it
 * is behind and not believed while another one is not (G10); a head that all endpoints show lower is a rollback and
 * is answered as it is (C1-12).
 */
import { ChainUnavailable, type Endpoint, type Head, type Transport } from '../chain.ts';
import { parseHeader, type RawHeader } from './block.ts';
import type { EvmNetwork } from './network.ts';
import { ask, call, resultOf, tryAskAll } from './node.ts';
import { countOf } from './quantity.ts';

export interface Heads {
  /** Highest height that an endpoint has shown. */
  seen(): number;
  getHead(): Promise<Head>;
  /** The head that an endpoint states now. Throws: ChainUnavailable when it is behind what was seen. */
  headOf(endpoint: Endpoint): Promise<RawHeader>;
  /** Believes a `latest` header of an endpoint. Throws: ChainUnavailable when it is behind what was seen. */
  accept(endpoint: Endpoint, latest: unknown): RawHeader;
}

export const LATEST = call('eth_getBlockByNumber', 'latest', false);

/** Blocks by which a second endpoint may trail the first and still be believed for a read of state. */
const TRAILING_BLOCKS_MAX = 1;

export function createHeads(network: EvmNetwork, transport: Transport): Heads {
  let seen = 0;
  const finalizedOf = new Map<Endpoint, number>();

  const accept: Heads['accept'] = (endpoint, latest) => {
    const header = parseHeader(network, latest), height = countOf(header.number, 'head');
    if (height + TRAILING_BLOCKS_MAX < seen) {
      transport.report(endpoint, 'lagging', height);
      throw new ChainUnavailable(network.slug, `the node is at ${height}, behind ${seen}`);
    }
    transport.report(endpoint, 'ok', height);
    seen = Math.max(seen, height);
    return header;
  };

  /** V27, V28: an error is no height; what an endpoint once called final stays final. */
  const finalizedHeight = (endpoint: Endpoint, answer: unknown): number | null => {
    const stated = answer === null ? 0 : countOf(parseHeader(network, answer).number, 'finalized');
    const highest = Math.max(finalizedOf.get(endpoint) ?? 0, stated);
    if (highest === 0) return null;
    finalizedOf.set(endpoint, highest);
    return highest;
  };

  const readHead = async (endpoint: Endpoint): Promise<Head> => {
    const tag = network.finalityTag, byTag = call('eth_getBlockByNumber', tag, false);
    const [latest, finalized] = await tryAskAll(network, endpoint, tag === 'latest' ? [LATEST] : [LATEST, byTag]);
    const header = parseHeader(network, resultOf(network, LATEST, latest!)), height = countOf(header.number, 'head');
    transport.report(endpoint, 'ok', height);
    const final = finalized === undefined ? height : finalizedHeight(endpoint, finalized.ok ? finalized.result : null);
    const hash = header.hash.toLowerCase();
    return { height, hash, finalizedHeight: final === null ? null : Math.min(final, height) };
  };

  const getHead = async (): Promise<Head> => {
    let behind: Head | null = null;
    try {
      const head = await transport.attempt(async (endpoint) => {
        const own = await readHead(endpoint);
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

  return {
    seen: () => seen, getHead, accept,
    headOf: async (endpoint) => accept(endpoint, await ask(network, endpoint, LATEST)),
  };
}
