/** The keystore of a phrase: its seed in one Buffer, zeroed when the edge stops. */
import { networkOf } from '../../chains/registry.ts';
import { CHAINS, FAMILY_OF, type Family } from '../../protocol/slugs.ts';
import { createIdentity } from '../link/identity.ts';
import { accountXpub, curveOf, derivePrivateKey, identityKeyPair, pooledAddressAt } from './keys.ts';
import type { Keystore } from './keystore.ts';

/** Takes the seed over: the caller keeps no copy. */
export function createPhraseKeystore(seed: Buffer): Keystore {
  let open = true;
  const xpubs = new Map<Family, string>();
  const identityKey = identityKeyPair(seed);
  const identity = createIdentity(identityKey.privateKey);
  identityKey.privateKey.fill(0);
  const live = () => {
    if (!open) throw new Error('the keystore is closed');
    return seed;
  };
  return {
    identity,
    accountXpub(family) {
      const kept = xpubs.get(family);
      if (kept !== undefined) return kept;
      const chain = CHAINS.find((slug) => FAMILY_OF[slug] === family)!;
      if (curveOf(chain) === 'ed25519') return null;
      const xpub = accountXpub(live(), networkOf(chain).accountPath);
      xpubs.set(family, xpub);
      return xpub;
    },
    addressAt: (chain, path) => pooledAddressAt(live(), chain, path),
    withKey(chain, path, use) {
      const privateKey = derivePrivateKey(live(), curveOf(chain), path);
      try {
        return use({ privateKey });
      } finally {
        privateKey.fill(0);
      }
    },
    stop() {
      open = false;
      seed.fill(0);
    },
  };
}
