/** Whether signed bytes are the payload that was built. G28; verifying needs the public key that they carry. */
import secp256k1 from 'secp256k1';
import { encode, encodeForSigning } from 'ripple-binary-codec';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { Network, Signed, Unsigned } from '../chain.ts';
import { addressOfKey } from './derive.ts';
import { signingHashOf, txidOf } from './hashes.ts';
import {
  encodeUnsigned,
  fieldsOf,
  jsonOf,
  networkFlawOf,
  transactionOf,
  type TransactionJson,
  type XrpTransaction,
} from './transaction.ts';

/** `STX\0`, which the codec puts before what is signed and `signingHashOf` puts there itself. */
const SIGNING_PREFIX_CHARACTERS = 8;
const HEX = /^[0-9A-F]+$/;

export type DecodedSigned =
  { readonly ok: true; readonly transaction: XrpTransaction } | { readonly ok: false; readonly reason: string };

const no = (reason: string) => ({ ok: false, reason }) as const;

/** The hash that the holder of a key signs, with the key in its place. */
export function signingHash(transaction: XrpTransaction, publicKey: Uint8Array): Buffer {
  const blob = encodeForSigning({ ...jsonOf(transaction), SigningPubKey: hexOf(publicKey) });
  return signingHashOf(blob.slice(SIGNING_PREFIX_CHARACTERS));
}

/** The signed bytes, upper-case hex, from a DER signature. */
export function encodeSigned(transaction: XrpTransaction, publicKey: Uint8Array, signature: Uint8Array): string {
  return encode({ ...jsonOf(transaction), SigningPubKey: hexOf(publicKey), TxnSignature: hexOf(signature) });
}

/** The transaction of signed bytes whose signature is that of the sender's own key; or what is wrong with them. */
export function decodeSigned(blob: string): DecodedSigned {
  const fields = fieldsOf(blob);
  if (fields === null) return no('unreadable');
  const read = transactionOf(fields);
  if (!read.ok) return no(read.reason);
  const publicKey = bytesOfHex(fields['SigningPubKey']),
    signature = bytesOfHex(fields['TxnSignature']);
  if (publicKey === null || signature === null) return no('not_signed');
  const { transaction } = read;
  if (canonicalOf(transaction, fields) !== blob) return no('not_canonical');
  if (!secp256k1.publicKeyVerify(publicKey) || publicKey.length !== 33) return no('public_key');
  if (addressOfKey(publicKey) !== transaction.account) return no('signer_mismatch');
  return verifies(transaction, publicKey, signature) ? { ok: true, transaction } : no('signature');
}

function canonicalOf(transaction: XrpTransaction, { SigningPubKey, TxnSignature }: TransactionJson): string | null {
  try {
    return encode({ ...jsonOf(transaction), SigningPubKey, TxnSignature });
  } catch {
    return null;
  }
}

function verifies(transaction: XrpTransaction, publicKey: Uint8Array, signature: Uint8Array): boolean {
  try {
    // Strict DER and a low s: `secp256k1` refuses the other encodings, and the ledger does so too.
    return secp256k1.ecdsaVerify(secp256k1.signatureImport(signature), signingHash(transaction, publicKey), publicKey);
  } catch {
    return false;
  }
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex').toUpperCase();

function bytesOfHex(value: unknown): Uint8Array | null {
  return typeof value === 'string' && value.length % 2 === 0 && HEX.test(value) ? Buffer.from(value, 'hex') : null;
}

/**
 * Null for the very payload, signed by `from`, under the hash of the signed bytes (G28). Refuses:
 * SIGNED_BATCH_REJECTED.
 */
export function matchSigned(network: Network, unsigned: Unsigned, signed: Signed): Refusal | null {
  const differs = (reason: string) => refuse('SIGNED_BATCH_REJECTED', { reason, chain: network.slug });
  if (signed.chain !== network.slug || unsigned.chain !== network.slug) return differs('chain_mismatch');
  const decoded = decodeSigned(signed.payload);
  if (!decoded.ok) return differs(decoded.reason);
  const flaw = networkFlawOf(network, decoded.transaction);
  if (flaw !== null) return differs(flaw.reason);
  if (encodeUnsigned(decoded.transaction) !== unsigned.payload) return differs('payload_mismatch');
  if (decoded.transaction.account !== unsigned.from) return differs('from_mismatch');
  return txidOf(signed.payload) === signed.txid ? null : differs('txid_mismatch');
}
