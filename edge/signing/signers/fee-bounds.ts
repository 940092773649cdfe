/**
 * How high a fee may be: in total, as a share of a native amount, and for one unit of what the chain sells. A fee out
 * of proportion loses money even where nobody lies: a contract that burns gas, a market that spikes for a minute, a
 * cloud that reads a false price. G29.
 *
 * A bound is a setting, or else the value of the table here. Sources of the prices: docs/configuration.md.
 */
import { refuse, type Refusal } from '../../../protocol/errors.ts';
import type { Chain } from '../../../protocol/slugs.ts';

export interface FeeBounds {
  /** Highest fee of one transaction, smallest native unit. EDGE_FEE_CAP_<CHAIN>. */
  readonly feeCap: bigint;
  /** Highest fee as a share of an amount of the same unit, basis points. EDGE_FEE_RATIO_BPS. */
  readonly feeRatioBpsMax: number;
  /** A fee up to this passes the share: a plain transfer at the usual price. EDGE_FEE_FLOOR_<CHAIN>. */
  readonly feeFloor: bigint;
  /** Highest price of one unit, in the unit of the table. EDGE_FEE_PRICE_CAP_<CHAIN>. */
  readonly feePriceCap: bigint;
  /** Highest gas limit of a native payment on an EVM chain. EDGE_NATIVE_GAS_LIMIT. */
  readonly nativeGasLimit: bigint;
}

/** The usual price of a unit, and the cost of a plain transfer at that price. */
export interface UsualFee {
  readonly unit: string;
  readonly price: bigint;
  /** Smallest native unit; includes the chain's charge for a new account where a plain transfer may create one. */
  readonly plain: bigint;
  /** Highest fee of one transaction where no setting says otherwise. */
  readonly cap: bigint;
}

const GWEI = 1_000_000_000n;
const MILLI_COIN = 1_000_000n * GWEI;
/** Source: Yellow Paper, G_transaction. */
const PLAIN_GAS = 21_000n;

const gas = (price: bigint, cap: bigint): UsualFee => ({ unit: 'wei per gas', price, plain: PLAIN_GAS * price, cap });

export const USUAL_FEES: Readonly<Record<Chain, UsualFee>> = {
  eth: gas(30n * GWEI, 50n * MILLI_COIN),
  bsc: gas(3n * GWEI, 50n * MILLI_COIN),
  polygon: gas(150n * GWEI, 20_000n * MILLI_COIN),
  avax: gas(25n * GWEI, 1_000n * MILLI_COIN),
  base: { ...gas(3n * GWEI, 20n * MILLI_COIN), plain: 70_000n * GWEI }, // with the L1 part
  // One input of the oldest kind, payment and change: 226 vbytes.
  btc: { unit: 'satoshi per 1,000 vbytes', price: 30_000n, plain: 6_780n, cap: 200_000n },
  // 0.3 TRX of bandwidth, and 1.1 TRX for a destination that is new.
  tron: { unit: 'sun per energy', price: 210n, plain: 1_500_000n, cap: 100_000_000n },
  // 5,000 for the signature, and as much for compute.
  sol: { unit: 'micro-lamports per compute unit', price: 600_000n, plain: 10_000n, cap: 10_000_000n },
  xrp: { unit: 'drops per transaction', price: 500n, plain: 500n, cap: 5_000n },
  // A fee bump counts two operations.
  xlm: { unit: 'stroops per operation', price: 1_000n, plain: 2_000n, cap: 20_000n },
};

/** A unit may cost this many times the usual price where no setting says otherwise. Decisions 3. */
const PRICE_FACTOR = 10n;

/** The settings for fees; the table fills what they leave out. */
export interface FeeSettings {
  readonly feeCaps: ReadonlyMap<Chain, bigint>;
  readonly feeFloors: ReadonlyMap<Chain, bigint>;
  readonly feePriceCaps: ReadonlyMap<Chain, bigint>;
  readonly feeRatioBps: number;
  readonly sweepFeeRatioBps: number;
  readonly nativeGasLimit: bigint;
}

export const DEFAULT_FEE_SETTINGS: FeeSettings = {
  feeCaps: new Map(),
  feeFloors: new Map(),
  feePriceCaps: new Map(),
  feeRatioBps: 5_000,
  sweepFeeRatioBps: 1_000,
  nativeGasLimit: 100_000n,
};

