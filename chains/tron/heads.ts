/**
 * The head of the chain, as the endpoints report it. The highest head ever reported is kept: an endpoint below it
 * is behind and not believed while another one is not (G10); a head that all endpoints show lower is a rollback and is
 * answered as it is (C1-12). The solidified head never rolls back (chains.md 6.2).
 */
import { ChainUnavailable, type Endpoint, type Head, type Network, type Transport } from '../chain.ts';
import { HighestHead } from '../highest-head.ts';
import { countIn, hashIn, malformed, objectIn } from '../node-answer.ts';
import { ask, isEmpty, tryAsk, type View } from './node.ts';

export interface Header {
  readonly height: number;
  /** Block id: the height in its first 8 bytes, then the hash of the header. */
  readonly hash: string;
  readonly parentHash: string;
  readonly timeMs: number;
}

const HEIGHT_DIGITS = 16;

/**
 * The header of a block answer, or null for the empty object of a block that the node does not have. Throws:
 * MalformedReply.
 */
export function headerOf(answer: unknown): Header | null {
  if (isEmpty(answer)) return null;
  const block = objectIn(answer, 'block');
  const raw = objectIn(objectIn(block['block_header'], 'block_header')['raw_data'], 'raw_data of a header');
  const hash = hashIn(block['blockID'], 'blockID'),
    height = countIn(raw['number'] ?? 0, 'number');
  // Both are the node's word for one thing; where they differ, its answer is of no block at all.
  if (hash.slice(0, HEIGHT_DIGITS) !== height.toString(16).padStart(HEIGHT_DIGITS, '0')) {
    malformed('blockID and number differ', block);
  }
  return {
    height,
    hash,
    parentHash: hashIn(raw['parentHash'], 'parentHash'),
    timeMs: countIn(raw['timestamp'] ?? 0, 'timestamp'),
  };
}

export interface Heads {
  /** Highest height that an endpoint has shown. */
  seen(): number;
  /** Highest height that an endpoint has called solidified, never above the highest head. */
  solidSeen(): number;
  getHead(): Promise<Head>;
  /** The header at a height, or the newest one; null when the node has none there. Throws: ChainUnavailable. */
  headerAt(endpoint: Endpoint, view: View, height: number | 'newest'): Promise<Header | null>;
  /** The newest header of an endpoint. Throws: ChainUnavailable when it is behind what was seen. */
  headOf(endpoint: Endpoint): Promise<Header>;
  /** The solidified header of an endpoint. Throws: ChainUnavailable when it does not serve `/walletsolidity`. */
  solidOf(endpoint: Endpoint): Promise<Header>;
}

/** Blocks by which an endpoint may trail the highest one and still be believed for a read of state: propagation. */
const TRAILING_BLOCKS_MAX = 2;

export function createHeads(network: Network, transport: Transport): Heads {
  const highest = new HighestHead<Head>(network.slug, transport);
  let solidSeen = 0;
  /** Old nodes have no `getblock`; the paths that they have answer whole blocks where a header would do. */
  const withoutGetBlock = new WeakSet<Endpoint>();

  const headerAt: Heads['headerAt'] = async (endpoint, view, height) => {
    if (!withoutGetBlock.has(endpoint)) {
      const body = height === 'newest' ? { detail: false } : { id_or_num: String(height), detail: false };
      const answer = await tryAsk(network, endpoint, { view, method: 'getblock', body });
      if (answer.ok) return checked(network, headerOf(answer.value), height);
      if (!answer.missing) throw new ChainUnavailable(network.slug, `getblock: ${answer.reason}`);
      withoutGetBlock.add(endpoint);
    }
    const question =
      height === 'newest'
        ? { view, method: 'getnowblock', body: {} }
        : { view, method: 'getblockbynum', body: { num: height } };
    return checked(network, headerOf(await ask(network, endpoint, question)), height);
  };
  const newest = async (endpoint: Endpoint, view: View): Promise<Header> => {
    const header = await headerAt(endpoint, view, 'newest');
    if (header === null) throw new ChainUnavailable(network.slug, 'the node has no newest block');
    return header;
  };
  const solidOf: Heads['solidOf'] = async (endpoint) => {
    const header = await newest(endpoint, 'walletsolidity');
    solidSeen = Math.max(solidSeen, header.height);
    return header;
  };
  const finalizedHeight = async (endpoint: Endpoint): Promise<number | null> => {
    try {
      return (await solidOf(endpoint)).height;
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      return null; // not reported: the earlier report stays true, and the reader remembers it
    }
  };
  const readHead = async (endpoint: Endpoint): Promise<Head> => {
    const [header, solid] = await Promise.all([newest(endpoint, 'wallet'), finalizedHeight(endpoint)]);
    const { height, hash } = header;
    transport.report(endpoint, 'ok', height);
    return { height, hash, finalizedHeight: solid === null ? null : Math.min(solid, height) };
  };

  const getHead = () => highest.get((pass) => transport.attempt(async (endpoint) => pass(await readHead(endpoint))));

  return {
    seen: () => highest.seen,
    solidSeen: () => Math.min(solidSeen, highest.seen),
    getHead,
    headerAt,
    solidOf,
    async headOf(endpoint) {
      const header = await newest(endpoint, 'wallet');
      highest.accept(endpoint, header.height, TRAILING_BLOCKS_MAX);
      return header;
    },
  };
}

function checked(network: Network, header: Header | null, height: number | 'newest'): Header | null {
  if (header === null || height === 'newest' || header.height === height) return header;
  throw new ChainUnavailable(network.slug, `asked for block ${height}, got ${header.height}`);
}
