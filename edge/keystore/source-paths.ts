/**
 * Which path of a phrase leads to a known address: the paths that wallets use, tried in the order of how common they
 * are. Every step that has no apostrophe is searched from extended public keys.
 */
import { HDKey } from '@scure/bip32';
import type { ScriptType } from '../../chains/btc/derive.ts';
import { addressOf } from './source-address.ts';
import type { SourceFamily } from './source-record.ts';

interface PathTemplate {
  /** `a` is the account, `i` the index. */
  readonly path: string;
  readonly wallets: string;
  readonly script?: ScriptType;
}

/** Source: BIP-44, BIP-49, BIP-84, BIP-86, SLIP-44, and the wallets' own documents. */
export const PATH_TEMPLATES: Readonly<Record<SourceFamily, readonly PathTemplate[]>> = {
  evm: [
    { path: "m/44'/60'/a'/0/i", wallets: 'BIP-44: MetaMask, Trust Wallet, Trezor, Exodus' },
    { path: "m/44'/60'/a'/i", wallets: 'Ledger before Ledger Live, MyEtherWallet' },
    { path: "m/44'/60'/i'/0/0", wallets: 'Ledger Live' },
    { path: "m/44'/60'/a'/1/i", wallets: 'BIP-44 change branch' },
    { path: "m/44'/60'/i'", wallets: 'account keys used as addresses' },
    { path: "m/44'/1'/a'/0/i", wallets: 'test network' },
  ],
  btc: [
    { path: "m/84'/0'/a'/0/i", wallets: 'BIP-84, native segwit', script: 'p2wpkh' },
    { path: "m/49'/0'/a'/0/i", wallets: 'BIP-49, nested segwit', script: 'p2sh-p2wpkh' },
    { path: "m/44'/0'/a'/0/i", wallets: 'BIP-44, legacy', script: 'p2pkh' },
    { path: "m/86'/0'/a'/0/i", wallets: 'BIP-86, taproot', script: 'p2tr' },
    { path: "m/84'/0'/a'/1/i", wallets: 'BIP-84, change', script: 'p2wpkh' },
    { path: "m/49'/0'/a'/1/i", wallets: 'BIP-49, change', script: 'p2sh-p2wpkh' },
    { path: "m/44'/0'/a'/1/i", wallets: 'BIP-44, change', script: 'p2pkh' },
    { path: "m/86'/0'/a'/1/i", wallets: 'BIP-86, change', script: 'p2tr' },
    { path: "m/0'/a'/i'", wallets: 'Bitcoin Core before descriptors', script: 'p2pkh' },
  ],
  tron: [
    { path: "m/44'/195'/a'/0/i", wallets: 'BIP-44: TronLink, Trust Wallet' },
    { path: "m/44'/195'/i'/0/0", wallets: 'Ledger Live' },
  ],
  xrp: [
    { path: "m/44'/144'/a'/0/i", wallets: 'BIP-44: Xaman, Trust Wallet' },
    { path: "m/44'/144'/i'/0/0", wallets: 'Ledger Live' },
  ],
};

const ACCOUNTS = 5;
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
  const same = (found: string) => (family === 'evm' ? found.toLowerCase() : found) === wanted;
  try {
    for (const template of PATH_TEMPLATES[family]) {
      const accounts = template.path.includes('a') ? ACCOUNTS : 1;
      for (let account = 0; account < accounts; account += 1) {
        const index = inBranch(root, template, account, indexes, (publicKey) =>
          same(addressOf(family, publicKey, template.script)),
        );
        if (index !== null) return { path: pathAt(template, account, index), wallets: template.wallets };
      }
    }
    return null;
  } finally {
    root.wipePrivateData();
  }
}

function pathAt({ path }: PathTemplate, account: number, index: number): string {
  return path.replace('a', String(account)).replace('i', String(index));
}

/** Index at which a branch holds what is looked for. The steps before the index are derived once. */
function inBranch(
  root: HDKey,
  template: PathTemplate,
  account: number,
  indexes: number,
  holds: (publicKey: Uint8Array) => boolean,
): number | null {
  const steps = template.path.replace('a', String(account)).split('/');
  const at = steps.findIndex((step) => step.startsWith('i'));
  const fixed = steps.slice(0, at).join('/');
  const before = fixed === 'm' ? root : root.derive(fixed);
  for (let index = 0; index < indexes; index += 1) {
    const node = before.derive(['m', steps[at]!.replace('i', String(index)), ...steps.slice(at + 1)].join('/'));
    const found = holds(node.publicKey!);
    node.wipePrivateData();
    if (found) return index;
  }
  if (before !== root) before.wipePrivateData();
  return null;
}
