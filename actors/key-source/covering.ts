/** Addresses that a key source covers without having registered them. Spec §4.8. */
import secp256k1 from 'secp256k1';
import { addressOfKey as bitcoinAddress, SCRIPT_TYPES } from '../../chains/btc/derive.ts';
import { bitcoin } from '../../chains/btc/network.ts';
import { derivePublicKey } from '../../chains/secp256k1.ts';
import { addressOfKey as tronAddress } from '../../chains/tron/derive.ts';
import { addressOfKey as rippleAddress } from '../../chains/xrp/derive.ts';
import type { SourceKey } from '../../model/account/key-source.ts';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import { FAMILY_OF, type Chain } from '../../protocol/slugs.ts';
import { KEY_ONLY_FAMILIES, sourcesOf, whyNotSigned } from './decide.ts';

/** Convention for how far a wallet is searched. Spec §2.12: gap limit 20. */
const INDEXES_COVERED = 20;
/** Sets of addresses that are kept, the oldest dropped; about 10 kB each. */
const COVERED_KEPT_MAX = 256;
const covered = new Map<string, ReadonlySet<string>>();

/**
 * For an address that the account does not have: a source of a family that registers a key and no addresses may cover
 * it, and then it is known and cannot be signed for. Refuses: ADDRESS_WATCH_ONLY.
 */
export function coveredBySource(state: Parameters<typeof sourcesOf>[0], chain: Chain, address: string): Refusal | null {
  const family = FAMILY_OF[chain];
  if (!KEY_ONLY_FAMILIES.includes(family)) return null;
  const sources = Object.values(sourcesOf(state));
  const covering = sources.find(({ keys }) =>
    keys.some((key) => key.family === family && addressesOf(key).has(address)),
  );
  return covering === undefined
    ? null
    : refuse('ADDRESS_WATCH_ONLY', { reason: whyNotSigned(covering, chain), keySourceId: covering.id });
}

function addressesOf(key: SourceKey): ReadonlySet<string> {
  const name = `${key.family} ${key.xpub ?? key.publicKey}`;
  const kept = covered.get(name);
  if (kept !== undefined) return kept;
  const made = new Set(publicKeysOf(key).flatMap((publicKey) => formsOf(key, publicKey)));
  if (covered.size >= COVERED_KEPT_MAX) covered.delete(covered.keys().next().value!);
  covered.set(name, made);
  return made;
}

function publicKeysOf({ xpub, publicKey }: SourceKey): Uint8Array[] {
  if (xpub === null) return [Buffer.from(publicKey!, 'hex')];
  return ([0, 1] as const).flatMap((change) =>
    Array.from({ length: INDEXES_COVERED }, (_, index) => derivePublicKey(xpub, change, index)),
  );
}

function formsOf({ family }: SourceKey, publicKey: Uint8Array): string[] {
  switch (family) {
    case 'tron':
      return [tronAddress(secp256k1.publicKeyConvert(publicKey, false))];
    case 'xrp':
      return [rippleAddress(publicKey)];
    default: {
      // An uncompressed key has no segregated witness form. Source: BIP-143.
      const scripts = publicKey.length === 33 ? SCRIPT_TYPES : (['p2pkh'] as const);
      return scripts.map((script) => bitcoinAddress(bitcoin.prefixes, publicKey, script));
    }
  }
}
