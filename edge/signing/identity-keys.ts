/**
 * The public keys that the data directory keeps of each phrase that this edge started with, or that the operator added:
 * the record behind `former-identities.ts` and `flock-edge identities`. One that cannot be read is never written over:
 * the former phrases may be nowhere else.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { parseXpub } from '../../chains/secp256k1.ts';
import { CHAINS, FAMILY_OF } from '../../protocol/slugs.ts';
import { isRefusal } from '../../protocol/errors.ts';
import type { Keystore } from '../keystore/keystore.ts';
import type { Storage } from '../storage/storage.ts';

const SETTING = 'identity_keys';
/** Identities that are remembered: a rotation is a rare event, and the newest count. */
export const KEPT_MAX = 64;

const kept = z.array(
  z.object({
    fingerprint: z.string().regex(/^[0-9a-f]{16}$/),
    /** Extended public key of each family's account. */
    keys: z.record(
      z.string(),
      z.string().refine((text) => !isRefusal(parseXpub(text))),
    ),
    /** By the operator's command; an edge never started with it here. */
    added: z.literal(true).optional(),
  }),
);
/** Oldest first; the last one that no command added is the one of the newest start. */
export type KeptIdentity = z.infer<typeof kept>[number];

/** Sealed: extended public keys name every address of a phrase, and are nothing for a copy of the database. */
type Settings = Pick<Storage, 'sealedSetting' | 'setSealedSetting'>;

/** Why the record cannot be used, and what to do: the words after the name of the setting. */
export const UNREADABLE =
  'the public keys of former phrases that it keeps cannot be read: restore the directory from a backup, or give them up with `flock-edge identities forget --all` and add each former phrase again with `flock-edge identities add`';

/** What is kept; null where it cannot be read. Throws: StorageFailed. */
export function keptIdentities(storage: Pick<Settings, 'sealedSetting'>): readonly KeptIdentity[] | null {
  const text = storage.sealedSetting(SETTING);
  if (text === null) return [];
  try {
    return kept.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/** Durable when it returns. Throws: StorageFailed. */
export function keepIdentities(storage: Settings, identities: readonly KeptIdentity[]): void {
  const text = identities.length === 0 ? null : JSON.stringify(identities);
  if (storage.sealedSetting(SETTING) !== text) storage.setSealedSetting(SETTING, text);
}

/** What is kept of a phrase: nothing of it can sign. */
export function identityOf(keystore: Pick<Keystore, 'accountXpub' | 'identity'>): KeptIdentity {
  return { fingerprint: fingerprintOf(keystore.identity.publicKey), keys: keysOf(keystore) };
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
