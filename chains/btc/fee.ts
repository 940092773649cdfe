/** Fees of Bitcoin payments. A fee is what a transaction leaves over, so every figure here is exact. B13, B18. */
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { FeeEstimate, Intent, Network } from '../chain.ts';
import { parseAddress } from './address.ts';
import type { BtcInputs, Coin } from './coin.ts';
import { btcOf, type BtcNetwork } from './network.ts';
import { selectCoins, type Wish } from './selection.ts';
import { decodePsbt } from './psbt.ts';
import { decodeRaw } from './signed.ts';
import { feeOf, largest, vsizeOf } from './size.ts';
import { planSweep } from './sweep.ts';

/**
 * The rate to build with, satoshi per kvB: the node's estimate, never below what it relays nor below the network's
 * floor. B18.
 */
export function rateOf(network: BtcNetwork, inputs: BtcInputs): bigint {
  const { estimateSatPerKvb, mempoolMinSatPerKvb, relayMinSatPerKvb } = inputs;
  return largest(
    BigInt(estimateSatPerKvb ?? '0'),
    BigInt(mempoolMinSatPerKvb),
    BigInt(relayMinSatPerKvb),
    network.feeRateFloorSatPerKvb,
  );
}

/**
 * What an intent wants of the coins of its sender, at the rate of the inputs. Refuses: INVALID_ADDRESS, INVALID_INPUT.
 */
export function wishOf(
  network: BtcNetwork,
  inputs: BtcInputs,
  { from: fromText, to: toText, amount }: Pick<Intent, 'from' | 'to' | 'amount'>,
): Wish | Refusal {
  const from = parseAddress(network, fromText),
    to = parseAddress(network, toText);
  if (!from.ok) return from;
  if (!to.ok) return to;
  if (from.kind === 'p2wsh') return refuse('INVALID_INPUT', { reason: 'no single key spends from this address' });
  const rateSatPerKvb = rateOf(network, inputs);
  const feeFor = (vsize: number) => feeOf(rateSatPerKvb, vsize);
  return { kind: from.kind as Wish['kind'], from: from.bytes, to: to.bytes, amount, feeFor };
}

/**
 * The parts of a fee as JSON-safe values, for people. The rate is the lowest that the signed bytes can turn out to pay.
 */
export function feePartsOf(parts: {
  feeSats: bigint;
  vsize: number;
  inputCount: number;
  outputCount: number;
}): Record<string, string | number> {
  const { feeSats, ...counts } = parts;
  return { feeRateSatPerKvb: ((feeSats * 1_000n) / BigInt(counts.vsize)).toString(), ...counts };
}

/**
 * Fee of an intent, satoshi. Where the coins do not suffice, that of the usual payment: one input and change. Refuses:
 * INVALID_ADDRESS, INVALID_INPUT.
 */
export function estimateFee(general: Network, inputs: BtcInputs, intent: Intent): FeeEstimate | Refusal {
  const network = btcOf(general),
    wish = wishOf(network, inputs, intent);
  if ('ok' in wish) return wish;
  if (intent.sweepUpTo !== undefined) return sweepFee(network, inputs, wish, intent.sweepUpTo);
  const plan = selectCoins(inputs, wish, new Set());
  if (!plan.ok) {
    const vsize = vsizeOf(wish.kind, 1, [wish.to, wish.from]),
      fee = wish.feeFor(vsize);
    return { fee, feeMax: fee, parts: feePartsOf({ feeSats: fee, vsize, inputCount: 1, outputCount: 2 }) };
  }
  const { feeSats, vsize, coins, changeSats } = plan;
  const parts = feePartsOf({ feeSats, vsize, inputCount: coins.length, outputCount: changeSats === null ? 1 : 2 });
  return { fee: feeSats, feeMax: feeSats, parts };
}

/** Fee of a sweep and what it moves. Refuses: as `planSweep`. */
function sweepFee({ threshold }: BtcNetwork, inputs: BtcInputs, wish: Wish, upTo: bigint): FeeEstimate | Refusal {
  const isProvable = ({ previous }: Coin) => wish.kind === 'p2tr' || previous !== null;
  const plan = planSweep(inputs, wish, { upTo, threshold, isProvable }, new Set());
  if (!plan.ok) return plan;
  const { feeSats, vsize, coins, amount } = plan,
    parts = feePartsOf({ feeSats, vsize, inputCount: coins.length, outputCount: 1 });
  return { fee: feeSats, feeMax: feeSats, moved: amount, parts };
}

/**
 * B13, G29: the absolute cap, the cap of the rate, and the share of the amount that the caller allows. Refuses:
 * AMOUNT_CAP_EXCEEDED.
 */
export function checkFeeCaps(
  network: BtcNetwork,
  { feeSats, vsize }: { readonly feeSats: bigint; readonly vsize: number },
  amount: bigint,
  ratioBpsMax: number | undefined,
): Refusal | null {
  const { feeCap, feeRateCapSatPerKvb } = network;
  const no = (reason: string, more: object) =>
    refuse('AMOUNT_CAP_EXCEEDED', { reason, feeMax: feeSats.toString(), ...more });
  if (feeSats > feeCap) return no('fee cap', { feeCap: feeCap.toString() });
  if (feeSats > feeOf(feeRateCapSatPerKvb, vsize)) {
    return no('fee rate cap', { feeRateCapSatPerKvb: feeRateCapSatPerKvb.toString() });
  }
  if (ratioBpsMax !== undefined && feeSats * 10_000n > amount * BigInt(ratioBpsMax)) {
    return no('fee ratio', { amount: amount.toString(), ratioBpsMax });
  }
  return null;
}

/**
 * What the payment of a payload pays, satoshi: its coins less its outputs; null for a payload that does not state its
 * coins. A witness names the amount of its coin, any other coin comes with the whole transaction that made it. F72.
 */
export function exactFee(payload: string): bigint | null {
  const decoded = decodePsbt(payload);
  if (!decoded.ok) return null;
  let fee = 0n;
  for (const { vout, previous, witnessUtxo } of decoded.psbt.inputs) {
    const made =
      witnessUtxo?.value ??
      (previous === null ? undefined : decodeRaw(Buffer.from(previous).toString('hex'))?.outs[vout]?.value);
    if (made === undefined) return null;
    fee += made;
  }
  return decoded.psbt.outputs.reduce((rest, { value }) => rest - value, fee);
}
