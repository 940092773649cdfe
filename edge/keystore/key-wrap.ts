/**
 * What holds the keystore's data key: a passphrase (passphrase-wrap.ts) or an AES key inside a PKCS#11 token
 * (pkcs11-wrap.ts). The data key exists outside of it only in the memory of a process that was allowed to open it.
 */

/** As the header of the file has it. */
export type WrappedKey =
  | {
      readonly kind: 'passphrase';
      readonly kdf: 'scrypt';
      readonly n: number;
      readonly r: number;
      readonly p: number;
      /** Hex: salt, and the sealed data key. */
      readonly salt: string;
      readonly key: string;
    }
  | {
      readonly kind: 'pkcs11';
      readonly mechanism: 'aes-key-wrap';
      readonly token: string;
      readonly label: string;
      /** Hex: the data key as the token wrapped it. */
      readonly key: string;
    };

export interface KeyWrap {
  readonly kind: WrappedKey['kind'];
  /** Wraps a fresh 32-byte data key. Throws: KeystoreError. */
  wrap(dataKey: Buffer): Promise<WrappedKey>;
  /**
   * The data key; the caller zeroes it. Throws: KeystoreError KEYSTORE_LOCKED, KEYSTORE_UNSUPPORTED,
   * MODULE_UNAVAILABLE.
   */
  unwrap(wrapped: WrappedKey): Promise<Buffer>;
}
