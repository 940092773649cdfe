/**
 * Which path of a phrase leads to a known address: the catalogue of wallets' paths, in its order. Hardened steps are
 * derived from the phrase, the others below them from a public key. Migration M-P8.
 */
import { HDKey } from '@scure/bip32';
import { HARDENED, keyNodeOf, type KeyNode } from '../../chains/secp256k1.ts';
import { WALLET_PATHS, type WalletPath } from '../../chains/wallet-paths.ts';
import { addressOf } from './source-address.ts';
import type { SourceFamily } from './source-record.ts';

/** Paths of one key that a phrase leads to; of a custodian's `c` only the first branch. */
const isOfPhrase = ({ template, key }: WalletPath) =>
  template.startsWith('m') && key !== 'descriptor' && key !== 'list';
/** Of a family, in the order in which they are tried. */
export function pathsOf(family: SourceFamily): readonly WalletPath[] {
  // A payment code is no address of one key.
  return WALLET_PATHS.filter(
    (path) => path.family === family && isOfPhrase(path) && (path.script !== null || family !== 'btc'),
  );
}

/** How many of each letter are tried; the index by its caller's word. */
const TRIED: Readonly<Record<string, number>> = { a: 20, v: 100, c: 1, k: 5 };
/** Of vaults and mixing depths only the first indexes. */
const INDEXES_OF_A_VAULT = 5;
export const INDEXES_DEFAULT = 100;

export interface FoundPath {
  readonly path: string;
  readonly wallets: string;
}

/** The first known path that leads from a seed to an address, or null. `indexes` are tried of each branch. */
export function detectPath(
  seed: Uint8Array,
  family: SourceFamily,
  address: string,
  indexes: number = INDEXES_DEFAULT,
): FoundPath | null {
  const root = HDKey.fromMasterSeed(seed);
  const wanted = family === 'evm' ? address.toLowerCase() : address;
  try {
    for (const { template, script, wallets } of pathsOf(family)) {
      const holds = (publicKey: Uint8Array) => {
        const found = addressOf(family, publicKey, script ?? undefined);
        return (family === 'evm' ? found.toLowerCase() : found) === wanted;
      };
      const path = inTemplate(root, template.split('/').slice(1), indexes, holds);
      if (path !== null) return { path: ['m', ...path].join('/'), wallets: wallets.join(', ') };
    }
    return null;
  } finally {
    root.wipePrivateData();
  }
}

/** Steps from the root to the key that holds, null where none does. Hardened steps come before all others. */
function inTemplate(
  root: HDKey,
  steps: readonly string[],
  indexes: number,
  holds: (publicKey: Uint8Array) => boolean,
): string[] | null {
  const hardened = steps.filter((step) => step.endsWith("'"));
  const open = steps.slice(hardened.length);
  const counted = (step: string) => numbersOf(step.replace("'", ''), open.includes('v') ? INDEXES_OF_A_VAULT : indexes);

  const below = (node: KeyNode, [step, ...rest]: readonly string[]): number[] | null => {
    for (const number of counted(step!)) {
      const found = rest.length > 0 ? below(node.childOf(number), rest) : holds(node.publicKeyOf(number)) ? [] : null;
      if (found !== null) return [number, ...found];
    }
    return null;
  };
  const from = (key: HDKey, [step, ...rest]: readonly string[]): string[] | null => {
    if (step === undefined) {
      if (open.length === 0) return holds(key.publicKey!) ? [] : null;
      return below(keyNodeOf(key.publicKey!, key.chainCode!), open)?.map(String) ?? null;
    }
    for (const number of counted(step)) {
      const child = key.deriveChild(number + HARDENED);
      const found = from(child, rest);
      child.wipePrivateData();
      if (found !== null) return [`${number}'`, ...found];
    }
    return null;
  };
  return from(root, hardened);
}

function numbersOf(step: string, indexes: number): number[] {
  if (/^[0-9]+$/.test(step)) return [Number(step)];
  const count = step === 'i' ? indexes : TRIED[step]!;
  return Array.from({ length: count }, (_, number) => number);
}
