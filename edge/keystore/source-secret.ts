/**
 * From what an operator types to a source: a phrase, or a single key in the form of its chain. What is not exactly of
 * the named kind is refused; the refusal says what was expected and repeats nothing.
 */
import { createHash } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58xrp, createBase58check } from '@scure/base';
import { HDKey } from '@scure/bip32';
import secp256k1 from 'secp256k1';
import { accountXpub, isMnemonic, seedOf } from './keys.ts';
import { KeystoreError } from './keystore-error.ts';
import type { SourceFamily, SourceKey } from './source-record.ts';

export interface ParsedSource {
  readonly fingerprint: string;
  readonly keys: SourceKey[];
  /** Seed (64 bytes) or private key (32 bytes); the caller zeroes it. */
  readonly secret: Buffer;
}

/** Account paths that wallets use, registered for every phrase. BIP-44, BIP-49, BIP-84, BIP-86. */
export const ACCOUNT_PATHS: readonly (readonly [SourceFamily, string])[] = [
  ['evm', "m/44'/60'/0'"],
  ['btc', "m/84'/0'/0'"],
  ['btc', "m/49'/0'/0'"],
  ['btc', "m/44'/0'/0'"],
  ['btc', "m/86'/0'/0'"],
  ['tron', "m/44'/195'/0'"],
  ['xrp', "m/44'/144'/0'"],
];

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();
const base58check = createBase58check(sha256);

/** First 16 hex digits of SHA-256 of a public key. */
export function fingerprintOf(publicKey: Uint8Array): string {
  return sha256(publicKey).toString('hex').slice(0, 16);
}

/** A phrase with its optional BIP-39 passphrase. Throws: KeystoreError KEY_NOT_UNDERSTOOD. */
export function parsePhraseSource(text: string, passphrase: string): ParsedSource {
  const words = text.normalize('NFKD').trim().toLowerCase().split(/\s+/).join(' ');
  if (!isMnemonic(words))
    throw new KeystoreError('KEY_NOT_UNDERSTOOD', 'expected an English BIP-39 phrase with its checksum');
  const secret = seedOf(words, passphrase);
  return { ...sourceOfSeed(secret), secret };
}

/** Fingerprint and account keys of a seed. */
export function sourceOfSeed(seed: Uint8Array): Pick<ParsedSource, 'fingerprint' | 'keys'> {
  const root = HDKey.fromMasterSeed(seed);
  const fingerprint = fingerprintOf(root.publicKey!);
  root.wipePrivateData();
  return { fingerprint, keys: ACCOUNT_PATHS.map(([family, path]) => accountKeyOf(seed, family, path)) };
}

/** The extended public key at one account path. */
export function accountKeyOf(seed: Uint8Array, family: SourceFamily, path: string): SourceKey {
  return { family, path, xpub: accountXpub(seed, path), publicKey: null };
}

/**
 * A single key: `evm` and `tron` 64 hex digits, with 0x or without; `btc` WIF; `xrp` a family seed (`s…`, also `sEd…`)
 * or 64 hex digits. Throws: KeystoreError KEY_NOT_UNDERSTOOD.
 */
export function parseKeySource(family: SourceFamily, text: string): ParsedSource {
  const { secret, publicKey } = READERS[family](text.trim());
  return {
    fingerprint: fingerprintOf(publicKey),
    secret,
    keys: [{ family, path: null, xpub: null, publicKey: Buffer.from(publicKey).toString('hex') }],
  };
}

interface SingleKey {
  readonly secret: Buffer;
  readonly publicKey: Uint8Array;
}

const READERS: Readonly<Record<SourceFamily, (text: string) => SingleKey>> = {
  evm: (text) => hexKey(text) ?? notUnderstood('a private key of 64 hex digits'),
  tron: (text) => hexKey(text) ?? notUnderstood('a private key of 64 hex digits'),
  btc: (text) => wifKey(text) ?? notUnderstood('a WIF key of mainnet'),
  xrp: (text) => hexKey(text) ?? xrpSeed(text) ?? notUnderstood('a family seed (s…) or 64 hex digits'),
};

