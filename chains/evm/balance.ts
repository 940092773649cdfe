/** Balances of EVM addresses. Every address exists and nothing of a balance is locked by the chain. */
import type { Balance } from '../chain.ts';

/** A balance that the chain stated. `available` is all of it; a fee comes out of it only for the native coin. */
export function balanceOf(amount: bigint, decimals: number): Balance {
  return { amount, reserved: 0n, available: amount, decimals, accountExists: true };
}
