/**
 * Signed transactions as nodes take them, and whether one is the payload that was built. Recovering the sender needs no
 * key.
 *
 *   transaction   1 raw_data || 2 signature = r(32) || s(32) || v(1)      v = 27 + recovery id, or the id alone
 * Source: java-tron Tron.proto, crypto/…/SignUtils.java.
 */
import secp256k1 from 'secp256k1';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { Network, Signed, Unsigned } from '../chain.ts';
import { signedOn } from '../sandbox-networks.ts';
import { addressOfKey } from './derive.ts';
import { decodeMessage, encodeMessage, type FieldRow } from './protobuf.ts';
import { txidOf } from './raw-transaction.ts';

const TRANSACTION = [
  [1, 'rawData', 'bytes'],
  [2, 'signature', 'bytes'],
] as const satisfies readonly FieldRow[];
const SIGNATURE_BYTES = 65;
const COMPACT_BYTES = 64;
/** What Bitcoin added to the recovery id, and other ledgers kept. */
const RECOVERY_OFFSET = 27;
const RECOVERY_IDS = 4;

/** The bytes that are submitted, hex. `signature` is r || s, 64 bytes. */
export function encodeSigned(payload: string, signature: Uint8Array, recoveryId: number): string {
  const whole = Uint8Array.of(...signature, RECOVERY_OFFSET + recoveryId);
  return Buffer.from(encodeMessage(TRANSACTION, { rawData: Buffer.from(payload, 'hex'), signature: whole })).toString(
    'hex',
  );
}

type SignedFlaw = 'unreadable' | 'unknown_field' | 'signature_count' | 'signature' | 'not_canonical';

export type DecodedSigned =
  | {
      readonly ok: true;
      readonly payload: string;
      readonly signature: string;
      readonly from: string;
      readonly txid: string;
    }
  | { readonly ok: false; readonly reason: SignedFlaw };

/** Payload, signer and txid of signed bytes with one signature, or the reason why they are none of ours. */
export function decodeSigned(network: Pick<Network, 'digestTag'>, signedPayload: string): DecodedSigned {
  const no = (reason: SignedFlaw) => ({ ok: false, reason }) as const;
  if (!/^(?:[0-9a-f]{2})+$/.test(signedPayload)) return no('unreadable');
  const bytes = Buffer.from(signedPayload, 'hex');
  const read = decodeMessage(TRANSACTION, bytes);
  if (!read.ok) return no(read.reason === 'repeated_field' ? 'signature_count' : read.reason);
  const { rawData, signature } = read.values;
  if (rawData.length === 0) return no('unreadable');
  if (signature.length === 0) return no('signature_count');
  if (Buffer.compare(encodeMessage(TRANSACTION, read.values), bytes) !== 0) return no('not_canonical');
  const payload = Buffer.from(rawData).toString('hex'),
    txid = txidOf(payload);
  const from = signerOf(signature, signedOn(network, Buffer.from(txid, 'hex')));
  if (from === null) return no('signature');
  return { ok: true, payload, signature: Buffer.from(signature).toString('hex'), from, txid };
}

/** The address whose key made a signature over a digest, or null where no key can have. */
function signerOf(signature: Uint8Array, digest: Uint8Array): string | null {
  const v = signature[COMPACT_BYTES] ?? 0,
    id = v >= RECOVERY_OFFSET ? v - RECOVERY_OFFSET : v;
  if (signature.length !== SIGNATURE_BYTES || id >= RECOVERY_IDS) return null;
  try {
    const compact = Uint8Array.from(signature.subarray(0, COMPACT_BYTES));
    return addressOfKey(secp256k1.ecdsaRecover(compact, id, digest, false));
  } catch {
    return null;
  }
}

/**
 * Null for the very payload, signed by `from`, under the hash of the signed bytes (G28). Refuses:
 * SIGNED_BATCH_REJECTED.
 */
export function matchSigned(network: Network, unsigned: Unsigned, signed: Signed): Refusal | null {
  const no = (reason: string) => refuse('SIGNED_BATCH_REJECTED', { reason, chain: network.slug });
  if (signed.chain !== network.slug || unsigned.chain !== network.slug) return no('chain_mismatch');
  const decoded = decodeSigned(network, signed.payload);
  if (!decoded.ok) return no(decoded.reason);
  if (decoded.payload !== unsigned.payload) return no('payload_mismatch');
  if (decoded.from !== unsigned.from) return no('signer_mismatch');
  if (!isOneText(decoded.signature)) return no('not_canonical');
  return decoded.txid === signed.txid ? null : no('txid_mismatch');
}

/**
 * A recovery id without its offset and a high s are other texts of the same signature: signed bytes have one. found
 * F13.
 */
function isOneText(signature: string): boolean {
  const bytes = Buffer.from(signature, 'hex'),
    compact = Uint8Array.from(bytes.subarray(0, COMPACT_BYTES));
  return (
    bytes[COMPACT_BYTES]! >= RECOVERY_OFFSET &&
    Buffer.compare(secp256k1.signatureNormalize(Uint8Array.from(compact)), compact) === 0
  );
}
