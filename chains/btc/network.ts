/**
 * The facts of the Bitcoin network, and of Litecoin's regression-test network, its stand-in on a test machine.
 */
import type { Network } from '../chain.ts';

/** What an address text begins with; data, because a Core-family node of another network is read by the same code. */
export interface AddressPrefixes {
  /** Human-readable part of segwit addresses. */
  readonly bech32: string;
  /** Base58Check version bytes. */
  readonly p2pkh: number;
  readonly p2sh: number;
}

export interface BtcNetwork extends Network {
  readonly family: 'btc';
  readonly prefixes: AddressPrefixes;
  /** Blocks within which a payment should be included: the first argument of `estimatesmartfee`. */
  readonly feeTargetBlocks: number;
  /** Lowest and highest fee rate that is built, satoshi per 1,000 vbytes. B18, B13. */
  readonly feeRateFloorSatPerKvb: bigint;
  readonly feeRateCapSatPerKvb: bigint;
}

/** A coinbase output cannot be spent before its 101st confirmation. Spec: chains.md B3. */
export const COINBASE_CONFIRMATIONS = 101;

/** Satoshi per bitcoin as a power of ten. */
export const BTC_DECIMALS = 8;

export const bitcoin: BtcNetwork = {
  slug: 'btc',
  family: 'btc',
  nativeSymbol: 'BTC',
  nativeDecimals: BTC_DECIMALS,
  threshold: 3, // chains.md part 2: the ladder 1/2/3 is reported
  gate: { kind: 'depth' },
  reorgWindow: 288, // G15
  blockTimeMs: 600_000,
  accountPath: "m/84'/0'/0'", // BIP-84
  identity: '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f', // hash of block 0
  explorer: { tx: 'https://mempool.space/tx/{id}', address: 'https://mempool.space/address/{id}' },
  feeCap: 200_000n,
  feeTargetBlocks: 6,
  feeRateFloorSatPerKvb: 1_000n, // many nodes still relay nothing below 1 sat/vB: B16
  feeRateCapSatPerKvb: 1_000_000n,
  prefixes: { bech32: 'bc', p2pkh: 0x00, p2sh: 0x05 }, // Source: bitcoin/bitcoin src/kernel/chainparams.cpp
};

/** A real Core-family node that a test machine can install; only its prefixes and its block 0 differ. */
export const litecoinRegtest: BtcNetwork = {
  ...bitcoin,
  blockTimeMs: 1_000,
  identity: '530827f38f93b43ed12af0b3ad25a288dc02ed74d6d7857862df51fc56c416f9',
  prefixes: { bech32: 'rltc', p2pkh: 0x6f, p2sh: 0x3a }, // Source: litecoin-project/litecoin src/chainparams.cpp
};

/** The Bitcoin facts of a network that a caller holds as a general one. Throws: TypeError for another family. */
export function btcOf(network: Network): BtcNetwork {
  if (network.family !== 'btc') throw new TypeError(`${network.slug} is no network of the Bitcoin family`);
  return network as BtcNetwork;
}
