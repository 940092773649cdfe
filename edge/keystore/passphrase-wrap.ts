/** A data key under a passphrase: scrypt to a key, AES-256-GCM over the data key, its parameters bound as context. */
import { randomBytes, scrypt } from 'node:crypto';
import type { KeyWrap, WrappedKey } from './key-wrap.ts';
import { KeystoreError } from './keystore-error.ts';
import { KEY_BYTES, seal, unseal } from './sealing.ts';

/** Passphrases with fewer characters are refused when a keystore is made. */
export const PASSPHRASE_CHARS_MIN = 12;
/**
 * 128 MiB and about half a second for each guess. Source: RFC 7914 §2; OWASP Password Storage, N = 2^17, r = 8, p = 1.
 */
const COST = { n: 2 ** 17, r: 8, p: 1 } as const;
/** Bounds of what a file may ask for: cheaper would be a trap, dearer would exhaust the machine. */
const N_MIN = 2 ** 14,
  N_MAX = 2 ** 20,
  R_MAX = 16,
  P_MAX = 4,
  MEMORY_BYTES_MAX = 512 * 1_024 * 1_024;
const SALT_BYTES = 16;

type Cost = Readonly<Record<'n' | 'r' | 'p', number>>;

/** A wrap under a passphrase of UTF-8 bytes, which stay the caller's to zero. `cost` is for tests. */
export function createPassphraseWrap(passphrase: Buffer, cost: Cost = COST): KeyWrap {
  return {
    kind: 'passphrase',
    async wrap(dataKey) {
      if (passphrase.toString('utf8').length < PASSPHRASE_CHARS_MIN) throw new KeystoreError('PASSPHRASE_WEAK');
      const salt = randomBytes(SALT_BYTES);
      const key = await keyOf(passphrase, salt, cost);
      const parameters = { ...cost, salt: salt.toString('hex') };
      try {
        return {
          kind: 'passphrase',
          kdf: 'scrypt',
          ...parameters,
          key: seal(key, dataKey, contextOf(parameters)).toString('hex'),
        };
      } finally {
        key.fill(0);
      }
    },
    async unwrap(wrapped) {
      if (wrapped.kind !== 'passphrase')
        throw new KeystoreError('KEYSTORE_LOCKED', 'a PKCS#11 token opens it: set EDGE_PKCS11_MODULE');
      checkCost(wrapped);
      const key = await keyOf(passphrase, Buffer.from(wrapped.salt, 'hex'), wrapped);
      const dataKey = unseal(key, Buffer.from(wrapped.key, 'hex'), contextOf(wrapped));
      key.fill(0);
      if (dataKey === null || dataKey.length !== KEY_BYTES) throw new KeystoreError('KEYSTORE_LOCKED');
      return dataKey;
    },
  };
}

/** Bytes that scrypt takes. Source: RFC 7914 §2, §5: B, V and one block to mix in. */
function memoryOf({ n, r, p }: Cost): number {
  return 128 * r * (n + p + 2);
}

function checkCost({ n, r, p }: Extract<WrappedKey, { kind: 'passphrase' }>): void {
  const sound =
    Number.isInteger(Math.log2(n)) &&
    n >= N_MIN &&
    n <= N_MAX &&
    r >= 1 &&
    r <= R_MAX &&
    p >= 1 &&
    p <= P_MAX &&
    memoryOf({ n, r, p }) <= MEMORY_BYTES_MAX;
  if (!sound) throw new KeystoreError('KEYSTORE_UNSUPPORTED', 'cost of scrypt');
}

function contextOf({ n, r, p, salt }: Cost & { readonly salt: string }): Buffer {
  return Buffer.from(`flock-keystore data key scrypt ${n} ${r} ${p} ${salt}`);
}

function keyOf(passphrase: Buffer, salt: Buffer, { n, r, p }: Cost): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(passphrase, salt, KEY_BYTES, { N: n, r, p, maxmem: 128 * n * r * p * 2 }, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}
