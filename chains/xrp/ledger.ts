/**
 * One ledger as a block, with the proof that it is whole (G9):
 *   its hash is the hash of its own header, so parent and transaction tree belong to it
 *   the transactions have the places 0, 1, 2, … of the ledger, and there are none exactly when the tree is empty
 *   what they paid as fees is what the ledger has less of than its parent: none is missing at the end either
 * Nothing else destroys XRP: a server refuses a transaction that changes the sum by anything but its fee.
 * Source: xrpl.org "Ledger Header"; XRPLF/rippled `InvariantCheck.cpp`, XRPNotCreated.
 */
import { ChainUnavailable, type Block, type Network } from '../chain.ts';
import { countIn, hashIn, integerIn, objectIn, type Answer } from '../node-answer.ts';
import { ledgerHashOf } from './hashes.ts';
import { entriesOf, feePaid, type XrpLedger } from './transfers.ts';

/** Seconds from 1970 to 2000, where the ledger's clock begins. Source: xrpl.org "Ripple Time". */
const RIPPLE_EPOCH_SECONDS = 946_684_800;
const EMPTY_TREE = '0'.repeat(64);

const unproven = (height: number, reason: string): ChainUnavailable =>
  new ChainUnavailable('xrp', `ledger ${height}: ${reason}`);

export interface Header {
  readonly height: number;
  /** Upper-case hex, as `parentHash`. */
  readonly hash: string;
  readonly parentHash: string;
  readonly totalDrops: bigint;
  readonly timeMs: number;
}

/**
 * The header of a `ledger` answer whose hash is its own.
 * Throws: ChainUnavailable when it is not validated or the hash is not that of the header; MalformedReply.
 */
export function headerOf(result: Answer): Header {
  const ledger = objectIn(result['ledger'], 'ledger');
  const height = countIn(ledger['ledger_index'], 'ledger_index');
  if (result['validated'] !== true) throw unproven(height, 'not validated');
  const hash = hashIn(ledger['ledger_hash'], 'ledger_hash').toUpperCase();
  if (hash !== ledgerHashOf(ledger)) throw unproven(height, 'its hash is not that of its header');
  const stated =
    result['ledger_hash'] === undefined ? hash : hashIn(result['ledger_hash'], 'ledger_hash').toUpperCase();
  if (stated !== hash) throw unproven(height, 'an answer with two hashes');
  return {
    height,
    hash,
    parentHash: hashIn(ledger['parent_hash'], 'parent_hash').toUpperCase(),
    totalDrops: integerIn(ledger['total_coins'], 'total_coins'),
    timeMs: (countIn(ledger['close_time'], 'close_time') + RIPPLE_EPOCH_SECONDS) * 1_000,
  };
}

/** A ledger as a block; what its transactions are is proven by `assertWhole`. Throws as `headerOf`. */
export function blockOf(result: XrpLedger): Block<XrpLedger> {
  const { height, hash, parentHash, timeMs } = headerOf(result);
  return { height, hash, parentHash, parentHeight: height - 1, timeMs, raw: result };
}

/** A block from the `ledger` result of API version 1 or 2, with expanded transactions. Throws as `headerOf`. */
export function blockFromAnswers(_network: Network, answers: Readonly<Record<string, unknown>>): Block<XrpLedger> {
  const given = objectIn(answers['ledger'], 'ledger');
  return blockOf('result' in given ? objectIn(given['result'], 'result') : given);
}

/**
 * Proves that no transaction is missing; `parentDrops` is the coin total of the parent, whose hash the block names.
 * Throws: ChainUnavailable, MalformedReply.
 */
export function assertWhole({ raw, height }: Block<XrpLedger>, parentDrops: bigint | null): void {
  const ledger = objectIn(raw['ledger'], 'ledger');
  const entries = entriesOf(raw);
  const isEmpty = hashIn(ledger['transaction_hash'], 'transaction_hash') === EMPTY_TREE;
  if (isEmpty !== (entries.length === 0)) throw unproven(height, 'its transactions are not there');
  const places = entries.map(({ meta }) => countIn(meta['TransactionIndex'], 'TransactionIndex')).sort((a, b) => a - b);
  const gap = places.findIndex((place, i) => place !== i);
  if (gap !== -1) throw unproven(height, `no transaction with index ${gap}`);
  if (parentDrops === null) return;
  const burnt = parentDrops - integerIn(ledger['total_coins'], 'total_coins');
  const paid = entries.reduce((sum, entry) => sum + feePaid(entry), 0n);
  if (burnt !== paid) {
    throw unproven(height, `${burnt} drops were burnt and its transactions paid ${paid}: some are missing`);
  }
}
