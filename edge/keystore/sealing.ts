/**
 * Authenticated encryption of the keystore: AES-256-GCM with a random nonce. What is sealed is bound to its context, so
 * that nothing can be moved to another place or under another header.
 *
 *   sealed = nonce(12) || ciphertext || tag(16). Source: NIST SP 800-38D.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

export const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Ciphertext of `plain` under a 32-byte key, bound to `context`. */
export function seal(key: Uint8Array, plain: Uint8Array, context: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(context);
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** What was sealed, or null when key, context or any bit of it differs. The caller zeroes what it gets. */
export function unseal(key: Uint8Array, sealed: Uint8Array, context: Uint8Array): Buffer | null {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return null;
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(context);
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  const plain = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
  try {
    decipher.final();
    return plain;
  } catch {
    plain.fill(0);
    return null;
  }
}

/** A key of its own for one use of a data key. Source: RFC 5869. */
export function subkey(dataKey: Uint8Array, use: string): Buffer {
  return Buffer.from(hkdfSync('sha256', dataKey, Buffer.alloc(0), `flock-keystore ${use}`, KEY_BYTES));
}
