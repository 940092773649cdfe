/** Whether signed bytes are the message that was built. Verifying a signature needs no key. */
import { createPublicKey, verify } from 'node:crypto';
import { base58 } from '@scure/base';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { Network, Signed, Unsigned } from '../chain.ts';
import { signedOn } from '../sandbox-networks.ts';
import { decodeMessage, decodeTransaction, encodeTransaction, SIGNATURE_BYTES } from './message.ts';

/** DER header of an Ed25519 public key. Source: RFC 8410 §4. */
const SPKI_HEADER = Buffer.from('302a300506032b6570032100', 'hex');

/** Whether an address signed these bytes. Source: RFC 8032. */
export function verifies(address: string, message: Uint8Array, signature: Uint8Array): boolean {
  const der = Buffer.concat([SPKI_HEADER, base58.decode(address)]);
  return verify(null, message, createPublicKey({ key: der, format: 'der', type: 'spki' }), signature);
}

/** The transaction's own name: base58 of its first signature, which is that of the payer of the fee. G3. */
export function txidOf(signatures: readonly Uint8Array[]): string {
  return base58.encode(signatures[0] ?? new Uint8Array(SIGNATURE_BYTES));
}

/** A message with empty signatures, as a simulation takes it. */
export function unsignedTransaction(message: Uint8Array): Uint8Array {
  const decoded = decodeMessage(message);
  const count = decoded.ok ? decoded.signers.length : 1;
  return encodeTransaction(
    Array.from({ length: count }, () => new Uint8Array(SIGNATURE_BYTES)),
    message,
  );
}

/** Programs of a message's instructions, in their order; none for bytes that are no message. */
export function programsOf(message: Uint8Array): readonly string[] {
  const decoded = decodeMessage(message);
  return decoded.ok ? decoded.instructions.map(({ program }) => program) : [];
}

/**
 * Null for the very message, signed by everyone whom it names, `from` among them, under the first signature (G28).
 * Refuses: SIGNED_BATCH_REJECTED.
 */
export function matchSigned(network: Network, unsigned: Unsigned, signed: Signed): Refusal | null {
  const no = (reason: string) => refuse('SIGNED_BATCH_REJECTED', { reason, chain: network.slug });
  if (signed.chain !== network.slug || unsigned.chain !== network.slug) return no('chain_mismatch');
  const bytes = Buffer.from(signed.payload, 'base64');
  // One text for one transaction: what is stored and submitted again is what was compared.
  if (bytes.toString('base64') !== signed.payload) return no('not_base64');
  const transaction = decodeTransaction(bytes);
  if (!transaction.ok) return no(transaction.reason);
  const { message, signatures } = transaction;
  if (Buffer.from(message).toString('base64') !== unsigned.payload) return no('payload_mismatch');
  const decoded = decodeMessage(message);
  if (!decoded.ok) return no(decoded.reason);
  const { signers } = decoded;
  if (signatures.length !== signers.length) return no('signature_count');
  if (!signers.includes(unsigned.from)) return no('signer_mismatch');
  const whole = signedOn(network, message);
  if (!signers.every((signer, index) => verifies(signer, whole, signatures[index]!))) return no('signature_invalid');
  return txidOf(signatures) === signed.txid ? null : no('txid_mismatch');
}
