/** Balances of EVM addresses. Every address exists and nothing of a balance is locked by the chain. */
import type { Balance } from '../chain.ts';

/** A balance that the chain stated. `available` is all of it; a fee comes out of it only for the native coin. */
export function balanceOf(amount: bigint, decimals: number): Balance {
  return { amount, reserved: 0n, available: amount, decimals, accountExists: true };
}

/**
 * V7: growth of an address's native balance between two blocks that the known movements do not explain, wei; negative
 * when more left than is known. `fees` are those of its own transactions.
 */
export function unexplainedGrowth(
  movements: { readonly before: bigint; readonly after: bigint; readonly received: bigint; readonly sent: bigint; readonly fees: bigint },
): bigint {
  const { before, after, received, sent, fees } = movements;
  return after - before - received + sent + fees;
}
