/**
 * Derivation paths that wallets use: one list for the search from a public key (cloud) and from a phrase (edge).
 * Migration M-P8; its sources are the wallets' own lists and documents that are named there.
 *
 *   a account · i index · v vault of a custodian · c branch · k mixing depth
 */
import type { Family } from '../protocol/slugs.ts';

export type WalletScript = 'p2pkh' | 'p2sh-p2wpkh' | 'p2wpkh' | 'p2tr';

/**
 * Depth of the extended key that tests a path. `self`: the key is the address's own. `each`: one account key for each
 * address. `descriptor`: several keys, so a descriptor. `none`: no public key leads there. `list`: no public
 * derivation, so an explicit list.
 */
export type TestedBy = 0 | 1 | 3 | 4 | 'self' | 'each' | 'descriptor' | 'none' | 'list';

export interface WalletPath {
  /** Number in the catalogue. */
  readonly id: number;
  readonly family: Family;
  readonly template: string;
  readonly script: WalletScript | null;
  readonly wallets: readonly string[];
  readonly key: TestedBy;
}

type Entry = readonly [template: string, script: WalletScript | null, key: TestedBy, wallets: string];

const BIP = 'BIP-44/49/84/86 wallets, Ledger, Trezor, Trust Wallet, Electrum, Mycelium, Wasabi';
const CHANGE = 'change of BIP-44/49/84/86 wallets';

const BTC: readonly Entry[] = [
  ["m/84'/0'/a'/0/i", 'p2wpkh', 3, BIP],
  ["m/49'/0'/a'/0/i", 'p2sh-p2wpkh', 3, BIP],
  ["m/44'/0'/a'/0/i", 'p2pkh', 3, BIP],
  ["m/86'/0'/a'/0/i", 'p2tr', 3, BIP],
  ["m/84'/0'/a'/1/i", 'p2wpkh', 3, CHANGE],
  ["m/49'/0'/a'/1/i", 'p2sh-p2wpkh', 3, CHANGE],
  ["m/44'/0'/a'/1/i", 'p2pkh', 3, CHANGE],
  ["m/86'/0'/a'/1/i", 'p2tr', 3, CHANGE],
  ["m/44'/0'/a'/0/i", 'p2wpkh', 3, 'Copay, Stakenet, Tatum'],
  ["m/44'/0'/a'/0/i", 'p2sh-p2wpkh', 3, 'CoolWallet S'],
  ["m/44'/0'/1'/0/i", 'p2wpkh', 3, 'Bisq'],
  ["m/0'/0/i", 'p2pkh', 1, 'BRD, MultiBit HD, bcoin'],
  ["m/0'/0/i", 'p2wpkh', 1, 'Electrum (segwit seed), Coin'],
  ["m/0'/0/i", 'p2sh-p2wpkh', 1, 'Coin'],
  ['m/0/i', 'p2pkh', 0, 'Electrum (standard seed)'],
  ['m/0/k/0/i', 'p2pkh', 0, 'JoinMarket (legacy)'],
  ["m/44'/0'/0'/i", 'p2pkh', 3, 'Blockchain.info API'],
  ["m/86'/0'/0'/i", 'p2tr', 3, 'OrdinalsWallet'],
  ["m/84'/0'/2147483644'/0/i", 'p2wpkh', 3, 'Samourai (bad bank)'],
  ["m/84'/0'/2147483645'/0/i", 'p2wpkh', 3, 'Samourai (pre mix)'],
  ["m/84'/0'/2147483646'/0/i", 'p2wpkh', 3, 'Samourai (post mix)'],
  ["m/44'/0'/2147483647'/0/i", 'p2pkh', 3, 'Samourai (Ricochet)'],
  ["m/49'/0'/2147483647'/0/i", 'p2sh-p2wpkh', 3, 'Samourai (Ricochet)'],
  ["m/84'/0'/2147483647'/0/i", 'p2wpkh', 3, 'Samourai (Ricochet)'],
  ["m/47'/0'/0'", null, 'none', 'payment codes (BIP-47)'],
  ["m/0'/a'/i'", 'p2pkh', 'none', 'Bitcoin Core before descriptors'],
  ['own 2-of-2', null, 'none', 'Green'],
  ["m/48'/0'/0'/1'", null, 'descriptor', 'multisig of Electrum, Specter, BlueWallet'],
  ["m/48'/0'/0'/2'", null, 'descriptor', 'multisig of Electrum, Specter, BlueWallet'],
  ["m/45'/2147483647/0/i", null, 'descriptor', 'Copay before 1.2'],
  ["m/45'/0'/0'/0/i", null, 'descriptor', 'Unchained'],
  ['m/49/0/X', null, 'descriptor', 'Casa'],
  ['m/44/0/v/c/i', 'p2wpkh', 0, 'Fireblocks'],
];

