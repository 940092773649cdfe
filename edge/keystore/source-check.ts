/**
 * The proof that a source's secret is the one of its public record: for each of its keys and registered addresses the
 * private key is derived anew, signs a fresh message, and the signature must verify under the recorded public key.
 */
import { randomBytes } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { HDKey } from '@scure/bip32';
import secp256k1 from 'secp256k1';
import { derivePrivateKey } from './keys.ts';
import { addressOf, addressOfSourceKey } from './source-address.ts';
import type { SourceKey, SourceRecord } from './source-record.ts';

export interface SourceCheck {
  /** Keys and registered addresses that signed. */
  readonly keys: number;
  readonly addresses: number;
  /** Paths and addresses that did not: the record or the secret is wrong. */
  readonly failed: readonly string[];
}

/** Checks a source with its secret, which stays the caller's. */
export function checkSource(
  { keys, addresses }: Pick<SourceRecord, 'keys' | 'addresses'>,
  secret: Buffer,
): SourceCheck {
  const failed: string[] = [];
  for (const key of keys) if (!keySigns(key, secret)) failed.push(key.path ?? 'key');
  for (const registered of addresses) if (!addressSigns(registered, keys, secret)) failed.push(registered.address);
  const failedAddresses = addresses.filter(({ address }) => failed.includes(address)).length;
  return {
    keys: keys.length - (failed.length - failedAddresses),
    addresses: addresses.length - failedAddresses,
    failed,
  };
}

function keySigns({ path, xpub, publicKey }: SourceKey, secret: Buffer): boolean {
  if (path === null) return signs(secret, Buffer.from(publicKey!, 'hex'));
  const recorded = HDKey.fromExtendedKey(xpub!).publicKey!;
  return withKeyAt(secret, path, (privateKey) => signs(privateKey, recorded));
}

function addressSigns(
  { path, address }: SourceRecord['addresses'][number],
  keys: readonly SourceKey[],
  secret: Buffer,
): boolean {
  if (!keys.some((key) => key.family === 'evm' && addressOfSourceKey(key, path) === address)) return false;
  const prove = (privateKey: Uint8Array) => {
    const publicKey = secp256k1.publicKeyCreate(privateKey);
    return addressOf('evm', publicKey) === address && signs(privateKey, publicKey);
  };
  return path === null ? prove(secret) : withKeyAt(secret, path, prove);
}

function withKeyAt<T>(seed: Buffer, path: string, use: (privateKey: Uint8Array) => T): T {
  const privateKey = derivePrivateKey(seed, 'secp256k1', path);
  try {
    return use(privateKey);
  } finally {
    privateKey.fill(0);
  }
}

const ED25519_MARK = 0xed;

function signs(privateKey: Uint8Array, publicKey: Uint8Array): boolean {
  const message = randomBytes(32);
  if (publicKey[0] === ED25519_MARK)
    return ed25519.verify(ed25519.sign(message, privateKey), message, publicKey.subarray(1));
  const { signature } = secp256k1.ecdsaSign(message, privateKey);
  return secp256k1.ecdsaVerify(signature, message, publicKey);
}
