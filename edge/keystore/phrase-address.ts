/**
 * The address of any chain at a path below a phrase's seed: what recovery from the phrase alone needs, on the paths of
 * other wallets too. The service's own addresses come from extended public keys and pools.
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import secp256k1 from 'secp256k1';
import { addressOfKey as bitcoinAddress, type ScriptType } from '../../chains/btc/derive.ts';
import { bitcoin } from '../../chains/btc/network.ts';
import { addressOfPublicKey as evmAddress } from '../../chains/evm/derive.ts';
import { addressOfKey as tronAddress } from '../../chains/tron/derive.ts';
import { addressOfKey as rippleAddress } from '../../chains/xrp/derive.ts';
import { FAMILY_OF, type Chain } from '../../protocol/slugs.ts';
import { derivePrivateKey, pooledAddressAt } from './keys.ts';

const STEP = /^([0-9]{1,10})(['h]?)$/;
const STEPS_MAX = 255; // BIP-32 counts depth in one byte
const HARDENED = 0x8000_0000;

/** An absolute path in its one spelling (`m/44'/0'`), or null when it is none. */
export function canonicalPath(text: string): string | null {
  const [root, ...steps] = text.split('/');
  if (root !== 'm' || steps.length > STEPS_MAX) return null;
  const read = steps.map((step) => STEP.exec(step));
  if (read.some((match) => match === null || Number(match[1]) >= HARDENED)) return null;
  return ['m', ...read.map((match) => `${Number(match![1])}${match![2] === '' ? '' : "'"}`)].join('/');
}

/** True when every step is hardened, as Ed25519 needs it. */
export function isHardened(path: string): boolean {
  return /^m(?:\/[0-9]+')+$/.test(path);
}

/** Script type that a path's purpose stands for. Source: BIP-44, BIP-49, BIP-84, BIP-86. */
export function scriptOfPath(path: string): ScriptType {
  const purpose = /^m\/([0-9]+)'/.exec(path)?.[1];
  const scripts: Readonly<Record<string, ScriptType>> = { 44: 'p2pkh', 49: 'p2sh-p2wpkh', 86: 'p2tr' };
  return scripts[purpose ?? ''] ?? 'p2wpkh';
}

/**
 * The address of a chain at a canonical path; `script` is for btc. Throws: RangeError for a path without a key on the
 * curve.
 */
export function addressAt(
  seed: Uint8Array,
  chain: Chain,
  path: string,
  script: ScriptType = scriptOfPath(path),
): string {
  const family = FAMILY_OF[chain];
  if (family === 'sol' || family === 'xlm') return pooledAddressAt(seed, chain, path);
  const privateKey = derivePrivateKey(seed, 'secp256k1', path);
  try {
    switch (family) {
      case 'btc':
        return bitcoinAddress(bitcoin.prefixes, secp256k1.publicKeyCreate(privateKey), script);
      case 'xrp':
        return rippleAddress(secp256k1.publicKeyCreate(privateKey));
      case 'tron':
        return tronAddress(secp256k1.publicKeyCreate(privateKey, false));
      case 'evm':
        return evmAddress(secp256k1.publicKeyCreate(privateKey, false));
    }
  } finally {
    privateKey.fill(0);
  }
}

const ED25519_SEED_BYTES = 32;

/**
 * The Solana address of a phrase used without any path: its key is the first half of the seed. Source: solana-keygen.
 */
export function rootSolanaAddress(seed: Uint8Array): string {
  return base58.encode(ed25519.getPublicKey(seed.subarray(0, ED25519_SEED_BYTES)));
}
