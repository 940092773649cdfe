/** The edge's Ed25519 identity: it signs every request to the cloud and every record of a local key. Spec §5.3. */
import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';

/** DER header of an Ed25519 private key: what follows is the 32-byte seed. Source: RFC 8410 §7. */
const PKCS8_HEADER = Buffer.from('302e020100300506032b657004220420', 'hex');
/** DER header of an Ed25519 public key: what follows is the 32-byte key. Source: RFC 8410 §4. */
const SPKI_HEADER = Buffer.from('302a300506032b6570032100', 'hex');

export interface Identity {
  /** 64 hex digits, lower case: the `keyid` of its signatures. */
  readonly publicKey: string;
  /** 64-byte Ed25519 signature. */
  sign(message: Uint8Array): Buffer;
}

/**
 * The identity of a 32-byte Ed25519 private key. The bytes are copied into the crypto library; the caller zeroes its
 * own.
 */
export function createIdentity(privateKey: Uint8Array): Identity {
  const der = Buffer.concat([PKCS8_HEADER, privateKey]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  der.fill(0);
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  return {
    publicKey: spki.subarray(SPKI_HEADER.length).toString('hex'),
    sign: (message) => sign(null, message, key),
  };
}

/** Key object of a public key in hex, to be kept: parsing it each time costs a third of a verification. */
export function publicKeyOf(hex: string): KeyObject {
  return createPublicKey({ key: Buffer.concat([SPKI_HEADER, Buffer.from(hex, 'hex')]), format: 'der', type: 'spki' });
}

/** Whether a signature in hex is the key's over the message. */
export function isSignedBy(key: KeyObject, message: Uint8Array, signatureHex: string): boolean {
  return signatureHex.length === 128 && verify(null, message, key, Buffer.from(signatureHex, 'hex'));
}
