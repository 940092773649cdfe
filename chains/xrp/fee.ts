/** Fees in drops. A transaction pays exactly the fee that it names, whatever it costs others. R20. */
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { FeeEstimate, Intent, Network } from '../chain.ts';
import type { XrpInputs } from './inputs.ts';

/** The smallest integer not below value × numerator / denominator. */
function ceilShare(value: bigint, numerator: bigint, denominator: bigint): bigint {
  return (value * numerator + denominator - 1n) / denominator;
}

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/**
 * The fee to build with, drops: a fifth above what the open ledger asks for, up to the cap; at the cap a payment waits
 * in the queue. Refuses: AMOUNT_CAP_EXCEEDED when even the base fee is above the cap.
 */
export function feeOf(network: Network, inputs: XrpInputs): bigint | Refusal {
  const base = BigInt(inputs.baseFeeDrops);
  if (base > network.feeCap) return overCap(network, base);
  return smaller(network.feeCap, ceilShare(larger(base, BigInt(inputs.openLedgerFeeDrops)), 12n, 10n));
}

/**
 * The fee that takes an old version's place in a queue: a quarter more, and the market's if that is higher.
 * Source: xrpl.org "Transaction Queue". Refuses: AMOUNT_CAP_EXCEEDED.
 */
export function displacingFee(network: Network, inputs: XrpInputs, oldDrops: bigint): bigint | Refusal {
  const market = feeOf(network, inputs);
  if (typeof market !== 'bigint') return market;
  const fee = larger(market, ceilShare(oldDrops, 5n, 4n));
  return fee > network.feeCap ? overCap(network, fee) : fee;
}

function overCap(network: Network, feeDrops: bigint): Refusal {
  return refuse('AMOUNT_CAP_EXCEEDED', {
    reason: 'fee cap',
    feeMax: feeDrops.toString(),
    feeCap: network.feeCap.toString(),
  });
}

/** G29: the share of the amount that the caller allows, where both are XRP. Refuses: AMOUNT_CAP_EXCEEDED. */
export function checkFeeRatio(feeDrops: bigint, amountDrops: bigint, ratioBpsMax: number | undefined): Refusal | null {
  if (ratioBpsMax === undefined || feeDrops * 10_000n <= amountDrops * BigInt(ratioBpsMax)) return null;
  return refuse('AMOUNT_CAP_EXCEEDED', {
    reason: 'fee ratio',
    feeMax: feeDrops.toString(),
    amount: amountDrops.toString(),
    ratioBpsMax,
  });
}

/** Fee of an intent, drops. Refuses: AMOUNT_CAP_EXCEEDED. */
export function estimateFee(network: Network, inputs: XrpInputs, _intent: Intent): FeeEstimate | Refusal {
  const fee = feeOf(network, inputs);
  if (typeof fee !== 'bigint') return fee;
  const { baseFeeDrops, openLedgerFeeDrops } = inputs;
  return { fee, feeMax: fee, parts: { baseFeeDrops, openLedgerFeeDrops } };
}
