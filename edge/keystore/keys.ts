/**
 * From a recovery phrase to keys: BIP-39 to the seed, BIP-32 on secp256k1, SLIP-0010 on Ed25519. Nothing in here keeps
 * anything; the caller zeroes what it got.
 */
import { createHmac, createPrivateKey, createPublicKey, pbkdf2Sync } from 'node:crypto';
import { base58 } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { validateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { addressOf as stellarAddressOf } from '../../chains/xlm/address.ts';
import { FAMILY_OF, type Chain } from '../../protocol/slugs.ts';

export type Curve = 'secp256k1' | 'ed25519';

/** Decisions 3: the edge's own signing key. */
export const IDENTITY_PATH = "m/83696968'/0'/0'";

const HARDENED = 0x8000_0000;
/** DER header of an Ed25519 private key: what follows is the 32-byte seed. Source: RFC 8410 §7. */
const PKCS8_HEADER = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI_HEADER_BYTES = 12;

/** The curve that a chain's keys are on. */
export function curveOf(chain: Chain): Curve {
  const family = FAMILY_OF[chain];
  return family === 'sol' || family === 'xlm' ? 'ed25519' : 'secp256k1';
}

/** Whether a text is an English BIP-39 phrase with a right checksum, words parted by single spaces. */
export function isMnemonic(text: string): boolean {
  return validateMnemonic(text, wordlist);
}

/** 64-byte seed of a phrase. Source: BIP-39, "From mnemonic to seed". */
export function seedOf(mnemonic: string, passphrase: string): Buffer {
  return pbkdf2Sync(mnemonic.normalize('NFKD'), `mnemonic${passphrase.normalize('NFKD')}`, 2_048, 64, 'sha512');
}

/** Extended public key at an account path, in `xpub` form. */
export function accountXpub(seed: Uint8Array, path: string): string {
  const root = HDKey.fromMasterSeed(seed);
  const account = root.derive(path);
  const xpub = account.publicExtendedKey;
  root.wipePrivateData();
  account.wipePrivateData();
  return xpub;
}

/** 32-byte private key at an absolute path. Throws: RangeError for a path that the curve has no key at. */
export function derivePrivateKey(seed: Uint8Array, curve: Curve, path: string): Uint8Array {
  return curve === 'ed25519' ? deriveEd25519(seed, path) : deriveSecp256k1(seed, path);
}

/** The edge's Ed25519 key at `m/83696968'/0'/0'`. Spec §5.3. */
export function identityKeyPair(seed: Uint8Array): { privateKey: Uint8Array; publicKey: string } {
  const privateKey = deriveEd25519(seed, IDENTITY_PATH);
  return { privateKey, publicKey: Buffer.from(ed25519PublicKey(privateKey)).toString('hex') };
}

/**
 * Address of an Ed25519 chain at an absolute path. Throws: RangeError for another chain or a path that is not hardened.
 */
export function pooledAddressAt(seed: Uint8Array, chain: Chain, path: string): string {
  const family = FAMILY_OF[chain];
  if (family !== 'sol' && family !== 'xlm')
    throw new RangeError(`${chain} derives addresses from an extended public key`);
  const privateKey = deriveEd25519(seed, path);
  const publicKey = ed25519PublicKey(privateKey);
  privateKey.fill(0);
  return family === 'sol' ? base58.encode(publicKey) : stellarAddressOf(publicKey);
}

function deriveSecp256k1(seed: Uint8Array, path: string): Uint8Array {
  const root = HDKey.fromMasterSeed(seed);
  const node = root.derive(path);
  const privateKey = Uint8Array.from(node.privateKey!);
  root.wipePrivateData();
  node.wipePrivateData();
  return privateKey;
}

/** I = HMAC-SHA512(chain code, 0x00 || key || ser32(index)); every step is hardened. Source: SLIP-0010. */
function deriveEd25519(seed: Uint8Array, path: string): Uint8Array {
  const steps = /^m((?:\/[0-9]{1,10}')*)$/.exec(path)?.[1]?.match(/[0-9]+/g) ?? [];
  if (!/^m(\/[0-9]{1,10}')+$/.test(path) || steps.some((step) => Number(step) >= HARDENED))
    throw new RangeError('an Ed25519 path has hardened steps only');
  let node = createHmac('sha512', 'ed25519 seed').update(seed).digest();
  for (const step of steps) {
    const input = Buffer.alloc(37);
    input.set(node.subarray(0, 32), 1);
    input.writeUInt32BE(Number(step) + HARDENED, 33);
    const next = createHmac('sha512', node.subarray(32)).update(input).digest();
    input.fill(0);
    node.fill(0);
    node = next;
  }
  const privateKey = Uint8Array.from(node.subarray(0, 32));
  node.fill(0);
  return privateKey;
}

function ed25519PublicKey(privateKey: Uint8Array): Uint8Array {
  const der = Buffer.concat([PKCS8_HEADER, privateKey]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  der.fill(0);
  return new Uint8Array(createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(SPKI_HEADER_BYTES));
}
