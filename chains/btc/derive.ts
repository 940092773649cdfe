/** Addresses of public keys below an account, by script type. Spec: chains.md 4.1; BIP-44, BIP-49, BIP-84, BIP-86. */
import { createHash } from 'node:crypto';
import secp256k1 from 'secp256k1';
import type { DerivedAddress } from '../chain.ts';
import { derivePublicKey } from '../secp256k1.ts';
import type { AddressPrefixes, BtcNetwork } from './network.ts';
import { addressOf, hash160, scriptOf, type Output } from './script.ts';

export const SCRIPT_TYPES = ['p2pkh', 'p2sh-p2wpkh', 'p2wpkh', 'p2tr'] as const;
export type ScriptType = (typeof SCRIPT_TYPES)[number];

/** Account path of each script type; the default is BIP-84. */
export const ACCOUNT_PATHS: Readonly<Record<ScriptType, string>> = {
  p2pkh: "m/44'/0'/0'",
  'p2sh-p2wpkh': "m/49'/0'/0'",
  p2wpkh: "m/84'/0'/0'",
  p2tr: "m/86'/0'/0'",
};

/** An internal key is the x of the point whose y is even. Source: BIP-340. */
const EVEN_Y = 0x02;
const tapTweak = createHash('sha256').update('TapTweak').digest();
/** What a tagged hash begins with: the hash of its tag, twice. Source: BIP-340. */
const TAP_TWEAK = Buffer.concat([tapTweak, tapTweak]);

/**
 * The taproot output key (32 bytes) of an internal key: P + hashTapTweak(x(P) || root)·G.
 * Source: BIP-341; without a tree the root is empty (BIP-86). Throws: Error where no point has that x.
 */
export function taprootKey(internal: Uint8Array, root: Uint8Array = new Uint8Array()): Uint8Array {
  const tweak = createHash('sha256').update(TAP_TWEAK).update(internal).update(root).digest();
  return secp256k1.publicKeyTweakAdd(Buffer.from([EVEN_Y, ...internal]), tweak, true).subarray(1);
}

/** What a compressed public key (33 bytes) receives on under a script type. */
export function outputOfKey(publicKey: Uint8Array, script: ScriptType): Output {
  switch (script) {
    case 'p2pkh':
      return { kind: 'p2pkh', program: hash160(publicKey) };
    case 'p2wpkh':
      return { kind: 'p2wpkh', program: hash160(publicKey) };
    case 'p2sh-p2wpkh':
      return { kind: 'p2sh', program: hash160(scriptOf(outputOfKey(publicKey, 'p2wpkh'))) };
    case 'p2tr':
      return { kind: 'p2tr', program: taprootKey(publicKey.subarray(1)) };
  }
}

/** The address text of a compressed public key. */
export function addressOfKey(prefixes: AddressPrefixes, publicKey: Uint8Array, script: ScriptType): string {
  return addressOf(prefixes, outputOfKey(publicKey, script));
}

/**
 * The address at `change/index` below an account key, with its absolute path. Throws: RangeError for a bad key or
 * index.
 */
export function deriveAddress(
  network: BtcNetwork,
  xpub: string,
  change: 0 | 1,
  index: number,
  script: ScriptType = 'p2wpkh',
): DerivedAddress {
  const address = addressOfKey(network.prefixes, derivePublicKey(xpub, change, index), script);
  return { address, path: `${ACCOUNT_PATHS[script]}/${change}/${index}` };
}
