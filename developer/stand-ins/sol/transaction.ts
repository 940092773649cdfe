/**
 * A transaction as the stand-in reads it, by the network's own library and not by the code under test: legacy, and
 * version 0 with lookup tables.
 */
import { PublicKey, VersionedTransaction, type VersionedMessage } from '@solana/web3.js';
import { base58 } from '@scure/base';
import type { AccountHistory } from './accounts.ts';
import type { SignedMessage } from './svm.ts';

export interface ReadTransaction extends SignedMessage {
  readonly wire: Uint8Array;
  /** Base58 of the first signature. */
  readonly signature: string;
  readonly signatures: readonly string[];
  readonly version: 'legacy' | 0;
  readonly message: VersionedMessage;
  readonly blockhash: string;
  readonly loaded: { readonly writable: readonly string[]; readonly readonly: readonly string[] };
  /** Static keys, then loaded writable ones, then loaded readonly ones. */
  readonly keys: readonly string[];
  readonly writable: readonly string[];
}

/** Bytes of a lookup table before its first address. Source: solana-program/address-lookup-table. */
const LOOKUP_TABLE_META_BYTES = 56;
const KEY_BYTES = 32;

/** Throws: RangeError for bytes that are no transaction, or name a table that does not exist. */
export function readTransaction(wire: Uint8Array, accounts: AccountHistory, slot: number): ReadTransaction {
  let transaction: VersionedTransaction;
  try {
    transaction = VersionedTransaction.deserialize(wire);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unreadable';
    throw new RangeError(`failed to deserialize: ${reason}`, { cause: error });
  }
  const { message, signatures } = transaction;
  // One encoding only: counts in their shortest form, nothing after the message, a signature for each signer.
  if (
    Buffer.compare(transaction.serialize(), wire) !== 0 ||
    signatures.length !== message.header.numRequiredSignatures
  ) {
    throw new RangeError('failed to deserialize: not the encoding of a transaction');
  }
  const statics = message.staticAccountKeys.map((key) => key.toBase58());
  const addressesOf = (table: PublicKey, indexes: readonly number[]) => {
    const data = accounts.at(table.toBase58(), slot)?.data;
    if (data === undefined) throw new RangeError("Transaction loads an address table account that doesn't exist");
    return [...indexes].map((index) => {
      const at = LOOKUP_TABLE_META_BYTES + index * KEY_BYTES;
      if (at + KEY_BYTES > data.length) throw new RangeError('Transaction address table lookup uses an invalid index');
      return base58.encode(data.subarray(at, at + KEY_BYTES));
    });
  };
  const lookups = message.addressTableLookups;
  const loaded = {
    writable: lookups.flatMap(({ accountKey, writableIndexes }) => addressesOf(accountKey, writableIndexes)),
    readonly: lookups.flatMap(({ accountKey, readonlyIndexes }) => addressesOf(accountKey, readonlyIndexes)),
  };
  const texts = signatures.map((signature) => base58.encode(signature));
  return {
    wire,
    messageBytes: message.serialize(),
    signatureBytes: signatures,
    signature: texts[0]!,
    signatures: texts,
    version: message.version,
    message,
    blockhash: message.recentBlockhash,
    loaded,
    keys: [...statics, ...loaded.writable, ...loaded.readonly],
    writable: [...statics.filter((_, index) => message.isAccountWritable(index)), ...loaded.writable],
  };
}
