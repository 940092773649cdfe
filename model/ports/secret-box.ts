/** Secrets at rest. */

/**
 * Seals secrets at rest with AES-256-GCM; `context` is bound as additional data so that ciphertexts cannot be
 * swapped.
 */
export interface SecretBox {
  seal(plain: string, context: string): string;
  open(sealed: string, context: string): string;
  /** Names a text without saying it: HMAC-SHA-256 under the first key, base64url. */
  mac(text: string, context: string): string;
}
