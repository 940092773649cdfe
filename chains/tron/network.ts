/** The facts of the TRON network. */
import type { Network } from '../chain.ts';

/** Sun per TRX as a power of ten. */
export const TRX_DECIMALS = 6;

/** First byte of every account and contract: 0x41 || 20 bytes. */
export const ADDRESS_PREFIX = 0x41;

export interface TronNetwork extends Network {
  readonly family: 'tron';
  /**
   * Energy that an estimate shows for a token transfer which cannot be tried out (no funds yet). Never signed: C7-58.
   */
  readonly untriedTransferEnergy: bigint;
  /** A byte of bandwidth counts at least this in the highest fee, sun: the edge cannot read the chain's price (T19). */
  readonly bandwidthSunFloor: bigint;
  /**
   * The most that the creation of a destination may be said to cost, sun: ten times what the chain has taken since 2019
   * (`getCreateNewAccountFeeInSystemContract`, 1 TRX), as no byte of a payload says it and the edge cannot read it.
   */
  readonly activationSunMax: bigint;
  /** The least that a transfer of TRX counts for the creation of its destination, sun: what the chain takes. T20. */
  readonly activationSunFloor: bigint;
}

export const tron: TronNetwork = {
  slug: 'tron',
  family: 'tron',
  nativeSymbol: 'TRX',
  nativeDecimals: TRX_DECIMALS,
  threshold: 19, // chains.md part 2: 19 of 27 producers
  gate: { kind: 'finalized', stallDepth: null }, // also present in the solidified view, chains.md 6.4-2
  reorgWindow: 256, // G15
  blockTimeMs: 3_000,
  accountPath: "m/44'/195'/0'",
  identity: '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc', // id of block 0
  explorer: { tx: 'https://tronscan.org/#/transaction/{id}', address: 'https://tronscan.org/#/address/{id}' },
  feeCap: 100_000_000n,
  untriedTransferEnergy: 130_000n, // to an account that never held the token, faults C7-58
  bandwidthSunFloor: 1_000n, // chains.md T19
  activationSunMax: 10_000_000n,
  activationSunFloor: 1_000_000n,
};

/** The network with the family's own fields. Throws: TypeError for another family's. */
export function tronOf(network: Network): TronNetwork {
  if (network.family !== 'tron') throw new TypeError(`${network.slug} is no TRON network`);
  return network as TronNetwork;
}
