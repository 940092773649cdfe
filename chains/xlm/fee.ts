/**
 * Fees in stroops. A transaction offers a fee per operation and is charged what its ledger needed; a fee bump counts
 * one operation more than what it carries. M21.
 */
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { FeeEstimate, Intent, Network } from '../chain.ts';
import type { XlmInputs } from './inputs.ts';

/** Operations of every transaction that is built here. */
export const OPERATIONS = 1;
/** What a fee bump around it counts. Source: CAP-15. */
export const BUMPED_OPERATIONS = OPERATIONS + 1;
/** Times the old offer that displaces it in a queue. Source: stellar-docs, "Replace-by-fee". */
const DISPLACING_FACTOR = 10n;

export interface Fee {
  readonly operations: number;
  /** Offer per operation, stroops. */
  readonly perOperation: bigint;
  readonly total: bigint;
}

function feeAt(perOperation: bigint, operations: number): Fee {
  return { operations, perOperation, total: perOperation * BigInt(operations) };
}

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/**
 * The fee to offer, the market's up to the cap; at the cap a payment waits for the surge to end.
 * Refuses: AMOUNT_CAP_EXCEEDED when even the base fee is above the cap.
 */
export function feeOf(network: Network, inputs: XlmInputs, operations: number): Fee | Refusal {
  const base = BigInt(inputs.baseFee);
  if (base > network.feeCap) return overCap(network, base);
  const market = larger(base, BigInt(inputs.marketFee));
  return feeAt(market > network.feeCap ? network.feeCap : market, operations);
}

/** The fee of a bump that takes an old version's place in a queue. Refuses: AMOUNT_CAP_EXCEEDED. */
export function displacingFee(network: Network, inputs: XlmInputs, oldPerOperation: bigint): Fee | Refusal {
  const least = larger(oldPerOperation * DISPLACING_FACTOR, BigInt(inputs.baseFee));
  if (least > network.feeCap) return overCap(network, least);
  const market = BigInt(inputs.marketFee);
  return feeAt(larger(least, market > network.feeCap ? network.feeCap : market), BUMPED_OPERATIONS);
}

function overCap({ feeCap }: Network, perOperation: bigint): Refusal {
  return refuse('AMOUNT_CAP_EXCEEDED', {
    reason: 'fee cap',
    feePerOperation: perOperation.toString(),
    feeCapPerOperation: feeCap.toString(),
  });
}

/** G29: the share of the amount that the caller allows, where both are XLM. Refuses: AMOUNT_CAP_EXCEEDED. */
export function checkFeeRatio({ total }: Fee, amount: bigint, ratioBpsMax: number | undefined): Refusal | null {
  if (ratioBpsMax === undefined || total * 10_000n <= amount * BigInt(ratioBpsMax)) return null;
  return refuse('AMOUNT_CAP_EXCEEDED', {
    reason: 'fee ratio',
    feeMax: total.toString(),
    amount: amount.toString(),
    ratioBpsMax,
  });
}

/** Operations that the fee of an intent is for: one more where somebody else pays it. */
export function operationsOf({ feePayer }: XlmInputs, { from }: Pick<Intent, 'from'>): number {
  return feePayer === from ? OPERATIONS : BUMPED_OPERATIONS;
}

/** Fee of an intent: what is charged without a surge, and what is offered. Refuses: AMOUNT_CAP_EXCEEDED. */
export function estimateFee(network: Network, inputs: XlmInputs, intent: Intent): FeeEstimate | Refusal {
  const fee = feeOf(network, inputs, operationsOf(inputs, intent));
  if ('ok' in fee) return fee;
  const { baseFee, marketFee } = inputs,
    { operations, perOperation, total } = fee;
  return {
    fee: BigInt(baseFee) * BigInt(operations),
    feeMax: total,
    parts: { operations, feePerOperation: perOperation.toString(), baseFee, marketFee },
  };
}
