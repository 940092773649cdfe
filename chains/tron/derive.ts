/** TRON addresses below an account key. Spec: chains.md 6.1. */
import type { DerivedAddress, Network } from '../chain.ts';
import { keccak256 } from '../keccak.ts';
import { deriveUncompressedPublicKey } from '../secp256k1.ts';
import { addressOf } from './address.ts';

const ACCOUNT_BYTES = 20;

/** The address of an uncompressed public key (65 bytes): the last 20 bytes of keccak256 of its two coordinates. */
export function addressOfKey(publicKey: Uint8Array): string {
  return addressOf(keccak256(publicKey.subarray(1)).subarray(-ACCOUNT_BYTES));
}

/**
 * The address at `change/index` below an account key, with its absolute path. Throws: RangeError for a bad key or
 * index.
 */
export function deriveAddress(network: Network, xpub: string, change: 0 | 1, index: number): DerivedAddress {
  const address = addressOfKey(deriveUncompressedPublicKey(xpub, change, index));
  return { address, path: `${network.accountPath}/${change}/${index}` };
}