/** The bounds of a chain. A sweep has its own share and no floor: an amount too small to be swept waits. */
export function feeBoundsOf(chain: Chain, settings: FeeSettings = DEFAULT_FEE_SETTINGS, isSweep = false): FeeBounds {
  const usual = USUAL_FEES[chain];
  return {
    feeCap: settings.feeCaps.get(chain) ?? usual.cap,
    feeRatioBpsMax: isSweep ? settings.sweepFeeRatioBps : settings.feeRatioBps,
    feeFloor: isSweep ? 0n : (settings.feeFloors.get(chain) ?? usual.plain),
    feePriceCap: settings.feePriceCaps.get(chain) ?? usual.price * PRICE_FACTOR,
    nativeGasLimit: settings.nativeGasLimit,
  };
}

/** What a payload can cost, as its bytes prove. */
export interface Costs {
  readonly chain: Chain;
  /** Highest fee, smallest native unit, with the rent of an account that it creates. */
  readonly feeMax: bigint;
  /** Amount that moves, where it is the native coin; null for a token, an opt-in and a cancellation. */
  readonly amount: bigint | null;
  /** Price of one unit, rounded up; null where none is in the bytes. */
  readonly price: bigint | null;
  /** Gas limit of a native payment; null elsewhere. */
  readonly nativeGas?: bigint | null;
  readonly isSweep: boolean;
}

/** G29. Refuses: SIGNED_BATCH_REJECTED; the details name the setting, its bound and the value. */
export function checkFeeBounds(
  { chain, feeMax, amount, price, nativeGas = null, isSweep }: Costs,
  bounds: FeeBounds,
): Refusal | null {
  const { feeCap, feeFloor, feePriceCap, nativeGasLimit } = bounds,
    slug = chain.toUpperCase();
  if (nativeGas !== null && nativeGas > nativeGasLimit)
    return overBound('native_gas_limit', 'EDGE_NATIVE_GAS_LIMIT', nativeGasLimit, nativeGas);
  if (feeMax > feeCap) return overBound('fee_cap', `EDGE_FEE_CAP_${slug}`, feeCap, feeMax);
  if (price !== null && price > feePriceCap)
    return overBound('fee_price_cap', `EDGE_FEE_PRICE_CAP_${slug}`, feePriceCap, price);
  return amount === null || feeMax <= feeFloor
    ? null
    : checkShare({ fee: feeMax, amount, isSweep, floor: feeFloor }, bounds);
}

/**
 * Whether a fee is within the customer's share of an amount of the same unit. `floor`: what passes all the same, as the
 * refusal says. Refuses: as `checkFeeBounds`.
 */
export function checkShare(
  {
    fee,
    amount,
    isSweep,
    floor = 0n,
  }: { readonly fee: bigint; readonly amount: bigint; readonly isSweep: boolean; readonly floor?: bigint },
  { feeRatioBpsMax }: Pick<FeeBounds, 'feeRatioBpsMax'>,
): Refusal | null {
  if (fee * 10_000n <= amount * BigInt(feeRatioBpsMax)) return null;
  const share = (amount * BigInt(feeRatioBpsMax)) / 10_000n;
  return overBound(
    'fee_ratio',
    isSweep ? 'EDGE_SWEEP_FEE_RATIO_BPS' : 'EDGE_FEE_RATIO_BPS',
    larger(share, floor),
    fee,
    { ratioBps: feeRatioBpsMax },
  );
}

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** The refusal for a bound that the customer sets; bound and value have the same unit. */
export function overBound(reason: string, setting: string, bound: bigint, value: bigint, more: object = {}): Refusal {
  return refuse(
    'SIGNED_BATCH_REJECTED',
    {
      reason,
      setting,
      bound: bound.toString(),
      value: value.toString(),
      ...more,
      next: `compare the value with what the chain takes today: where it is right, raise ${setting} and start this edge again; else wait and build it again`,
    },
    `nothing was signed: ${setting} allows ${bound}, and this is ${value}`,
  );
}

/** Whether a refusal is about one of the customer's own bounds, and so no sign of a lying cloud. */
export function isOwnBound({ details }: Refusal): boolean {
  return typeof details['bound'] === 'string';
}
