/** Phrases and keys from elsewhere. Spec §2.12. */
import type { Chain, Family } from '../../protocol/slugs.ts';

/** A public key of a source: extended at a path, or single. */
export interface SourceKey {
  family: Family;
  path: string | null;
  xpub: string | null;
  publicKey: string | null;
}

export type PushedSourceKey = { chain: Chain; path: string; xpub: string } | { chain: Chain; publicKey: string };

/** A phrase or key from elsewhere that the edge registered. Spec §2.12. */
export interface KeySource {
  id: string;
  fingerprint: string;
  label: string;
  kind: 'phrase' | 'key';
  keystore: 'file' | 'pkcs11';
  chains: Chain[];
  keys: SourceKey[];
  /** Count of its addresses; they themselves are rows. */
  addresses: number;
  registeredAtMs: number;
  purgedAtMs: number | null;
}

export interface KeySourceState {
  /** By id. */
  keySources: Record<string, KeySource>;
}

export type KeySourceCommand =
  /** `known`: of the pushed addresses those that the account has already. `addressIds`: one for each pushed address. */
  | {
      type: 'register_key_source';
      publicKey: string;
      id: string;
      fingerprint: string;
      label: string;
      kind: KeySource['kind'];
      keystore: KeySource['keystore'];
      chains: Chain[];
      keys: PushedSourceKey[];
      addresses: { chain: Chain; index: number; path: string | null; address: string }[];
      known: string[];
      addressIds: string[];
    }
  | { type: 'purge_key_source'; publicKey: string; id: string };

export type KeySourceEvent =
  /** `added` addresses are new; `chains` are theirs. */
  | { type: 'key_source_registered'; source: KeySource; added: number; chains: Chain[] }
  | { type: 'key_source_purged'; id: string; atMs: number };

export interface KeySourceReplies {
  register_key_source: { source: KeySource; added: number; skipped: number };
  purge_key_source: KeySource;
}

export const KEY_SOURCE_INITIAL: KeySourceState = { keySources: {} };
