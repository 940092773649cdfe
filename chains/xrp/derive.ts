/** XRP Ledger addresses below an account key. Spec: chains.md 8.1. */
import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import type { DerivedAddress, Network } from '../chain.ts';
import { derivePublicKey } from '../secp256k1.ts';
import { addressOf } from './address.ts';

/** The classic address of a compressed public key (33 bytes): RIPEMD-160 of its SHA-256. */
export function addressOfKey(publicKey: Uint8Array): string {
  return addressOf(ripemd160(sha256(publicKey)));
}

/**
 * The address at `change/index` below an account key, with its absolute path. Throws: RangeError for a bad key or
 * index.
 */
export function deriveAddress(network: Network, xpub: string, change: 0 | 1, index: number): DerivedAddress {
  const address = addressOfKey(derivePublicKey(xpub, change, index));
  return { address, path: `${network.accountPath}/${change}/${index}` };
}
