/** EVM addresses from an account's extended public key: the last 20 bytes of Keccak-256 of the uncompressed key. */
import { keccak256Hex } from '../keccak.ts';
import { deriveUncompressedPublicKey } from '../secp256k1.ts';
import type { DerivedAddress, Network } from '../chain.ts';
import { checksummed } from './address.ts';

/** EIP-55 address of a 65-byte public key (0x04 || x || y). */
export function addressOfPublicKey(uncompressed: Uint8Array): string {
  return checksummed(keccak256Hex(uncompressed.subarray(1)).slice(24));
}

/**
 * Address and absolute path at `change/index`. Throws: RangeError for a bad key or index. Spec: §1.6, chains.md 5.1.
 */
export function deriveAddress(network: Network, xpub: string, change: 0 | 1, index: number): DerivedAddress {
  return {
    address: addressOfPublicKey(deriveUncompressedPublicKey(xpub, change, index)),
    path: `${network.accountPath}/${change}/${index}`,
  };
}
