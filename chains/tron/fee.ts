/**
 * What a payment costs: bandwidth, energy and the creation of its destination, each by itself (C7-59).
 *
 *   bandwidth   bytes × price, unless staked or free bandwidth covers all of it; there is no partial use (T19)
 *   creation    a fee in place of bandwidth unless staked bandwidth covers it, and a second one always (T20)
 *   energy      units × price for what staked or delegated energy does not cover, bounded by the fee limit (T21)
 */
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { FeeEstimate, Intent, Network } from '../chain.ts';
import type { TronInputs } from './build-inputs.ts';
import { tronOf, type TronNetwork } from './network.ts';
import { encodeRaw, type RawData, type TronContract } from './raw-transaction.ts';
import { encodeTransfer } from './trc20.ts';

/** Signature with its key and length; key and length of the raw data. */
const SIGNATURE_FIELD_BYTES = 67;
/** What a node adds for the result that it will write. Source: java-tron Constant.MAX_RESULT_SIZE_IN_TX. */
const RESULT_BYTES = 64;
/** How long a payload may wait for its signature and its block. T15. */
export const EXPIRY_MS = 600_000;

/** The larger of two amounts. */
const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** Smallest integer not below value × numerator / denominator. */
function ceilShare(value: bigint, numerator: bigint, denominator: bigint): bigint {
  return (value * numerator + denominator - 1n) / denominator;
}

/** Bytes of bandwidth that a payload takes once it is signed. Source: java-tron BandwidthProcessor.consume. */
export function bandwidthBytesOf(payload: string): bigint {
  const raw = payload.length / 2;
  const lengthBytes = raw < 0x80 ? 1 : raw < 0x4000 ? 2 : 3;
  return BigInt(1 + lengthBytes + raw + SIGNATURE_FIELD_BYTES + RESULT_BYTES);
}

/** The raw data around a contract. T14, T15, T18. */
export function rawAround(inputs: TronInputs, contract: TronContract, feeLimit: bigint): RawData {
  const { refBlockBytes, refBlockHash, headTimeMs, timestampMs } = inputs;
  return { refBlockBytes, refBlockHash, expirationMs: headTimeMs + EXPIRY_MS, timestampMs, feeLimit, contract };
}

/** The contract of a payment; `amount` stands for a send-all too. */
export function contractOf(
  { from: owner, to, token }: Pick<Intent, 'from' | 'to' | 'token'>,
  amount: bigint,
): TronContract {
  if (token === null) return { type: 'TransferContract', owner, to, amount };
  const data = encodeTransfer(to, amount);
  return {
    type: 'TriggerSmartContract',
    owner,
    contract: token.contract,
    callValue: 0n,
    data,
    callTokenValue: 0n,
    tokenId: 0n,
  };
}

export interface Cost {
  /** What it costs by what was read; what it can cost at most when others use up the free bandwidth meanwhile. */
  readonly bandwidthFee: bigint;
  readonly bandwidthFeeMax: bigint;
  readonly activationFee: bigint;
  readonly bandwidthBytes: bigint;
}

/** The least that the bandwidth of a payload counts as its highest price, sun. */
export function bandwidthFeeFloor({ bandwidthSunFloor }: TronNetwork, payload: string): bigint {
  return bandwidthBytesOf(payload) * bandwidthSunFloor;
}

/** Bandwidth and activation of a payload. */
export function costOf(network: TronNetwork, inputs: TronInputs, payload: string, isToken: boolean): Cost {
  const { prices, destination, stakedBandwidth, freeBandwidth } = inputs;
  const bandwidthBytes = bandwidthBytesOf(payload),
    perByte = bandwidthBytes * BigInt(prices.bandwidthSun);
  const staked = BigInt(stakedBandwidth),
    perByteMax = larger(perByte, bandwidthFeeFloor(network, payload));
  // TRC-20 arrivals create no account (T7).
  if (!isToken && destination === 'missing') {
    const createFee = BigInt(prices.createAccountSun);
    return {
      bandwidthBytes,
      activationFee: BigInt(prices.newAccountSun),
      bandwidthFeeMax: larger(createFee, perByteMax),
      bandwidthFee: staked >= bandwidthBytes * BigInt(prices.createAccountRate) ? 0n : createFee,
    };
  }
  const covered = staked >= bandwidthBytes || BigInt(freeBandwidth) >= bandwidthBytes;
  return { bandwidthBytes, activationFee: 0n, bandwidthFeeMax: perByteMax, bandwidthFee: covered ? 0n : perByte };
}

export interface EnergyCost {
  readonly energy: bigint;
  readonly feeLimit: bigint;
  /** What it costs by what was read; what the sender must hold so that the limit can be used in full. */
  readonly energyFee: bigint;
  readonly energyFeeHeld: bigint;
}

const NO_ENERGY: EnergyCost = { energy: 0n, feeLimit: 0n, energyFee: 0n, energyFeeHeld: 0n };

/**
 * Energy of a payment from what was tried out, a fifth more as its limit (T21, C7-58). Staked energy lowers what is
 * paid, never the limit: the limit bounds both. Refuses: CHAIN_REJECTED over what the chain takes.
 */
export function energyOf(network: TronNetwork, { tried, prices, energy: left }: TronInputs): EnergyCost | Refusal {
  if (tried.kind === 'native') return NO_ENERGY;
  const energy = tried.kind === 'succeeded' ? BigInt(tried.energy) : network.untriedTransferEnergy;
  const price = BigInt(prices.energySun),
    feeLimit = ceilShare(energy * price, 12n, 10n),
    free = BigInt(left);
  if (feeLimit > BigInt(prices.feeLimitMaxSun)) {
    return refuse('CHAIN_REJECTED', {
      reason: 'the fee limit is above what the chain takes',
      feeLimit: feeLimit.toString(),
      feeLimitMax: prices.feeLimitMaxSun,
    });
  }
  return {
    energy,
    feeLimit,
    energyFee: larger(0n, energy - free) * price,
    energyFeeHeld: larger(0n, feeLimit - free * price),
  };
}

/** The parts of a fee as JSON-safe text, for people; the edge holds them against the bytes. */
export function feePartsOf(
  { bandwidthBytes, bandwidthFeeMax, activationFee }: Cost,
  { energy, feeLimit }: EnergyCost,
): Record<string, string> {
  const parts = { bandwidthBytes, bandwidthFeeMax, activationFee, energy, feeLimit };
  return Object.fromEntries(Object.entries(parts).map(([name, value]) => [name, value.toString()]));
}

/** Expected and highest fee of an intent, sun. Refuses: CHAIN_REJECTED over the chain's fee limit. */
export function estimateFee(general: Network, inputs: TronInputs, intent: Intent): FeeEstimate | Refusal {
  const network = tronOf(general),
    energy = energyOf(network, inputs);
  if ('ok' in energy) return energy;
  const held = BigInt((intent.token === null ? inputs.nativeBalance : inputs.tokenBalance) ?? '0');
  const amount = intent.amount === 'all' ? held : intent.amount;
  const payload = encodeRaw(rawAround(inputs, contractOf(intent, larger(1n, amount)), energy.feeLimit));
  const cost = costOf(network, inputs, payload, intent.token !== null);
  return {
    fee: cost.bandwidthFee + cost.activationFee + energy.energyFee,
    feeMax: cost.bandwidthFeeMax + cost.activationFee + energy.feeLimit,
    held: cost.bandwidthFee + cost.activationFee + energy.energyFeeHeld,
    parts: feePartsOf(cost, energy),
  };
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
