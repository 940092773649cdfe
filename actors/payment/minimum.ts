/**
 * From which amount on a payment is worth sweeping. payments P20–P22: the fee is at most a tenth of a native amount;
 * a token has no rate to the native coin here, so that a dollar-pegged one has a minimum by chain, and others none.
 */
import type { BuildInputs, ChainModule, Intent, Network } from '../../chains/chain.ts';
import { isRefusal, type Refusal } from '../../protocol/errors.ts';
import { parseDecimal } from '../../protocol/money.ts';
import type { CheckoutChain } from '../../protocol/slugs.ts';
import { unitCostOf } from '../sweep/unit-cost.ts';

/** The fee is at most so much of the amount, of 10,000. `CHECKOUT_MIN_FEE_RATIO_BPS` of the reference. */
export const MIN_FEE_RATIO_BPS = 1_000n;
const BPS = 10_000n;
/** Dust of a P2WPKH output, satoshi. */
const BTC_DUST = 294n;

/** Minimum of a dollar-pegged token, whole units. `CHECKOUT_TOKEN_MINIMUM_<CHAIN>` of the reference. */
const TOKEN_MINIMUM: Readonly<Record<CheckoutChain, string>> = {
  btc: '1',
  eth: '10',
  bsc: '1',
  polygon: '1',
  avax: '1',
  base: '1',
  tron: '5',
};
const DOLLAR_PEGGED: ReadonlySet<string> = new Set([
  'USDT',
  'USDC',
  'DAI',
  'BUSD',
  'USDC.e',
  'USDT.e',
  'DAI.e',
  'USDbC',
]);

/** Chains from the cheapest to the dearest; what is refused on one names those before it. */
export const BY_COST: readonly CheckoutChain[] = ['polygon', 'avax', 'bsc', 'base', 'tron', 'eth', 'btc'];

/** Highest fee of bringing one transfer home, smallest native unit. Refuses: what the chain's estimate refuses. */
export function sweepFeeOf(
  module: Pick<ChainModule, 'estimateFee'>,
  network: Network,
  inputs: BuildInputs,
  intent: Intent,
  isToken: boolean,
): bigint | Refusal {
  // A token's sweep is one token transfer and the native one that funds it. P20.
  const ofToken = isToken ? unitCostOf(network, inputs) : null;
  if (ofToken !== null) return ofToken;
  const estimate = module.estimateFee(network, inputs, intent);
  return isRefusal(estimate) ? estimate : estimate.feeMax;
}

/** The smallest native amount whose sweep costs at most a tenth of it. */
export function nativeMinimumOf(chain: CheckoutChain, fee: bigint): bigint {
  const share = (fee * BPS + MIN_FEE_RATIO_BPS - 1n) / MIN_FEE_RATIO_BPS,
    dust = chain === 'btc' ? BTC_DUST : 1n;
  return share > dust ? share : dust;
}

/** The smallest amount of a token, its smallest unit; zero where nothing compares it with a fee. */
export function tokenMinimumOf(chain: CheckoutChain, symbol: string, decimals: number): bigint {
  if (!DOLLAR_PEGGED.has(symbol)) return 0n;
  const minimum = parseDecimal(TOKEN_MINIMUM[chain], decimals);
  return isRefusal(minimum) ? 0n : minimum;
}
