/**
 * Addresses of a source's public keys: what is registered, checked and searched for. No secret is needed for any of it.
 */
import { HDKey } from '@scure/bip32';
import secp256k1 from 'secp256k1';
import { addressOfKey as bitcoinAddress, SCRIPT_TYPES, type ScriptType } from '../../chains/btc/derive.ts';
import { bitcoin } from '../../chains/btc/network.ts';
import { addressOfPublicKey as evmAddress } from '../../chains/evm/derive.ts';
import { addressOfKey as tronAddress } from '../../chains/tron/derive.ts';
import { addressOfKey as rippleAddress } from '../../chains/xrp/derive.ts';
import { scriptOfPath } from './phrase-address.ts';
import type { SourceFamily, SourceKey } from './source-record.ts';

/** The address of a public key as a family writes it. `publicKey` is compressed, or as it is for a single key. */
export function addressOf(family: SourceFamily, publicKey: Uint8Array, script: ScriptType = 'p2wpkh'): string {
  switch (family) {
    case 'btc':
      return bitcoinAddress(bitcoin.prefixes, publicKey, script);
    case 'xrp':
      return rippleAddress(publicKey);
    case 'tron':
      return tronAddress(secp256k1.publicKeyConvert(publicKey, false));
    case 'evm':
      return evmAddress(secp256k1.publicKeyConvert(publicKey, false));
  }
}

/**
 * The address at an absolute path below an extended key, or of a single key at null; null where the key does not lead
 * there.
 */
export function addressOfSourceKey(key: SourceKey, path: string | null): string | null {
  if (key.publicKey !== null) return path === null ? addressesOfSingleKey(key)[0]! : null;
  if (path === null || !path.startsWith(`${key.path}/`)) return null;
  const below = path.slice(key.path!.length + 1);
  if (!/^[0-9]{1,10}(?:\/[0-9]{1,10}){0,4}$/.test(below)) return null;
  const { publicKey } = HDKey.fromExtendedKey(key.xpub!).derive(`m/${below}`);
  return addressOf(key.family, publicKey!, scriptOfPath(path));
}

/** Every address that a single key receives on: four forms on btc, one elsewhere. */
export function addressesOfSingleKey({ family, publicKey }: SourceKey): string[] {
  const bytes = Buffer.from(publicKey!, 'hex');
  if (family !== 'btc') return [addressOf(family, bytes)];
  // An uncompressed key has no segregated witness form. Source: BIP-143.
  const scripts = bytes.length === 33 ? [...SCRIPT_TYPES].reverse() : (['p2pkh'] as const);
  return scripts.map((script) => addressOf(family, bytes, script));
}