const EVM: readonly Entry[] = [
  ["m/44'/60'/a'/0/i", null, 3, 'MetaMask, MEW, Trezor, Trust Wallet, OneKey, Exodus, Tatum'],
  ["m/44'/60'/i'/0/0", null, 'each', 'Ledger Live'],
  ["m/44'/60'/a'/i", null, 3, 'Ledger before Ledger Live, Coinomi, MEW'],
  ["m/44'/60'/1'/0/i", null, 3, 'MEW (custom)'],
  ["m/44'/60'/a'/1/i", null, 3, 'change of BIP-44 wallets'],
  ["m/44'/60'/i'", null, 'self', 'account keys used as addresses'],
  ["m/44'/1'/a'/0/i", null, 3, 'Trezor (test networks)'],
  ["m/0'/0'/0'/i", null, 3, 'SingularDTV'],
  ["m/44'/966'/0'/0/i", null, 3, 'Tatum (polygon)'],
  ["m/44'/714'/0'/0/i", null, 3, 'wallets of the old Smart Chain'],
  ["m/44'/61'/0'/0/i", null, 3, 'Ethereum Classic wallets'],
  ["m/44'/60'/160720'/0'/i", null, 4, 'Ethereum Classic wallets'],
  ["m/44'/137'/0'/0/i", null, 3, 'wallets of RSK'],
  ["m/44'/178'/0'/0/i", null, 3, 'wallets of POA'],
  ["m/44'/820'/0'/0/i", null, 3, 'wallets of Callisto'],
  ["m/44'/889'/0'/0/i", null, 3, 'wallets of TomoChain'],
  ["m/44'/6060'/0'/0/i", null, 3, 'wallets of GoChain'],
  ['m/44/60/v/0/0', null, 0, 'Fireblocks: a vault a customer'],
  ['m', null, 'self', 'Atomic: the master key'],
];

const TRON: readonly Entry[] = [
  ["m/44'/195'/a'/0/i", null, 3, 'TronLink, Trust Wallet, Trezor, wallet-cli (Java), Tatum'],
  ["m/44'/195'/i'/0/0", null, 'each', 'Ledger Live, wallet-cli (TypeScript) to 4.13.0'],
];
const XRP: readonly Entry[] = [
  ["m/44'/144'/a'/0/i", null, 3, 'Trust Wallet, Tatum, Xaman'],
  ["m/44'/144'/i'/0/0", null, 'each', 'Ledger Live, Trezor'],
  ['family seed', null, 'self', 'Xaman'],
  ['chain code as key', null, 'none', 'Atomic'],
];
const SOL: readonly Entry[] = [
  ["m/44'/501'/i'/0'", null, 'list', 'Phantom, Sollet, Brave, pools of Flock'],
  ["m/44'/501'/i'", null, 'list', 'Ledger Live, Solflare, Trust Wallet'],
  ["m/44'/501'", null, 'list', 'Ledger (root)'],
  ["m/501'/0'/0/i", null, 'list', 'Sollet (old)'],
  ['none', null, 'list', 'solana-keygen'],
  ['secp256k1 tree, last key as seed', null, 'list', 'Exodus (sol, xlm)'],
];
const XLM: readonly Entry[] = [
  ["m/44'/148'/i'", null, 'list', 'SEP-5: Ledger, Trezor, Freighter, pools of Flock'],
  ["m/44'/148'/0'", null, 'list', 'Tatum'],
];

const FAMILIES = [
  ['btc', BTC],
  ['evm', EVM],
  ['tron', TRON],
  ['xrp', XRP],
  ['sol', SOL],
  ['xlm', XLM],
] as const;

/** All of them, in the order in which they are looked for within a family. */
export const WALLET_PATHS: readonly WalletPath[] = FAMILIES.flatMap(([family, entries]) =>
  entries.map(([template, script, key, wallets]) => ({ family, template, script, key, wallets })),
).map(({ wallets, ...path }, at) => ({ id: at + 1, ...path, wallets: wallets.split(', ') }));

/** Purpose and coin of the path that a family's wallets have by the standard: `m/44'/60'`. */
export function standardBase(family: Family, script: WalletScript | null): string {
  const purpose = script === null ? 44 : { p2pkh: 44, 'p2sh-p2wpkh': 49, p2wpkh: 84, p2tr: 86 }[script];
  return `m/${purpose}'/${COIN_TYPES[family]}'`;
}

/** Source: SLIP-44. */
export const COIN_TYPES: Readonly<Record<Family, number>> = {
  btc: 0,
  evm: 60,
  tron: 195,
  sol: 501,
  xrp: 144,
  xlm: 148,
};
