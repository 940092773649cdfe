/**
 * A data key under an AES key of a PKCS#11 token: the wrapping key never leaves the token; signing stays in process.
 */
import type { KeyWrap } from './key-wrap.ts';
import { KeystoreError } from './keystore-error.ts';
import { withToken, type TokenSettings } from './pkcs11.ts';
import { KEY_BYTES } from './sealing.ts';

/**
 * A wrap by the token's key; the key is made when the token has none and a keystore is created. `pin` stays the
 * caller's.
 */
export function createPkcs11Wrap(settings: TokenSettings, pin: Buffer): KeyWrap {
  return {
    kind: 'pkcs11',
    wrap: (dataKey) =>
      withToken(settings, pin, (session) => {
        const wrapped = session.wrap(session.findKey(settings.key) ?? session.generateKey(settings.key), dataKey);
        return {
          kind: 'pkcs11',
          mechanism: 'aes-key-wrap',
          token: settings.token,
          label: settings.key,
          key: wrapped.toString('hex'),
        };
      }),
    async unwrap(wrapped) {
      if (wrapped.kind !== 'pkcs11')
        throw new KeystoreError('KEYSTORE_LOCKED', 'a passphrase opens it: leave EDGE_PKCS11_MODULE out');
      return withToken(settings, pin, (session) => {
        const key = session.findKey(wrapped.label);
        if (key === null) throw new KeystoreError('MODULE_UNAVAILABLE', 'the token has no key of that label');
        const dataKey = session.unwrap(key, Buffer.from(wrapped.key, 'hex'));
        if (dataKey === null || dataKey.length !== KEY_BYTES)
          throw new KeystoreError('KEYSTORE_LOCKED', 'the token does not unwrap it');
        return dataKey;
      });
    },
  };
}
