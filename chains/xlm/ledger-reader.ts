/** Ledgers and their headers, each proven from one server (G9); what is not proven is another server's turn. */
import { ChainUnavailable, type Block, type Endpoint, type Head, type Network } from '../chain.ts';
import { createHeads, type Heads } from './heads.ts';
import type { ProvenHeader } from './header.ts';
import { readHorizonHeader, readHorizonLedger } from './horizon-ledger.ts';
import { createKnownLedgers, type KnownLedgers } from '../known-ledgers.ts';
import { readRpcHeader, readRpcLedger, type ProvenLedger } from './rpc-ledger.ts';
import type { Source, Sources } from './sources.ts';
import { readStanding } from './standing.ts';
import type { XlmLedger } from './transfers.ts';

/**
 * Whole ledgers that are kept, the newest: an RPC server gives a header only with everything else, so that the head
 * that was just read is the block that a follower asks for next.
 */
const LEDGERS_KEPT = 4;
/** A header that is at most so many ledgers old still gives the fee, the reserve and the time: about ten seconds. */
const FRESH_LEDGERS = 2;

export interface LedgerReader {
  readonly heads: Heads;
  readonly known: KnownLedgers;
  getHead(): Promise<Head>;
  getBlock(height: number): Promise<Block<XlmLedger>>;
  getBlockHash(height: number): Promise<string | null>;
  /** The whole ledger of one server, whose hash no other server contradicts. Throws: ChainUnavailable. */
  readLedger(source: Source, height: number): Promise<ProvenLedger>;
  /** The header of a height on one server; null above its newest ledger. Throws: ChainUnavailable. */
  headerOn(source: Source, height: number): Promise<ProvenHeader | null>;
  /** A header near to `height`: fees, reserve and time change slowly. Throws: ChainUnavailable. */
  recentHeader(source: Source, height: number): Promise<ProvenHeader>;
}

export function createLedgerReader({ identity }: Network, sources: Sources): LedgerReader {
  const kept = new Map<string, { readonly endpoint: Endpoint; readonly ledger: ProvenLedger }>();
  const heads = createHeads(sources, (source, height) => headForHeight(source, height));
  const known = createKnownLedgers('xlm', sources.transport, async () =>
    (await sources.answering()).map((source) => ({
      endpoint: source.endpoint,
      hashAt: async (height) => (await rawHeader(source, height))?.hash ?? null,
    })),
  );
  let newest: ProvenHeader | null = null;

  const remember = (endpoint: Endpoint, ledger: ProvenLedger): void => {
    const { header } = ledger;
    known.accept(header.height, header.hash);
    if (newest === null || header.height >= newest.height) newest = header;
    kept.set(`${endpoint.name} ${header.height}`, { endpoint, ledger });
    const oldest = kept.size > LEDGERS_KEPT ? kept.keys().next().value : undefined;
    if (oldest !== undefined) kept.delete(oldest);
  };

  const rawHeader = async (source: Source, height: number): Promise<ProvenHeader | null> => {
    const { height: newestHeight, oldest } = await readStanding(source);
    if (height > newestHeight) return null;
    if (height < oldest) throw new ChainUnavailable('xlm', `the server keeps nothing before ledger ${oldest}`);
    if (source.kind === 'rpc') return readRpcHeader(source.endpoint, height);
    const header = await readHorizonHeader(source.endpoint, height);
    if (header === null)
      throw new ChainUnavailable('xlm', `the server is at ${newestHeight} and does not have ledger ${height}`);
    return header;
  };

  const headerOn: LedgerReader['headerOn'] = async (source, height) => {
    const header = await rawHeader(source, height);
    if (header !== null) await known.check(source.endpoint, height, header.hash);
    return header;
  };

  const readLedger: LedgerReader['readLedger'] = async (source, height) => {
    const { kind, endpoint } = source;
    const cached = kept.get(`${endpoint.name} ${height}`);
    if (cached !== undefined && cached.endpoint === endpoint) return cached.ledger;
    const ledger = await (kind === 'rpc' ? readRpcLedger : readHorizonLedger)(identity, endpoint, height).catch(
      async (error: unknown) => {
        // Below a height that is known this is a server that is behind or keeps no history, never an empty ledger
        // (9.4-2).
        if (error instanceof ChainUnavailable && height <= heads.seen()) await blame(source, height);
        throw error;
      },
    );
    await known.check(endpoint, height, ledger.header.hash);
    remember(endpoint, ledger);
    return ledger;
  };

  /** Says so where a server cannot have the ledger. Throws: ChainUnavailable. */
  const blame = async (source: Source, height: number): Promise<void> => {
    const { height: newestHeight, oldest } = await readStanding(source);
    if (height >= oldest && height <= newestHeight) return;
    if (height > newestHeight) sources.transport.report(source.endpoint, 'lagging', newestHeight);
    const reason =
      height < oldest ? `keeps nothing before ledger ${oldest}: an archive is needed` : `is at ${newestHeight}`;
    throw new ChainUnavailable('xlm', `the server ${reason}`);
  };

  const headForHeight = async (source: Source, height: number): Promise<ProvenHeader> => {
    if (source.kind === 'rpc') return (await readLedger(source, height)).header;
    const header = await headerOn(source, height);
    if (header === null) throw new ChainUnavailable('xlm', `the server does not have its newest ledger ${height}`);
    if (newest === null || header.height >= newest.height) newest = header;
    return header;
  };

  return {
    heads,
    known,
    headerOn,
    readLedger,
    getHead: heads.getHead,
    getBlock: (height) => sources.attempt(async (source) => blockOf(await readLedger(source, height))),
    getBlockHash: (height) =>
      sources.firstOrAgreedNull(async (source) => (await headerOn(source, height))?.hash ?? null),
    async recentHeader(source, height) {
      if (newest !== null && newest.height <= height + 1 && newest.height + FRESH_LEDGERS >= height) return newest;
      return headForHeight(source, height);
    },
  };
}

function blockOf({ header, raw }: ProvenLedger): Block<XlmLedger> {
  const { height, hash, parentHash, closeTime } = header;
  return { height, hash, parentHash, parentHeight: height - 1, timeMs: closeTime * 1_000, raw };
}
