/**
 * What can be wrong with a keystore file or with a key that is imported: stable codes, and no word of what was read.
 */

export const KEYSTORE_CODES = {
  KEYSTORE_MISSING: 'there is no keystore at this place',
  KEYSTORE_UNAVAILABLE: 'the keystore cannot be read or written',
  KEYSTORE_BUSY: 'another command is writing the keystore',
  KEYSTORE_DAMAGED: 'the keystore is cut short, altered or no keystore',
  KEYSTORE_UNSUPPORTED: 'the keystore was written by another version than this one reads',
  KEYSTORE_LOCKED: 'the passphrase, PIN or token does not open this keystore',
  PASSPHRASE_WEAK: 'a passphrase of a keystore has at least 12 characters',
  MODULE_UNAVAILABLE: 'the PKCS#11 module, its token or its key cannot be used',
  KEY_NOT_UNDERSTOOD: 'this is no phrase or key of the kind that was named',
  SOURCE_UNKNOWN: 'the keystore has no such source',
  SOURCE_KNOWN: 'the keystore has this source already',
  SOURCES_FULL:
    'the keystore takes 10,000 sources and no more: purge none, use another edge with a keystore of its own',
  SOURCE_PURGED: 'the key material of this source is gone',
  OTHER_ENVIRONMENT: 'this source is registered in the other environment',
  PATH_UNKNOWN: 'none of the known paths leads to this address',
} as const;
export type KeystoreCode = keyof typeof KEYSTORE_CODES;

/** An expected "no" of the keystore. Its message is written for people and never quotes input. */
export class KeystoreError extends Error {
  readonly code: KeystoreCode;
  constructor(code: KeystoreCode, detail?: string) {
    super(`${code}: ${KEYSTORE_CODES[code]}${detail === undefined ? '' : ` (${detail})`}`);
    this.name = 'KeystoreError';
    this.code = code;
  }
}
