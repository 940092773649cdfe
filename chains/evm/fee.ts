/** Prices and limits of gas, from one sample: what is estimated, built and signed uses the same figures (V36). */
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { BuildInputs, FeeEstimate, Intent, Network } from '../chain.ts';
import { evmOf, type EvmNetwork } from './network.ts';

/** Everything that was asked for a build; amounts are decimal texts in wei or in the token's smallest unit. */
export interface EvmInputs extends BuildInputs {
  readonly readAtHash: string;
  /** Transactions of the sender that are in blocks; the next nonce by the chain itself. */
  readonly nonceLatest: number;
  /** The same with the node's own pool: racy and per node, a hint only. V39. */
  readonly noncePending: number;
  readonly nativeBalance: string;
  /** Null for a native intent. */
  readonly tokenBalance: string | null;
  readonly baseFeePerGas: string;
  /** Median of what recent blocks paid above the base fee. V32. */
  readonly tipPerGas: string;
  /** Answer of `eth_gasPrice` where the fee policy uses it, else null. V33. */
  readonly gasPrice: string | null;
  readonly gas:
    | { readonly kind: 'plain' } // a transfer to an address without code costs exactly 21,000
    | { readonly kind: 'estimated'; readonly units: string }
    | { readonly kind: 'reverted'; readonly reason: string };
  /** Highest L1 and operator fee by the chain's own predeploys, or null where there are none. V35. */
  readonly l1FeeUpperBound: string | null;
  readonly envelope: 'eip1559' | 'legacy';
}

/** Gas of a transfer that runs no code. Source: Yellow Paper, G_transaction. */
export const PLAIN_TRANSFER_GAS = 21_000n;
/** Highest gas limit of one transaction. Source: EIP-7825. */
export const GAS_LIMIT_MAX = 16_777_216n;

/** Smallest integer not below value × numerator / denominator. */
function ceilShare(value: bigint, numerator: bigint, denominator: bigint): bigint {
  return (value * numerator + denominator - 1n) / denominator;
}

/** The larger of two amounts. */
export function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

export interface GasPrices {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  /** What a block would take now. */
  readonly expectedPerGas: bigint;
}

/**
 * Price per gas by the network's policy, wei. V32, V33; C6-54: the tip is clamped and maxFee rebuilt from it. Where the
 * whole fee has a bound (`within`) the price is lowered to it, as long as it still holds in the next block: a base fee
 * rises by an eighth at most.
 */
export function gasPricesOf(
  network: EvmNetwork,
  inputs: EvmInputs,
  within?: { readonly fee: bigint | undefined; readonly gasLimit: bigint },
): GasPrices {
  const market = marketOf(network, inputs);
  if (within?.fee === undefined || network.feePolicy.kind === 'gas_price') return market;
  const { maxPriorityFeePerGas: tip, maxFeePerGas } = market,
    bound = (within.fee - l1ReserveOf(inputs)) / within.gasLimit,
    least = ceilShare(BigInt(inputs.baseFeePerGas), 9n, 8n) + tip;
  return bound >= maxFeePerGas || bound < least ? market : { ...market, maxFeePerGas: bound };
}

/** The network's own price, wei per gas. */
function marketOf(network: EvmNetwork, inputs: EvmInputs): GasPrices {
  const { feePolicy } = network;
  if (feePolicy.kind === 'gas_price') {
    const price = larger(BigInt(inputs.gasPrice ?? '0'), feePolicy.floorWei);
    return { maxFeePerGas: price, maxPriorityFeePerGas: price, expectedPerGas: price };
  }
  const base = BigInt(inputs.baseFeePerGas),
    tip = larger(BigInt(inputs.tipPerGas), feePolicy.tipFloorWei);
  return { maxFeePerGas: 2n * base + tip, maxPriorityFeePerGas: tip, expectedPerGas: base + tip };
}

/**
 * Expected gas and the limit to sign. V34: an estimate gets a fifth more. Refuses: CHAIN_REJECTED over the protocol's
 * cap.
 */
export function gasOf(inputs: EvmInputs): { readonly expected: bigint; readonly limit: bigint } | Refusal {
  if (inputs.gas.kind === 'plain') return { expected: PLAIN_TRANSFER_GAS, limit: PLAIN_TRANSFER_GAS };
  // What reverts now has no estimate; where a figure is needed, the size of a simple token transfer is used.
  const units = inputs.gas.kind === 'estimated' ? BigInt(inputs.gas.units) : 65_000n;
  if (units > GAS_LIMIT_MAX) {
    return refuse('CHAIN_REJECTED', { reason: 'transaction gas limit too high', gas: units.toString() });
  }
  const limit = ceilShare(units, 12n, 10n);
  return { expected: units, limit: limit > GAS_LIMIT_MAX ? GAS_LIMIT_MAX : limit };
}

/** Native amount kept for the L1 part of the fee, wei: 1.5 × the predeploy's own bound. V35. */
export function l1ReserveOf(inputs: EvmInputs): bigint {
  return inputs.l1FeeUpperBound === null ? 0n : ceilShare(BigInt(inputs.l1FeeUpperBound), 3n, 2n);
}

/** Expected and highest fee of an intent, wei. Refuses: CHAIN_REJECTED for what the chain would not run. */
export function estimateFee(network: Network, inputs: EvmInputs, { withinFee }: Intent): FeeEstimate | Refusal {
  const gas = gasOf(inputs);
  if ('ok' in gas) return gas;
  const { maxFeePerGas, maxPriorityFeePerGas, expectedPerGas } = gasPricesOf(evmOf(network), inputs, {
    fee: withinFee,
    gasLimit: gas.limit,
  });
  const l1 = BigInt(inputs.l1FeeUpperBound ?? '0'),
    l1Reserve = l1ReserveOf(inputs);
  return {
    fee: gas.expected * expectedPerGas + l1,
    feeMax: gas.limit * maxFeePerGas + l1Reserve,
    parts: feePartsOf({ gasLimit: gas.limit, maxFeePerGas, maxPriorityFeePerGas, l1Reserve }),
  };
}

/** The parts of a fee as JSON-safe text, for people. */
export function feePartsOf(parts: {
  gasLimit: bigint;
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
  l1Reserve: bigint;
}): Record<string, string> {
  return Object.fromEntries(Object.entries(parts).map(([name, value]) => [name, value.toString()]));
}

/** V37: at least a tenth more, rounded up. */
export function bumped(price: bigint): bigint {
  return ceilShare(price, 11n, 10n);
}

/**
 * G29: the absolute cap of the network, and the share of the amount that the caller allows. Refuses:
 * AMOUNT_CAP_EXCEEDED.
 */
export function checkFeeCaps(
  network: Network,
  feeMax: bigint,
  amount: bigint | null,
  ratioBpsMax: number | undefined,
): Refusal | null {
  if (feeMax > network.feeCap) {
    const feeCap = network.feeCap.toString();
    return refuse('AMOUNT_CAP_EXCEEDED', { reason: 'fee cap', feeMax: feeMax.toString(), feeCap });
  }
  if (amount !== null && ratioBpsMax !== undefined && feeMax * 10_000n > amount * BigInt(ratioBpsMax)) {
    const details = { feeMax: feeMax.toString(), amount: amount.toString(), ratioBpsMax };
    return refuse('AMOUNT_CAP_EXCEEDED', { reason: 'fee ratio', ...details });
  }
  return null;
}
