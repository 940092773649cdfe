/** Balances of Solana addresses. */
import type { Balance } from '../chain.ts';
import { SOL_DECIMALS } from './network.ts';

export interface SolBalanceInputs {
  /** Null when the account does not exist, which is a real zero. */
  readonly lamports: bigint | null;
  /** `getMinimumBalanceForRentExemption` of the account's size, asked of the chain. */
  readonly rentExempt: bigint;
}

/** SOL in lamports; the rent-exempt minimum is reserved while the account exists. Spec: chains.md L28. */
export function balanceOf({ lamports, rentExempt }: SolBalanceInputs): Balance {
  if (lamports === null) return { amount: 0n, reserved: 0n, available: 0n, decimals: SOL_DECIMALS, accountExists: false };
  const available = lamports > rentExempt ? lamports - rentExempt : 0n;
  return { amount: lamports, reserved: rentExempt, available, decimals: SOL_DECIMALS, accountExists: true };
}

/** A token's balance: the sum over all token accounts of the owner; none of them is a real zero. Spec: chains.md L4. */
export function tokenBalanceOf(amounts: readonly bigint[], decimals: number): Balance {
  const amount = amounts.reduce((sum, part) => sum + part, 0n);
  return { amount, reserved: 0n, available: amount, decimals, accountExists: amounts.length > 0 };
}
