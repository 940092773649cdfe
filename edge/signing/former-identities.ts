/**
 * Identities that this edge ran with before, by their public keys: money still comes to their addresses, and what the
 * cloud says of these is compared as well. An edge whose data directory never saw an identity derives nothing of it.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { factsOf, networkOf } from '../../chains/registry.ts';
import { CHAINS, FAMILY_OF, type Chain, type Family } from '../../protocol/slugs.ts';
import type { Keystore } from '../keystore/keystore.ts';
import type { Storage } from '../storage/storage.ts';

const SETTING = 'identity_keys';
/** Identities that are remembered: a rotation is a rare event, and the newest count. */
const KEPT_MAX = 64;

const kept = z.array(z.object({ fingerprint: z.string(), keys: z.record(z.string(), z.string()) }));
type Kept = z.infer<typeof kept>;

export interface FormerIdentities {
  /**
   * The customers' address of the chain at an origin `[fingerprint/path]` of an identity of before; of a path `m/…` the
   * one of each of them. Empty where none of them leads there.
   */
  addressesAt(chain: Chain, path: string): readonly string[];
}

/** As the cloud names a retired identity: first 16 hex digits of SHA-256 of its public key in hex. */
const fingerprintOf = (publicKey: string): string => createHash('sha256').update(publicKey).digest('hex').slice(0, 16);

const keysOf = (keystore: Pick<Keystore, 'accountXpub'>): Record<string, string> =>
  Object.fromEntries(
    [...new Set(CHAINS.map((chain) => FAMILY_OF[chain]))].flatMap((family) => {
      const xpub = keystore.accountXpub(family);
      return xpub === null ? [] : [[family, xpub]];
    }),
  );

/** Remembers the identity of this start, and knows those of before. Throws: StorageFailed. */
export function openFormerIdentities(
  storage: Pick<Storage, 'setting' | 'setSetting'>,
  keystore: Pick<Keystore, 'accountXpub' | 'identity'>,
): FormerIdentities {
  const fingerprint = fingerprintOf(keystore.identity.publicKey);
  const parsed = kept.safeParse(JSON.parse(storage.setting(SETTING) ?? '[]'));
  const former: Kept = (parsed.success ? parsed.data : []).filter((one) => one.fingerprint !== fingerprint);
  const now = JSON.stringify([...former, { fingerprint, keys: keysOf(keystore) }].slice(-KEPT_MAX));
  if (storage.setting(SETTING) !== now) storage.setSetting(SETTING, now);
  return { addressesAt: (chain, path) => addressesAt(former, chain, path) };
}

function addressesAt(former: Kept, chain: Chain, path: string): string[] {
  const [, fingerprint, below] = /^(?:m|\[([0-9a-f]{16}))((?:\/[0-9]{1,10}'?)+)\]?$/.exec(path) ?? [];
  if (below === undefined) return [];
  const at = indexOf(chain, `m${below}`);
  if (at === null) return [];
  return former
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
