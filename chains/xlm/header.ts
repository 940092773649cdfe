/**
 * The proof of a ledger. Its hash is that of its header; the header names the parent's hash and the hash of all results
 * in the order in which they were applied; each result names its transaction's hash, and a contract call's result the
 * hash of its events. So one server's answer proves itself: nothing can be missing from it or changed in it. G9.
 *
 *   hash            SHA-256(LedgerHeader)
 *   txSetResultHash SHA-256(TransactionResultSet)
 *   success         SHA-256(InvokeHostFunctionSuccessPreImage), the result of a contract call
 *
 * What no hash covers are the changes of ledger entries: the amount of a claimed balance is the server's word.
 * Source: stellar/stellar-core LedgerManagerImpl.cpp (closeLedger), InvokeHostFunctionOpFrame.cpp; Stellar-ledger.x.
 */
import { createHash } from 'node:crypto';
import { LedgerHeader, TransactionResultPair, TransactionResultSet } from '@stellar/stellar-sdk/xdr';
import { ChainUnavailable } from '../chain.ts';
import { decodeXdr, hexOf } from './xdr.ts';

/** A header whose hash was computed here. */
export interface ProvenHeader {
  readonly height: number;
  readonly hash: string;
  readonly parentHash: string;
  readonly resultHash: string;
  /** Unix seconds. */
  readonly closeTime: number;
  /** Stroops per operation. */
  readonly baseFee: number;
  /** Stroops per entry. M23. */
  readonly baseReserve: number;
}

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** The header of these bytes under the hash that they have. */
export function provenHeader(header: LedgerHeader): ProvenHeader {
  return {
    height: header.ledgerSeq,
    hash: sha256(header.toXdr()),
    parentHash: hexOf(header.previousLedgerHash.toBytes()),
    resultHash: hexOf(header.txSetResultHash.toBytes()),
    closeTime: Number(header.scpValue.closeTime),
    baseFee: header.baseFee,
    baseReserve: header.baseReserve,
  };
}

/**
 * The header in base64 under the hash and height that a server gave it. Throws: ChainUnavailable when either is
 * another, MalformedReply.
 */
export function headerNamed(base64: unknown, named: { readonly height: number; readonly hash: string }): ProvenHeader {
  const header = provenHeader(decodeXdr(LedgerHeader, base64, 'ledger header'));
  assertNamed(header, named);
  return header;
}

/** Throws: ChainUnavailable. */
export function assertNamed(
  header: ProvenHeader,
  { height, hash }: { readonly height: number; readonly hash: string },
): void {
  if (header.height !== height) throw new ChainUnavailable('xlm', `another ledger than ${height}`);
  if (header.hash !== hash)
    throw new ChainUnavailable('xlm', `the header of ledger ${height} has another hash than the server says`);
}

/** Throws: ChainUnavailable unless these are all results of the ledger, in their order. */
export function assertWhole({ height, resultHash }: ProvenHeader, results: readonly TransactionResultPair[]): void {
  const found = sha256(new TransactionResultSet({ results: [...results] }).toXdr());
  if (found !== resultHash) throw new ChainUnavailable('xlm', `the transactions of ledger ${height} are not whole`);
}
