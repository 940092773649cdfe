/**
 * Blocks and their headers, each from one endpoint (G9). What is final is asked for as final, so that the re-read
 * before a confirmation is one of the finalized chain (L20).
 */
import { ChainUnavailable, type Block, type Endpoint, type Network, type Transport } from '../chain.ts';
import { firstOrAgreedNull } from '../agreement.ts';
import { HeightLinks, headerOf, unitOf, type SolHeader } from './block.ts';
import type { Heads } from './heads.ts';
import { call, CONFIRMED, FINALIZED, resultOf, tryAsk } from './node.ts';
import { explainNodeError } from './rejection.ts';
import type { SolBlock } from './transfers.ts';

/** Highest transaction version that this code reads; a block with a higher one is never skipped. L22. */
const TRANSACTION_VERSION_MAX = 1;

export interface BlockReader {
  /** Throws: ChainUnavailable for anything unproved, also for a slot that the node says it skipped. */
  getBlock(slot: number): Promise<Block<SolBlock>>;
  /** The header at a slot as one endpoint reports it; null when it has no block there. Throws: ChainUnavailable. */
  readHeader(endpoint: Endpoint, slot: number): Promise<SolHeader | null>;
  /**
   * The header at a slot; null when no endpoint has a block there, which is no proof that the slot was skipped (L19).
   */
  getHeader(slot: number): Promise<SolHeader | null>;
}

export function createBlockReader(network: Network, transport: Transport, heads: Heads): BlockReader {
  const links = new HeightLinks(network);

  const asked = (slot: number, transactionDetails: 'full' | 'none') =>
    call('getBlock', slot, {
      encoding: 'json',
      maxSupportedTransactionVersion: TRANSACTION_VERSION_MAX,
      transactionDetails,
      rewards: false,
      ...(slot <= heads.finalized() ? FINALIZED : CONFIRMED),
    });

  const readHeader: BlockReader['readHeader'] = async (endpoint, slot) => {
    const question = asked(slot, 'none');
    const answer = await tryAsk(network, endpoint, question);
    if (!answer.ok && explainNodeError(answer.error) === 'no_block') return null;
    const result = resultOf({ network, transport, endpoint }, question, answer);
    return result === null ? null : headerOf(slot, result);
  };

  const readBlock = async (endpoint: Endpoint, slot: number): Promise<Block<SolBlock>> => {
    const question = asked(slot, 'full');
    const result = resultOf({ network, transport, endpoint }, question, await tryAsk(network, endpoint, question));
    if (result === null) throw new ChainUnavailable(network.slug, `block ${slot} is unknown to the node`);
    const unit = unitOf(slot, result);
    links.check(headerOf(slot, result));
    return unit;
  };

  return {
    readHeader,
    getBlock: (slot) => transport.attempt((endpoint) => readBlock(endpoint, slot)),
    getHeader: (slot) => firstOrAgreedNull(network, transport, (endpoint) => readHeader(endpoint, slot)),
  };
}
