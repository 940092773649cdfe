/** Sizes, fees of sizes, and dust. Rates are satoshi per 1,000 virtual bytes (kvB), as nodes compute with them. */
import { outputOf } from './script.ts';
import { INPUT_WEIGHT, type SingleKeyKind } from './spending.ts';

/** Version, lock time, the two counts, and marker and flag of the witness form, weight units. */
const FRAME_WEIGHT = 4 * (4 + 4 + 1 + 1) + 2;
/** A count above 252 takes two more bytes. */
const COUNT_WEIGHT_MORE = 4 * 2;
const COUNT_SHORT_MAX = 252;

/** Size of an output: value, length, script. Bytes. */
const outputBytes = (script: Uint8Array): number => 8 + 1 + script.length;

/** Highest virtual size of a transaction with that many inputs of a kind and these output scripts, vbytes. */
export function vsizeOf(kind: SingleKeyKind, inputCount: number, scripts: readonly Uint8Array[]): number {
  const counts = inputCount > COUNT_SHORT_MAX ? COUNT_WEIGHT_MORE : 0;
  const outputs = scripts.reduce((sum, script) => sum + 4 * outputBytes(script), 0);
  return Math.ceil((FRAME_WEIGHT + counts + inputCount * INPUT_WEIGHT[kind] + outputs) / 4);
}

/** Virtual size of one input, vbytes, rounded up. */
export function inputVsizeOf(kind: SingleKeyKind): number {
  return Math.ceil(INPUT_WEIGHT[kind] / 4);
}

/** Fee of a size at a rate, satoshi, rounded up. */
export function feeOf(rateSatPerKvb: bigint, vsize: number): bigint {
  return (rateSatPerKvb * BigInt(vsize) + 999n) / 1_000n;
}

/** Rate by which an output counts as dust. Source: bitcoin/bitcoin src/policy/policy.h DUST_RELAY_TX_FEE. */
const DUST_SAT_PER_KVB = 3_000n;
/** Bytes of the input that would spend the output, as the policy counts them. */
const WITNESS_INPUT_BYTES = 67;
const LEGACY_INPUT_BYTES = 148;

/** Smallest amount that is no dust on a script: 546 p2pkh, 540 p2sh, 294 p2wpkh, 330 p2wsh and p2tr, satoshi. B14. */
export function dustLimitOf(script: Uint8Array): bigint {
  const kind = outputOf(script)?.kind;
  const isWitness = kind === 'p2wpkh' || kind === 'p2wsh' || kind === 'p2tr';
  return feeOf(DUST_SAT_PER_KVB, outputBytes(script) + (isWitness ? WITNESS_INPUT_BYTES : LEGACY_INPUT_BYTES));
}

/** The largest of some amounts. */
export function largest(...amounts: readonly bigint[]): bigint {
  return amounts.reduce((most, amount) => (amount > most ? amount : most));
}
