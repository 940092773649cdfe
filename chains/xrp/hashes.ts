/**
 * Hashes of the XRP Ledger: the first half of SHA-512 over a four-byte prefix and the bytes.
 *
 *   txid           TXN\0 || signed transaction
 *   signing hash   STX\0 || transaction without its signature
 *   ledger hash    LWR\0 || index(4) || total_coins(8) || parent_hash(32) || transaction_hash(32) || account_hash(32)
 *                  || parent_close_time(4) || close_time(4) || close_time_resolution(1) || close_flags(1)
 *
 * Source: xrpl.org "Hash Prefixes", "Ledger Header"; XRPLF/rippled `HashPrefix.h`, `LedgerHeader.cpp`.
 */
import { createHash } from 'node:crypto';
import { countIn, hashIn, integerIn, malformed, type Answer } from '../node-answer.ts';

const HASH_BYTES = 32;

/** First half of the SHA-512 of the parts, 32 bytes. */
function sha512Half(...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash('sha512');
  for (const part of parts) hash.update(part);
  return hash.digest().subarray(0, HASH_BYTES);
}

const prefix = (letters: string): Uint8Array => Buffer.from(`${letters}\0`, 'ascii');
const TRANSACTION = prefix('TXN');
const SIGNING = prefix('STX');
const LEDGER = prefix('LWR');

/** The txid of signed bytes (hex), upper-case hex. G3, G28. */
export function txidOf(blob: string): string {
  return sha512Half(TRANSACTION, Buffer.from(blob, 'hex')).toString('hex').toUpperCase();
}

/** What a single signer signs, from the serialisation without a signature (hex). */
export function signingHashOf(blob: string): Buffer {
  return sha512Half(SIGNING, Buffer.from(blob, 'hex'));
}

/** The hash of a ledger by its own header, upper-case hex. Throws: MalformedReply for a header that is not whole. */
export function ledgerHashOf(header: Answer): string {
  const numbers = Buffer.alloc(12),
    times = Buffer.alloc(10);
  try {
    numbers.writeUInt32BE(countIn(header['ledger_index'], 'ledger_index'));
    numbers.writeBigUInt64BE(integerIn(header['total_coins'], 'total_coins'), 4);
    times.writeUInt32BE(countIn(header['parent_close_time'], 'parent_close_time'));
    times.writeUInt32BE(countIn(header['close_time'], 'close_time'), 4);
    times.writeUInt8(countIn(header['close_time_resolution'], 'close_time_resolution'), 8);
    times.writeUInt8(countIn(header['close_flags'], 'close_flags'), 9);
  } catch (error) {
    if (error instanceof RangeError) malformed('a number of a ledger header is out of range', header);
    throw error;
  }
  const hashes = ['parent_hash', 'transaction_hash', 'account_hash'].map((name) =>
    Buffer.from(hashIn(header[name], name), 'hex'),
  );
  return sha512Half(LEDGER, numbers, ...hashes, times)
    .toString('hex')
    .toUpperCase();
}
