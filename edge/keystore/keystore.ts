/**
 * Where the keys are. The rest of the edge asks for public keys and addresses, and borrows a private key for one
 * signature. Implementations: a phrase in memory (`phrase-keystore.ts`), and beside it the registered sources of a
 * keystore file (`./key-sources.ts`).
 */
import type { Refusal } from '../../protocol/errors.ts';
import type { Chain, Family } from '../../protocol/slugs.ts';
import type { Identity } from '../link/identity.ts';
import type { SigningKey } from '../signing/signers/signer.ts';

export interface Keystore {
  readonly identity: Identity;
  /** Extended public key at the family's account path; null for the Ed25519 families. */
  accountXpub(family: Family): string | null;
  /** Address at an absolute path. Throws: RangeError for a path that the chain's curve has no key at. */
  addressAt(chain: Chain, path: string): string;
  /** Lends the private key at a path for the time of one call; its bytes are zero afterwards. */
  withKey<T>(chain: Chain, path: string, use: (key: SigningKey) => T): T;
  /** Address at a source's origin (`[fingerprint/path]`), or null where this keystore has no such source. */
  sourceAddressAt?(chain: Chain, origin: string): string | null;
  /**
   * Whether the source that an origin names is one of this keystore's, purged or not; a keystore that cannot be read
   * may have it.
   */
  hasSource?(origin: string): boolean;
  /** Whether the key of a path may not be lent. Refuses: ADDRESS_WATCH_ONLY. */
  refuseToLend?(chain: Chain, path: string): Refusal | null;
  /** Forgets everything secret. No key can be borrowed afterwards. */
  stop(): void;
}
