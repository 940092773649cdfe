/** What the pool asks for: fees of a size, and the least that an output may hold. */
import { isUnspendable, witnessProgramOf } from './scripts.ts';

/** Fee of a size at a rate, satoshi, rounded up. Source: bitcoin/bitcoin src/policy/feerate.cpp CFeeRate::GetFee. */
export function feeOf(rateSatPerKvb: bigint, vsize: number): bigint {
  return (rateSatPerKvb * BigInt(vsize) + 999n) / 1_000n;
}

const DUST_SAT_PER_KVB = 3_000n;
/** The input that would spend an output: outpoint, script length, script or a quarter of the witness, sequence. */
const WITNESS_INPUT_BYTES = 32 + 4 + 1 + Math.floor(107 / 4) + 4,
  INPUT_BYTES = 32 + 4 + 1 + 107 + 4;
/** Value, and the length of a script below 253 bytes. */
const OUTPUT_BYTES = 8 + 1;

/**
 * Smallest amount that is no dust on a script, satoshi. Source: bitcoin/bitcoin src/policy/policy.cpp GetDustThreshold.
 */
export function dustLimitOf(script: Uint8Array): bigint {
  if (isUnspendable(script)) return 0n;
  const input = witnessProgramOf(script) === null ? INPUT_BYTES : WITNESS_INPUT_BYTES;
  return feeOf(DUST_SAT_PER_KVB, OUTPUT_BYTES + script.length + input);
}