function notUnderstood(expected: string): never {
  throw new KeystoreError('KEY_NOT_UNDERSTOOD', `expected ${expected}`);
}

function secpKey(secret: Buffer, compressed = true): SingleKey | null {
  return secret.length === 32 && secp256k1.privateKeyVerify(secret)
    ? { secret, publicKey: secp256k1.publicKeyCreate(secret, compressed) }
    : null;
}

function hexKey(text: string): SingleKey | null {
  return /^(?:0x)?[0-9a-fA-F]{64}$/.test(text) ? secpKey(Buffer.from(text.replace(/^0x/, ''), 'hex')) : null;
}

const WIF_MAINNET = 0x80,
  COMPRESSED_MARK = 1;

/** version(1) = 0x80 || key(32) [|| 0x01], Base58Check. */
function wifKey(text: string): SingleKey | null {
  const bytes = decoded(() => base58check.decode(text));
  if (bytes?.[0] !== WIF_MAINNET || (bytes.length !== 33 && (bytes.length !== 34 || bytes[33] !== COMPRESSED_MARK)))
    return null;
  const secret = Buffer.from(bytes.subarray(1, 33));
  const compressed = bytes.length === 34;
  bytes.fill(0);
  return secpKey(secret, compressed);
}

/**
 * version(1) = 0x21 or (3) = 01 e1 4b || entropy(16) || checksum(4), with XRP's alphabet. Source: XRPL docs, base58
 * encodings.
 */
function xrpSeed(text: string): SingleKey | null {
  const bytes = decoded(() => base58xrp.decode(text));
  if (
    bytes === null ||
    !sha256(sha256(bytes.subarray(0, -4)))
      .subarray(0, 4)
      .equals(bytes.subarray(-4))
  )
    return null;
  const isSecp = bytes.length === 21 && bytes[0] === 0x21;
  const isEd = bytes.length === 23 && bytes[0] === 0x01 && bytes[1] === 0xe1 && bytes[2] === 0x4b;
  if (!isSecp && !isEd) return null;
  const entropy = bytes.slice(-20, -4);
  bytes.fill(0);
  try {
    return isEd ? ed25519Key(entropy) : familyKey(entropy);
  } finally {
    entropy.fill(0);
  }
}

const firstHalf = (...parts: Uint8Array[]) => {
  const hash = createHash('sha512');
  for (const part of parts) hash.update(part);
  return hash.digest().subarray(0, 32);
};

function ed25519Key(entropy: Uint8Array): SingleKey {
  const secret = firstHalf(entropy);
  return { secret, publicKey: Uint8Array.from([0xed, ...ed25519.getPublicKey(secret)]) };
}

/**
 * Root and account 0 of the ledger's own secp256k1 scheme. Source: XRPL docs, cryptographic keys, secp256k1 derivation.
 */
function familyKey(entropy: Uint8Array): SingleKey | null {
  const root = firstValid((counter) => firstHalf(entropy, counter));
  const rootPublic = secp256k1.publicKeyCreate(root);
  const tweak = firstValid((counter) => firstHalf(rootPublic, Buffer.alloc(4), counter));
  const secret = Buffer.from(secp256k1.privateKeyTweakAdd(root, tweak)); // in place: `root` is this key now
  root.fill(0);
  return secpKey(secret);
}

function firstValid(candidate: (counter: Buffer) => Buffer): Buffer {
  const counter = Buffer.alloc(4);
  for (let count = 0; ; count += 1) {
    counter.writeUInt32BE(count);
    const key = candidate(counter);
    if (secp256k1.privateKeyVerify(key)) return key;
  }
}

function decoded(decode: () => Uint8Array): Uint8Array | null {
  try {
    return decode();
  } catch {
    return null;
  }
}
