/**
 * The keystore of a running edge: its own phrase, from the settings or from the keystore file, and the sources that an
 * operator registered beside it. A source signs for its registered EVM addresses and for nothing else; one that is
 * purged in the file is gone from the running edge with the next signature. Spec §4.8.
 */
import { refuse, type Refusal } from '../../protocol/errors.ts';
import { FAMILY_OF, type Chain } from '../../protocol/slugs.ts';
import { ConfigurationError, type Phrase } from '../config.ts';
import { derivePrivateKey, seedOf } from './keys.ts';
import type { KeyFile } from './key-file.ts';
import { KeystoreError } from './keystore-error.ts';
import type { Keystore } from './keystore.ts';
import { createPhraseKeystore } from './phrase-keystore.ts';
import { openKeystore, type KeystoreSettings } from './settings.ts';
import { addressOfSourceKey } from './source-address.ts';
import { originOf, parseOrigin, type SourceRecord } from './source-record.ts';
import type { SigningKey } from '../signing/signers/signer.ts';

/**
 * The keystore that the settings describe.
 * Throws: ConfigurationError when it does not open, or when nobody has named the edge's own phrase.
 */
export async function openEdgeKeystore(phrase: Phrase | null, settings: KeystoreSettings | null): Promise<Keystore> {
  try {
    const file = settings === null ? null : await openKeystore(settings);
    const seed = phrase !== null ? seedOf(phrase.mnemonic, phrase.passphrase) : ownSeed(file);
    const own = createPhraseKeystore(seed);
    return file === null ? own : withSources(own, file);
  } catch (error) {
    if (error instanceof KeystoreError) throw new ConfigurationError([`EDGE_KEYSTORE_FILE: ${error.message}`]);
    throw error;
  }
}

/** Seed of the edge's own phrase in a keystore; the caller zeroes it. Throws: KeystoreError SOURCE_UNKNOWN. */
export function ownSeed(file: KeyFile | null): Buffer {
  const own = file?.sources.find((source) => source.own && source.purgedAt === null);
  if (file == null || own === undefined)
    throw new KeystoreError('SOURCE_UNKNOWN', 'it holds no own phrase: import one with --own, or set MNEMONIC_FILE');
  return file.withSecret(own.fingerprint, (secret) => Buffer.from(secret));
}

/** A keystore that knows the sources of a file beside the edge's own phrase. */
export function withSources(own: Keystore, file: KeyFile): Keystore {
  return {
    identity: own.identity,
    accountXpub: (family) => own.accountXpub(family),
    addressAt: (chain, path) => own.addressAt(chain, path),
    sourceAddressAt: (chain, path) => addressAtOrigin(file, chain, path),
    hasSource: (path) => !refreshed(file) || file.find(parseOrigin(path)?.fingerprint ?? '') !== null,
    refuseToLend: (chain, path) => (parseOrigin(path) === null ? null : sourceRefusal(file, chain, path)),
    withKey<T>(chain: Chain, path: string, use: (key: SigningKey) => T): T {
      const origin = parseOrigin(path);
      if (origin === null) return own.withKey(chain, path, use);
      const refusal = sourceRefusal(file, chain, path);
      if (refusal !== null) throw new KeystoreError('SOURCE_UNKNOWN', String(refusal.details['reason']));
      return file.withSecret(origin.fingerprint, (secret) => lend(secret, origin.path, use));
    },
    stop() {
      own.stop();
      file.close();
    },
  };
}

function lend<T>(secret: Buffer, path: string | null, use: (key: SigningKey) => T): T {
  if (path === null) return use({ privateKey: secret });
  const privateKey = derivePrivateKey(secret, 'secp256k1', path);
  try {
    return use({ privateKey });
  } finally {
    privateKey.fill(0);
  }
}

/** Public: an address of a purged source is still known, because it is still monitored. */
function addressAtOrigin(file: KeyFile, chain: Chain, text: string): string | null {
  const origin = parseOrigin(text);
  if (origin === null || !refreshed(file)) return null;
  const source = file.find(origin.fingerprint);
  const keys = source?.keys.filter(({ family }) => family === FAMILY_OF[chain]) ?? [];
  for (const key of keys) {
    const address = addressOfSourceKey(key, origin.path);
    if (address !== null) return address;
  }
  return null;
}

/** Refuses: ADDRESS_WATCH_ONLY with the reason. */
function sourceRefusal(file: KeyFile, chain: Chain, path: string): Refusal | null {
  const watchOnly = (reason: string) => refuse('ADDRESS_WATCH_ONLY', { reason });
  if (!refreshed(file)) return watchOnly('keystore_unreadable');
  const { fingerprint } = parseOrigin(path)!;
  const source = file.find(fingerprint);
  if (source === null) return watchOnly('unknown_source');
  if (source.purgedAt !== null) return watchOnly('source_purged');
  if (FAMILY_OF[chain] !== 'evm') return watchOnly('family_not_signed');
  return isRegistered(source, path) ? null : watchOnly('address_not_registered');
}

function isRegistered(source: SourceRecord, path: string): boolean {
  return (
    source.addresses.some((address) => originOf(source.fingerprint, address.path) === path) ||
    isBelowBranch(source, parseOrigin(path)!.path)
  );
}

/** Exactly one step below a branch that the operator allowed, not above its bound. Migration M-K5. */
function isBelowBranch({ branches = [] }: SourceRecord, path: string | null): boolean {
  return branches.some((branch) => {
    if (path?.startsWith(`${branch.path}/`) !== true) return false;
    const step = path.slice(branch.path.length + 1);
    return /^(?:0|[1-9][0-9]{0,9})$/.test(step) && Number(step) <= branch.to;
  });
}

/** False when the file is there and cannot be read: what it says now is not known, so nothing of it is lent. */
function refreshed(file: KeyFile): boolean {
  try {
    file.refresh();
    return true;
  } catch (error) {
    if (error instanceof KeystoreError) return false;
    throw error;
  }
}
