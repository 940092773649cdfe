/**
 * From which amount on a payment is worth sweeping. payments P20–P22: the fee is at most a tenth of a native amount;
 * a token has no rate to the native coin here, so that a dollar-pegged one has a minimum by chain, and others none.
 */
import type { BuildInputs, ChainModule, Intent, Network } from '../../chains/chain.ts';
import type { BtcInputs, Coin } from '../../chains/btc/coin.ts';
import { isRefusal, type Refusal } from '../../protocol/errors.ts';
import { parseDecimal } from '../../protocol/money.ts';
import { FAMILY_OF, type CheckoutChain } from '../../protocol/slugs.ts';
import { unitCostOf } from '../sweep/unit-cost.ts';

const BPS = 10_000n;
/** Dust of a P2WPKH output, satoshi. */
const BTC_DUST = 294n;

/** From which amount on a deployment takes payments. P21. */
export interface Minimums {
  /** The fee is at most so much of a native amount, of 10,000: `CHECKOUT_MIN_FEE_RATIO_BPS`. */
  readonly feeRatioBps: number;
  /** Of a dollar-pegged token, a decimal in whole units: `CHECKOUT_TOKEN_MINIMUM_<CHAIN>`. btc has no tokens. */
  readonly tokens: Readonly<Record<CheckoutChain, string>>;
}

/** Where the settings say nothing. */
export const MINIMUMS: Minimums = {
  feeRatioBps: 1_000,
  tokens: { btc: '0', eth: '10', bsc: '1', polygon: '1', avax: '1', base: '1', tron: '5' },
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

/** One transfer that is sent home whole: one input and one output, whatever coins the tank has. */
const ONE_COIN: Coin = {
  txid: '0'.repeat(64),
  vout: 0,
  valueSats: '2100000000000000',
  height: 0,
  coinbase: false,
  spender: null,
  previous: null,
};

/**
 * Highest fee of bringing one transfer home, smallest native unit. Refuses: what the chain's estimate refuses. P20:
 *
 *   btc            one P2WPKH input and one output
 *   EVM networks   a transfer, with the L1 part where there is one
 *   tron           bandwidth, and a new account where the receiver is none yet
 *   tokens         one token transfer and the native one that funds it
 */
export function sweepFeeOf(
  module: Pick<ChainModule, 'estimateFee'>,
  network: Network,
  inputs: BuildInputs,
  intent: Intent,
  isToken: boolean,
): bigint | Refusal {
  const ofToken = isToken ? unitCostOf(network, inputs) : null;
  if (ofToken !== null) return ofToken;
  const isBtc = FAMILY_OF[network.slug] === 'btc',
    read = isBtc ? { ...(inputs as BtcInputs), coins: [ONE_COIN] } : inputs;
  const estimate = module.estimateFee(network, read, isBtc ? { ...intent, amount: 'all' } : intent);
  return isRefusal(estimate) ? estimate : estimate.feeMax;
}

/** The smallest native amount whose sweep costs at most the share of it that the deployment allows. */
export function nativeMinimumOf({ feeRatioBps }: Minimums, chain: CheckoutChain, fee: bigint): bigint {
  const ratio = BigInt(feeRatioBps),
    share = (fee * BPS + ratio - 1n) / ratio,
    dust = chain === 'btc' ? BTC_DUST : 1n;
  return share > dust ? share : dust;
}

/** The smallest amount of a token, its smallest unit; zero where nothing compares it with a fee. */
export function tokenMinimumOf({ tokens }: Minimums, chain: CheckoutChain, symbol: string, decimals: number): bigint {
  if (!DOLLAR_PEGGED.has(symbol)) return 0n;
  const minimum = parseDecimal(tokens[chain], decimals);
  if (isRefusal(minimum)) throw new Error(`CHECKOUT_TOKEN_MINIMUM_${chain.toUpperCase()} is no amount of ${symbol}`);
  return minimum;
}
