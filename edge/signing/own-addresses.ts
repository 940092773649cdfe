/**
 * The addresses of this edge's own phrase, by absolute path: what the cloud says of an address is compared with these.
 * The secp256k1 families derive from extended public keys, the Ed25519 families from the keystore.
 */
import { factsOf, networkOf } from '../../chains/registry.ts';
import { FAMILY_OF, type Chain } from '../../protocol/slugs.ts';
import type { Keystore } from '../keystore/keystore.ts';
import { NO_FORMER_IDENTITIES, type FormerIdentities } from './former-identities.ts';

/** Derived addresses in memory; the least recently used one is dropped first. */
const KEPT_MAX = 20_000;
const HARDENED = 0x8000_0000;
/** Two children of an extended key and an address; a source's key has five levels below it at most. */
const STEPS_PER_ADDRESS = 4;
/** No path of 255 steps is longer. Every number in a path is tried as an index, so its length is bounded. */
const PATH_CHARACTERS_MAX = 4_000;

export interface OwnPaths {
  readonly gasTank: string | null;
  readonly treasury: string | null;
}

export class OwnAddresses {
  readonly #keystore: Pick<Keystore, 'accountXpub' | 'addressAt' | 'sourceAddressAt' | 'hasSource'>;
  readonly #former: FormerIdentities;
  readonly #kept = new Map<string, string>();
  #steps = 0;

  constructor(
    keystore: Pick<Keystore, 'accountXpub' | 'addressAt' | 'sourceAddressAt' | 'hasSource'>,
    former: FormerIdentities = NO_FORMER_IDENTITIES,
  ) {
    this.#keystore = keystore;
    this.#former = former;
  }

  /**
   * Derivation steps since the start, a tenth to a third of a millisecond each: the unit in which the work on an answer
   * is bounded.
   */
  get steps(): number {
    return this.#steps;
  }

  /** The address at an absolute path of the chain's template; null for any other path. */
  addressAt(chain: Chain, path: string): string | null {
    if (path.length > PATH_CHARACTERS_MAX) return null;
    const key = `${FAMILY_OF[chain]} ${path}`;
    const kept = this.#kept.get(key);
    const address = kept ?? this.#derive(chain, path);
    if (address === null) return null;
    this.#kept.delete(key);
    this.#kept.set(key, address);
    if (this.#kept.size > KEPT_MAX) this.#kept.delete(this.#kept.keys().next().value!);
    return address;
  }

  /**
   * Whether an origin names a key that this edge does not have: that of a retired identity or another replica's source.
   */
  isForeign(path: string): boolean {
    return path.startsWith('[') && !(this.#keystore.hasSource?.(path) ?? false);
  }

  /**
   * Whether an address that was lent to a payer is a customers' one of this edge: of its phrase, or of one that it ran
   * with before. A source's key or an adopted address is never lent. payments P25, V9.
   */
  isLentAt(chain: Chain, path: string, address: string): boolean {
    if (this.depositPosition(chain, path) !== null && this.addressAt(chain, path) === address) return true;
    this.#steps += STEPS_PER_ADDRESS;
    return this.#former.addressesAt(chain, path).includes(address);
  }

  /** Spec §2.10: gas tank and derived treasury. The Ed25519 chains have no derived treasury (decisions 3). */
  paths(chain: Chain): OwnPaths {
    const { derivation } = factsOf(chain);
    const { accountPath } = networkOf(chain);
    return derivation.kind === 'xpub'
      ? { gasTank: `${accountPath}/1/0`, treasury: `${accountPath}/1/1` }
      : { gasTank: derivation.gasTankPath, treasury: null };
  }

  /** Index of a deposit path of the template; null for any other path. */
  depositPosition(chain: Chain, path: string): number | null {
    if (path.length > PATH_CHARACTERS_MAX) return null;
    const { derivation } = factsOf(chain);
    const pathAt =
      derivation.kind === 'xpub'
        ? (index: number) => `${networkOf(chain).accountPath}/0/${index}`
        : derivation.depositPath;
    const found = [...path.matchAll(/[0-9]+/g)]
      .map(([digits]) => Number(digits))
      .find((index) => index < HARDENED && pathAt(index) === path);
    return found ?? null;
  }

  #derive(chain: Chain, path: string): string | null {
    this.#steps += STEPS_PER_ADDRESS;
    if (path.startsWith('[')) return this.#keystore.sourceAddressAt?.(chain, path) ?? null;
    const { derivation } = factsOf(chain);
    const network = networkOf(chain);
    if (derivation.kind === 'xpub') {
      const xpub = this.#keystore.accountXpub(FAMILY_OF[chain]);
      const below = path.startsWith(`${network.accountPath}/`) ? path.slice(network.accountPath.length + 1) : '';
      const [, change, index] = /^([01])\/(0|[1-9][0-9]{0,9})$/.exec(below) ?? [];
      if (xpub === null || index === undefined || Number(index) >= HARDENED) return null;
      return derivation.deriveAddress(network, xpub, change === '0' ? 0 : 1, Number(index)).address;
    }
    const isTemplate =
      path === derivation.gasTankPath ||
      [...path.matchAll(/[0-9]+/g)].some(
        ([digits]) => Number(digits) < HARDENED && derivation.depositPath(Number(digits)) === path,
      );
    return isTemplate ? this.#keystore.addressAt(chain, path) : null;
  }
}
