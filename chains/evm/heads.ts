/**
 * The head of the chain, as the endpoints report it. The highest head ever reported is kept: an endpoint below it
 * is behind and not believed while another one is not (G10); a head that all endpoints show lower is a rollback and
 * is answered as it is (C1-12).
 */
import type { Endpoint, Head, Transport } from '../chain.ts';
import { parseHeader } from './block.ts';
import type { RawHeader } from './raw.ts';
import { HighestHead } from '../highest-head.ts';
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
  const highest = new HighestHead<Head>(network.slug, transport);
  const finalizedOf = new Map<Endpoint, number>();

  const accept: Heads['accept'] = (endpoint, latest) => {
    const header = parseHeader(network, latest),
      height = countOf(header.number, 'head');
    highest.accept(endpoint, height, TRAILING_BLOCKS_MAX);
    return header;
  };

  /**
   * V27, V28: an error is no height; what an endpoint once called final stays final, unless its own head refutes it.
   */
  const finalizedHeight = (endpoint: Endpoint, answer: unknown, height: number): number | null => {
    const stated = answer === null ? 0 : countOf(parseHeader(network, answer).number, 'finalized');
    const known = finalizedOf.get(endpoint) ?? 0;
    const stays = Math.max(known > height ? 0 : known, stated);
    if (stays === 0) return null;
    finalizedOf.set(endpoint, stays);
    return stays;
  };

  const readHead = async (endpoint: Endpoint): Promise<Head> => {
    const tag = network.finalityTag,
      byTag = call('eth_getBlockByNumber', tag, false);
    const [latest, finalized] = await tryAskAll(network, endpoint, tag === 'latest' ? [LATEST] : [LATEST, byTag]);
    const header = parseHeader(network, resultOf(network, LATEST, latest!)),
      height = countOf(header.number, 'head');
    transport.report(endpoint, 'ok', height);
    const final =
      finalized === undefined ? height : finalizedHeight(endpoint, finalized.ok ? finalized.result : null, height);
    const hash = header.hash.toLowerCase();
    return { height, hash, finalizedHeight: final === null ? null : Math.min(final, height) };
  };

  const getHead = () => highest.get((pass) => transport.attempt(async (endpoint) => pass(await readHead(endpoint))));

  return {
    seen: () => highest.seen,
    getHead,
    accept,
    headOf: async (endpoint) => accept(endpoint, await ask(network, endpoint, LATEST)),
  };
}
