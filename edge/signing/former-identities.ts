/**
 * Identities that this edge ran with before, by their public keys: money still comes to their addresses, and what the
 * cloud says of these is compared as well. An edge whose data directory never saw an identity derives nothing of it.
 */
import { factsOf, networkOf } from '../../chains/registry.ts';
import { FAMILY_OF, type Chain, type Family } from '../../protocol/slugs.ts';
import type { Keystore } from '../keystore/keystore.ts';
import type { Storage } from '../storage/storage.ts';
import {
  identityOf,
  keepIdentities,
  KEPT_MAX,
  keptIdentities,
  UNREADABLE,
  type KeptIdentity,
} from './identity-keys.ts';

export interface FormerIdentities {
  /**
   * The customers' address of the chain at an origin `[fingerprint/path]` of an identity of before, or of this one; of
   * a path `m/…` the one of each of them. Empty where none of them leads there.
   */
  addressesAt(chain: Chain, path: string): readonly string[];
}

/**
 * Remembers the identity of this start, and knows it and those of before: of one that came back, the cloud names its
 * earlier addresses by its fingerprint for ever. In words why the record cannot be used. Throws: StorageFailed.
 */
export function openFormerIdentities(
  storage: Pick<Storage, 'sealedSetting' | 'setSealedSetting'>,
  keystore: Pick<Keystore, 'accountXpub' | 'identity'>,
): FormerIdentities | string {
  const kept = keptIdentities(storage),
    present = identityOf(keystore);
  if (kept === null) return UNREADABLE;
  const known = [...kept.filter(({ fingerprint }) => fingerprint !== present.fingerprint), present].slice(-KEPT_MAX);
  keepIdentities(storage, known);
  return { addressesAt: (chain, path) => addressesAt(known, chain, path) };
}

function addressesAt(known: readonly KeptIdentity[], chain: Chain, path: string): string[] {
  const [, fingerprint, below] = /^(?:m|\[([0-9a-f]{16}))((?:\/[0-9]{1,10}'?)+)\]?$/.exec(path) ?? [];
  if (below === undefined) return [];
  const at = indexOf(chain, `m${below}`);
  if (at === null) return [];
  return known
    .filter((one) => fingerprint === undefined || one.fingerprint === fingerprint)
    .flatMap(({ keys }) => derived(chain, keys[FAMILY_OF[chain] satisfies Family], at));
}

function indexOf(chain: Chain, path: string): number | null {
  const { accountPath } = networkOf(chain);
  const [, index] = path.startsWith(`${accountPath}/`)
    ? (/^0\/(0|[1-9][0-9]{0,9})$/.exec(path.slice(accountPath.length + 1)) ?? [])
    : [];
  return index === undefined || Number(index) >= 0x8000_0000 ? null : Number(index);
}

function derived(chain: Chain, xpub: string | undefined, index: number): string[] {
  const { derivation } = factsOf(chain);
  return derivation.kind !== 'xpub' || xpub === undefined
    ? []
    : [derivation.deriveAddress(networkOf(chain), xpub, 0, index).address];
}

/** Of an edge that ran with one identity only. */
export const NO_FORMER_IDENTITIES: FormerIdentities = { addressesAt: () => [] };
