/**
 * Whether a transaction is in a ledger, as one server says now. A server's word that it is in a ledger is held against
 * that ledger's own results; its word that it is nowhere counts only as far as its history reaches. 9.2, M30.
 *   RPC      getTransaction(hash) → SUCCESS, FAILED, NOT_FOUND + oldestLedger, latestLedger; both hashes of a fee bump
 *   Horizon  GET /transactions/{hash} → the transaction, or 404
 */
import { ChainUnavailable, type Network, type Outcome } from '../chain.ts';
import { countIn, malformed } from '../node-answer.ts';
import { askHorizon } from './horizon.ts';
import type { LedgerReader } from './ledger-reader.ts';
import { askRpc } from './rpc.ts';
import type { Source } from './sources.ts';
import { readStanding, type Standing } from './standing.ts';
import { outcomesIn } from './transfers.ts';

export type Included = Outcome & { readonly height: number; readonly hash: string };

export type Whereabouts =
  | { readonly kind: 'included'; readonly included: Included }
  /** In none of the ledgers [oldest, height]. */
  | { readonly kind: 'nowhere'; readonly oldest: number; readonly height: number };

export interface InclusionParts {
  readonly network: Network;
  readonly ledgers: LedgerReader;
}

/** Throws: ChainUnavailable when the server is behind, or its word and its ledger differ; MalformedReply. */
export async function whereIs(
  { network, ledgers }: InclusionParts,
  source: Source,
  txid: string,
): Promise<Whereabouts> {
  const { height, standing, success } = await heightOf(ledgers, source, txid);
  if (height === null) return { kind: 'nowhere', oldest: standing.oldest, height: standing.height };
  const { header, raw } = await ledgers.readLedger(source, height);
  const { hash, parentHash } = header;
  const block = { height, hash, parentHash, parentHeight: height - 1, timeMs: null, raw };
  const [outcome] = outcomesIn(network, block, new Set([txid]));
  if (outcome === undefined)
    throw new ChainUnavailable('xlm', `the server says that ${txid} is in ledger ${height}, and it is not`);
  if (success !== null && success !== outcome.success)
    throw new ChainUnavailable('xlm', `the server's status of ${txid} is not that of its ledger`);
  return { kind: 'included', included: { ...outcome, height, hash } };
}

/** `success` is what the server's own record of the transaction says; null where it says nothing. */
interface Found {
  readonly height: number | null;
  readonly standing: Standing;
  readonly success: boolean | null;
}

async function heightOf({ heads }: LedgerReader, source: Source, txid: string): Promise<Found> {
  if (source.kind === 'rpc') {
    const { status, ledger, latestLedger, oldestLedger } = await askRpc(source.endpoint, 'getTransaction', {
      hash: txid,
    });
    const height = countIn(latestLedger, 'latestLedger');
    heads.accept(source.endpoint, height);
    const standing = { height, oldest: countIn(oldestLedger, 'oldestLedger'), behind: 0 };
    if (status === 'NOT_FOUND') return { height: null, standing, success: null };
    if (status !== 'SUCCESS' && status !== 'FAILED') malformed('status of a transaction', status);
    return { height: countIn(ledger, 'ledger of a transaction'), standing, success: status === 'SUCCESS' };
  }
  // First the standing: what lands meanwhile is then found, and not missed.
  const standing = await heads.standingOf(source);
  const record = await askHorizon(source.endpoint, `/transactions/${txid}`);
  const success = typeof record?.['successful'] === 'boolean' ? record['successful'] : null;
  return { height: record === null ? null : countIn(record['ledger'], 'ledger of a transaction'), standing, success };
}

/**
 * What a transaction did; null when it is not in the ledger at `at`, or without it in none that the server keeps.
 * Throws: ChainUnavailable where the server does not keep the ledger that it was seen in.
 */
export async function readOutcome(
  parts: InclusionParts,
  source: Source,
  txid: string,
  at: { readonly height: number } | undefined,
): Promise<Included | null> {
  const found = await whereIs(parts, source, txid);
  if (found.kind === 'included') {
    // Once more from the server, not from what was kept: G19.
    const header = await parts.ledgers.headerOn(source, found.included.height);
    if (header?.hash !== found.included.hash)
      throw new ChainUnavailable('xlm', 'the ledger of the transaction has another hash now');
    return found.included;
  }
  if (at !== undefined && (at.height < found.oldest || at.height > found.height)) {
    throw new ChainUnavailable('xlm', `the server keeps ledgers ${found.oldest} to ${found.height}, not ${at.height}`);
  }
  return null;
}

/** Whether a server has seen a transaction; null when it cannot know. Throws: MalformedReply. */
export async function knows(parts: InclusionParts, source: Source, txid: string): Promise<boolean | null> {
  try {
    return (await whereIs(parts, source, txid)).kind === 'included';
  } catch (error) {
    if (error instanceof ChainUnavailable) return null;
    throw error;
  }
}

/** The newest ledger of a server and when it closed. Throws: ChainUnavailable. */
export async function newestClose(
  ledgers: LedgerReader,
  source: Source,
): Promise<{ height: number; closeTime: number }> {
  const { height } = await readStanding(source);
  const header = await ledgers.headerOn(source, height);
  if (header === null) throw new ChainUnavailable('xlm', 'the server does not have its newest ledger');
  return { height, closeTime: header.closeTime };
}
