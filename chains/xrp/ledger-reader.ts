/**
 * Ledgers and their hashes, each from one server with its proof (G9, 8.4); what is not proven is another server's
 * turn.
 */
import { ChainUnavailable, type Block, type Endpoint, type Network, type Transport } from '../chain.ts';
import { firstOrAgreedNull } from '../agreement.ts';
import type { Heads } from './heads.ts';
import { createKnownLedgers, type KnownLedgers } from '../known-ledgers.ts';
import { assertWhole, blockOf, headerOf, type Header } from './ledger.ts';
import { refusedBy, tryAsk } from './node.ts';
import type { XrpLedger } from './transfers.ts';

/** Coin totals of ledgers that were read, by hash: a follower asks for the parent of what it has just read. */
const TOTALS_MAX = 64;
const NO_PARENT = '0'.repeat(64);

export interface LedgerReader {
  readonly known: KnownLedgers;
  getBlock(height: number): Promise<Block<XrpLedger>>;
  getBlockHash(height: number): Promise<string | null>;
  /** The hash that one server has at a height; null above its newest ledger. Throws: ChainUnavailable. */
  hashOn(endpoint: Endpoint, height: number): Promise<string | null>;
}

export function createLedgerReader(network: Network, transport: Transport, heads: Heads): LedgerReader {
  const totals = new Map<string, bigint>();
  const known = createKnownLedgers(network.slug, transport, async () =>
    transport.endpoints.map((endpoint) => ({
      endpoint,
      hashAt: async (height) => (await headerAt(endpoint, height))?.hash ?? null,
    })),
  );

  const remember = ({ hash, totalDrops }: Header): void => {
    totals.set(hash, totalDrops);
    const oldest = totals.size > TOTALS_MAX ? totals.keys().next().value : undefined;
    if (oldest !== undefined) totals.delete(oldest);
  };

  /** Null for a height above the server's newest ledger; one that it should have and has not is unknown (G8). */
  const headerAt = async (endpoint: Endpoint, height: number): Promise<Header | null> => {
    const answer = await tryAsk(transport, endpoint, 'ledger', { ledger_index: height });
    if (answer.ok) return answer.result['validated'] === true ? sameHeight(headerOf(answer.result), height) : null;
    if (answer.error.token !== 'lgrNotFound') throw refusedBy('ledger', answer.error);
    const { height: newest } = await heads.peek(endpoint);
    if (height > newest) return null;
    throw new ChainUnavailable('xrp', `the server is at ${newest} and does not have ledger ${height}`);
  };

  const hashOn: LedgerReader['hashOn'] = async (endpoint, height) => {
    const header = await headerAt(endpoint, height);
    if (header === null) return null;
    await known.check(endpoint, height, header.hash);
    return header.hash;
  };

  const parentDrops = async (endpoint: Endpoint, { parentHash, height }: Block): Promise<bigint | null> => {
    if (parentHash === NO_PARENT) return null;
    const kept = totals.get(parentHash);
    if (kept !== undefined) return kept;
    const answer = await tryAsk(transport, endpoint, 'ledger', { ledger_hash: parentHash });
    if (!answer.ok) throw refusedBy(`parent of ledger ${height}`, answer.error);
    const parent = headerOf(answer.result);
    if (parent.hash !== parentHash) throw new ChainUnavailable('xrp', `another ledger than the parent of ${height}`);
    remember(parent);
    return parent.totalDrops;
  };

  const read = async (endpoint: Endpoint, height: number): Promise<Block<XrpLedger>> => {
    const answer = await tryAsk(transport, endpoint, 'ledger', {
      ledger_index: height,
      transactions: true,
      expand: true,
    });
    if (!answer.ok) {
      // Below a height that we know this is a server that is behind or keeps no history, never an empty ledger (8.4-2).
      if (answer.error.token === 'lgrNotFound' && height <= heads.seen()) transport.report(endpoint, 'lagging');
      throw refusedBy(`ledger ${height}`, answer.error);
    }
    const block = blockOf(answer.result);
    sameHeight(block, height);
    await heads.assertComplete(endpoint, height);
    assertWhole(block, await parentDrops(endpoint, block));
    await known.check(endpoint, height, block.hash);
    known.accept(height, block.hash);
    remember(headerOf(answer.result));
    return block;
  };

  return {
    known,
    hashOn,
    getBlock: (height) => transport.attempt((endpoint) => read(endpoint, height)),
    getBlockHash: (height) => firstOrAgreedNull(network, transport, (endpoint) => hashOn(endpoint, height)),
  };
}

function sameHeight<T extends { readonly height: number }>(answered: T, height: number): T {
  if (answered.height !== height) throw new ChainUnavailable('xrp', `another ledger than ${height}`);
  return answered;
}
