/**
 * Which key below an extended public key has an address: the shapes of the catalogue, tried in their order. Pure and
 * without a pause: `thread.ts` runs it beside the event loop. Migration M-P3, M-P4.
 */
import secp256k1 from 'secp256k1';
import { addressOfKey as bitcoinAddress, SCRIPT_TYPES, type ScriptType } from '../../../chains/btc/derive.ts';
import { bitcoin } from '../../../chains/btc/network.ts';
import { addressOfPublicKey as evmAddress } from '../../../chains/evm/derive.ts';
import { keyNodeOf, type ExtendedPublicKey, type KeyNode } from '../../../chains/secp256k1.ts';
import { addressOfKey as tronAddress } from '../../../chains/tron/derive.ts';
import { addressOfKey as rippleAddress } from '../../../chains/xrp/derive.ts';
import { COIN_TYPES } from '../../../chains/wallet-paths.ts';
import type { Family } from '../../../protocol/slugs.ts';

/** Indexes of each branch that are tried, vaults of a custodian, and indexes of each vault and mixing depth. */
export const INDEXES_TRIED = 100;
const VAULTS_TRIED = 100;
const INDEXES_OF_A_VAULT = 5;
const MIXING_DEPTHS = 5;

/** Steps below the key that were tried: `i` and so on are numbers; '' is the key itself. */
export type Shape = '0/i' | '1/i' | 'i' | '' | '44/coin/v/0/i' | '0/k/0/i';

export interface Found {
  readonly shape: Shape;
  /** Steps from the key to the address: `0/7`, '' for the key itself. */
  readonly below: string;
  /** The last step; 0 for the key itself. */
  readonly index: number;
  readonly script: ScriptType | null;
}

type SearchKey = Pick<ExtendedPublicKey, 'publicKey' | 'chainCode' | 'depth'>;

/** Shapes below a key, in the order in which they are tried: the wide ones only below a master key. */
export function shapesOf(family: Family, { depth }: Pick<ExtendedPublicKey, 'depth'>): Shape[] {
  const wide: Shape[] = family === 'btc' ? ['44/coin/v/0/i', '0/k/0/i'] : ['44/coin/v/0/i'];
  return ['0/i', '1/i', 'i', '', ...(depth === 0 ? wide : [])];
}

/** The first of the shapes that leads to an address in its canonical text; null where none does. */
export function searchPath(family: Family, key: SearchKey, address: string): Found | null {
  const root = keyNodeOf(key.publicKey, key.chainCode);
  const isOf = matcherOf(family, address);
  for (const shape of shapesOf(family, key)) {
    for (const { before, node, indexes } of branchesOf(family, shape, root)) {
      for (let index = 0; index < indexes; index += 1) {
        const script = isOf(node === null ? key.publicKey : node.publicKeyOf(index));
        if (script !== undefined) return { shape, below: node === null ? '' : `${before}${index}`, index, script };
      }
    }
  }
  return null;
}

interface Branch {
  /** Steps before the index. */
  readonly before: string;
  /** Null: the key itself. */
  readonly node: KeyNode | null;
  readonly indexes: number;
}

function* branchesOf(family: Family, shape: Shape, root: KeyNode): Generator<Branch> {
  switch (shape) {
    case '':
      yield { before: '', node: null, indexes: 1 };
      return;
    case 'i':
      yield { before: '', node: root, indexes: INDEXES_TRIED };
      return;
    case '0/i':
    case '1/i':
      yield { before: `${shape[0]}/`, node: root.childOf(Number(shape[0])), indexes: INDEXES_TRIED };
      return;
    case '44/coin/v/0/i': {
      const coin = root.childOf(44).childOf(COIN_TYPES[family]);
      for (let vault = 0; vault < VAULTS_TRIED; vault += 1)
        yield {
          before: `44/${COIN_TYPES[family]}/${vault}/0/`,
          node: coin.childOf(vault).childOf(0),
          indexes: INDEXES_OF_A_VAULT,
        };
      return;
    }
    case '0/k/0/i': {
      const mixed = root.childOf(0);
      for (let depth = 0; depth < MIXING_DEPTHS; depth += 1)
        yield { before: `0/${depth}/0/`, node: mixed.childOf(depth).childOf(0), indexes: INDEXES_TRIED };
    }
  }
}

/**
 * Whether a compressed public key has the address: its script, null where the family has none, undefined where not.
 */
export function matcherOf(family: Family, address: string): (publicKey: Uint8Array) => ScriptType | null | undefined {
  const uncompressed = (publicKey: Uint8Array) => secp256k1.publicKeyConvert(publicKey, false);
  const when = (holds: boolean) => (holds ? null : undefined);
  switch (family) {
    case 'evm':
      return (publicKey) => when(evmAddress(uncompressed(publicKey)) === address);
    case 'tron':
      return (publicKey) => when(tronAddress(uncompressed(publicKey)) === address);
    case 'xrp':
      return (publicKey) => when(rippleAddress(publicKey) === address);
    default: {
      const scripts = scriptsLike(address);
      return (publicKey) => scripts.find((script) => bitcoinAddress(bitcoin.prefixes, publicKey, script) === address);
    }
  }
}

/** What the text leaves: a taproot key costs as much as ten others, and a script of several keys is none of ours. */
function scriptsLike(address: string): readonly ScriptType[] {
  if (address.startsWith('bc1p')) return ['p2tr'];
  if (address.startsWith('bc1')) return address.length === 42 ? ['p2wpkh'] : [];
  const script = address.startsWith('3') ? 'p2sh-p2wpkh' : 'p2pkh';
  return SCRIPT_TYPES.filter((one) => one === script);
}

/** Every address of a public key that begins as one of these texts; single keys may be uncompressed, or of Ed25519. */
export function addressesOfKey(family: Family, publicKey: Uint8Array, begin: readonly string[]): string[] {
  switch (family) {
    case 'evm':
      return [evmAddress(secp256k1.publicKeyConvert(publicKey, false))];
    case 'tron':
      return [tronAddress(secp256k1.publicKeyConvert(publicKey, false))];
    case 'xrp':
      return [rippleAddress(publicKey)];
    default: {
      // An uncompressed key has no segregated witness form. Source: BIP-143.
      const possible = publicKey.length === 33 ? SCRIPT_TYPES : (['p2pkh'] as const);
      const scripts = possible.filter((script) => begin.some((text) => text.startsWith(BEGIN_OF[script])));
      return scripts.map((script) => bitcoinAddress(bitcoin.prefixes, publicKey, script));
    }
  }
}

/** The address of a compressed public key; of btc under a script. */
export function addressOfKey(family: Family, publicKey: Uint8Array, script: ScriptType | null): string {
  if (family === 'btc') return bitcoinAddress(bitcoin.prefixes, publicKey, script ?? 'p2wpkh');
  const [address] = addressesOfKey(family, publicKey, []);
  return address!;
}

/** How addresses of a script begin, so that no taproot key is derived for nothing. */
const BEGIN_OF: Readonly<Record<ScriptType, string>> = { p2pkh: '1', 'p2sh-p2wpkh': '3', p2wpkh: 'bc1q', p2tr: 'bc1p' };
