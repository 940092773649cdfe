/**
 * What one sweep of a token takes from the gas tank of an EVM chain at today's fees: a gas price that still holds when
 * the funding is deep enough, for the funding and for the sweep of an address without gas. Treasury 5.4, W8; V35, V42.
 */

/** One sample of the market, wei. */
export interface EvmMarket {
  readonly baseFee: bigint;
  readonly tip: bigint;
  /** Reserve for the L1 part of one transaction; zero where the network has none. */
  readonly l1Reserve: bigint;
  /** Blocks after which a funding counts. */
  readonly fundingDepth: number;
}

/** Source: Yellow Paper, G_transaction. */
const PLAIN_GAS = 21_000n;
/** Gas limit of a token transfer where the chain's own sweeps say nothing yet. Treasury W8. */
export const TOKEN_GAS_USUAL = 65_000n;
/** A base fee rises by an eighth a block at most; beyond four blocks the sweep is priced anew. */
const RISES_MAX = 4;

/** Highest price that covers the rise while a funding becomes deep enough, wei per gas. */
export function maxFeeOf({ baseFee, tip, fundingDepth }: EvmMarket): bigint {
  const rises = BigInt(Math.min(fundingDepth + 1, RISES_MAX)),
    eighths = 8n ** rises;
  return (baseFee * 9n ** rises + eighths - 1n) / eighths + tip;
}

/** Wei, with both L1 parts. */
export function evmUnitCost(market: EvmMarket): bigint {
  return (PLAIN_GAS + TOKEN_GAS_USUAL) * maxFeeOf(market) + 2n * market.l1Reserve;
}
