/** Signed envelopes: the txid of the bytes, and whether they are the payload that was built. G28. */
import { ed25519 } from '@noble/curves/ed25519.js';
import type { DecoratedSignature } from '@stellar/stellar-sdk/xdr';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { Network, Signed, Unsigned } from '../chain.ts';
import { bytesOf } from './address.ts';
import { decodePayload, encodePayload, innerHashOf, outerHashOf, type Payload, type Signatures } from './envelope.ts';

const refused = (reason: string): Refusal => refuse('SIGNED_BATCH_REJECTED', { reason });

/** Last bytes of the key that made a signature. Source: Stellar-transaction.x, DecoratedSignature. */
const HINT_BYTES = 4;

/** The hint that goes with a signature of this account. */
export function hintOf(address: string): Uint8Array {
  return bytesOf(address).slice(-HINT_BYTES);
}

/** The txid of an envelope in base64, or null when it is not ours. */
export function txidOf(network: Network, base64: string): string | null {
  const decoded = decodePayload(base64);
  return decoded.ok ? txidOfPayload(network, decoded.payload, decoded.signatures) : null;
}

function txidOfPayload({ identity }: Network, payload: Payload, { inner }: Signatures): string {
  return outerHashOf(identity, payload, inner).toString('hex');
}

/**
 * The payload of signed bytes: signed by the sender and, for a fee bump, by who pays for it, under its own txid.
 * Refuses: SIGNED_BATCH_REJECTED.
 */
export function readSigned({ slug, identity }: Network, signed: Signed): Payload | Refusal {
  if (signed.chain !== slug) return refused('chain_mismatch');
  const decoded = decodePayload(signed.payload);
  if (!decoded.ok) return refused(`payload: ${decoded.reason}`);
  const {
      payload,
      signatures: { inner, outer },
    } = decoded,
    { transaction, bump } = payload;
  const outerHash = outerHashOf(identity, payload, inner);
  if (!isSignedBy(transaction.source, inner, innerHashOf(identity, payload)))
    return refused('the sender has not signed');
  if (bump !== null && !isSignedBy(bump.feeSource, outer, outerHash)) return refused('the fee source has not signed');
  return outerHash.toString('hex') === signed.txid ? payload : refused('the txid is not that of the bytes');
}

/** Null when the signed bytes are this payload, signed by everyone who must. Refuses: SIGNED_BATCH_REJECTED. */
export function matchSigned(network: Network, unsigned: Unsigned, signed: Signed): Refusal | null {
  if (unsigned.chain !== network.slug) return refused('chain_mismatch');
  const payload = readSigned(network, signed);
  if ('ok' in payload) return payload;
  if (encodePayload(payload) !== unsigned.payload) return refused('the signed bytes are another transaction');
  return payload.transaction.source === unsigned.from ? null : refused('the sender is another');
}

/** One signature, by this account, over this hash. */
function isSignedBy(address: string, signatures: readonly DecoratedSignature[], hash: Uint8Array): boolean {
  const [only, ...more] = signatures;
  if (only === undefined || more.length > 0 || Buffer.compare(only.hint.toBytes(), hintOf(address)) !== 0) return false;
  const signature = only.signature.toBytes();
  return signature.length === 64 && ed25519.verify(signature, hash, bytesOf(address), { zip215: false });
}
