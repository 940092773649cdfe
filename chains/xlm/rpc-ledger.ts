/**
 * Ledgers of a Stellar RPC server: `getLedgers` gives header, transaction set, results and meta of a ledger in one
 * value, so that one answer holds the whole of it and its proof (`header.ts`).
 */
import {
  LedgerCloseMeta,
  LedgerHeaderHistoryEntry,
  type LedgerHeader,
  type TransactionEnvelope,
  type TransactionMeta,
  type TransactionResultPair,
} from '@stellar/stellar-sdk/xdr';
import { ChainUnavailable, type Endpoint } from '../chain.ts';
import { countIn, hashIn, listIn, malformed, objectIn, type Answer } from '../node-answer.ts';
import { hashesOf } from './envelope.ts';
import { assertNamed, assertWhole, provenHeader, type ProvenHeader } from './header.ts';
import { ledgerRecords, type Applied } from './ledger-records.ts';
import { askRpc } from './rpc.ts';
import type { XlmLedger } from './transfers.ts';
import { decodeXdr, hexOf } from './xdr.ts';

export interface ProvenLedger {
  readonly header: ProvenHeader;
  readonly raw: XlmLedger;
}

/** The answer for one height. Throws: ChainUnavailable when the server has no such ledger, MalformedReply. */
async function readAnswer(endpoint: Endpoint, height: number): Promise<Answer> {
  const answer = await askRpc(endpoint, 'getLedgers', { startLedger: height, pagination: { limit: 1 } });
  const [found] = listIn(answer['ledgers'], 'ledgers');
  if (found === undefined) throw new ChainUnavailable('xlm', `no ledger ${height}`);
  const ledger = objectIn(found, 'ledger');
  if (countIn(ledger['sequence'], 'sequence') !== height)
    throw new ChainUnavailable('xlm', `another ledger than ${height}`);
  return ledger;
}

/** The header of a height under its own hash. Throws: ChainUnavailable, MalformedReply. */
export async function readRpcHeader(endpoint: Endpoint, height: number): Promise<ProvenHeader> {
  const { headerXdr, hash } = await readAnswer(endpoint, height);
  const header = provenHeader(decodeXdr(LedgerHeaderHistoryEntry, headerXdr, 'headerXdr').header);
  assertNamed(header, { height, hash: hashIn(hash, 'hash of a ledger') });
  return header;
}

/** The whole ledger. Throws: ChainUnavailable when it does not prove itself, MalformedReply. */
export async function readRpcLedger(passphrase: string, endpoint: Endpoint, height: number): Promise<ProvenLedger> {
  const { metadataXdr, hash } = await readAnswer(endpoint, height);
  const closed = closedLedger(decodeXdr(LedgerCloseMeta, metadataXdr, 'metadataXdr'));
  const header = provenHeader(closed.header);
  assertNamed(header, { height, hash: hashIn(hash, 'hash of a ledger') });
  assertWhole(
    header,
    closed.processing.map(({ result }) => result),
  );
  // The set is in another order than the results; every result names its envelope.
  const envelopes = new Map(closed.envelopes.map((envelope) => [hashesOf(passphrase, envelope).txid, envelope]));
  const applied = closed.processing.map(({ result, meta }): Applied => {
    const txid = hexOf(result.transactionHash.toBytes()),
      envelope = envelopes.get(txid);
    if (envelope === undefined) throw new ChainUnavailable('xlm', `ledger ${height} without the envelope of ${txid}`);
    return { envelope, result, meta };
  });
  return { header, raw: ledgerRecords(passphrase, header, applied, null) };
}

interface Closed {
  readonly header: LedgerHeader;
  readonly envelopes: readonly TransactionEnvelope[];
  readonly processing: readonly { readonly result: TransactionResultPair; readonly meta: TransactionMeta }[];
}

/** Header, envelopes and what was applied, in that order, of any version. Source: Stellar-ledger.x, LedgerCloseMeta. */
function closedLedger(meta: LedgerCloseMeta): Closed {
  const { ledgerHeader, txProcessing, txSet } = meta.value;
  const envelopes =
    'txs' in txSet
      ? txSet.txs
      : txSet.v1TxSet.phases.flatMap((phase): readonly TransactionEnvelope[] => {
          switch (phase.type) {
            case 'v0Components':
              return phase.v0Components.flatMap((component) => component.value.txs);
            case 'parallelTxsComponent':
              return phase.parallelTxsComponent.executionStages.flat(2);
            default:
              return malformed('phase of a transaction set', phase);
          }
        });
  const processing = txProcessing.map(({ result, txApplyProcessing }) => ({ result, meta: txApplyProcessing }));
  return { header: ledgerHeader.header, envelopes, processing };
}
