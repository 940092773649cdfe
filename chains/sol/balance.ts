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
  if (lamports === null) {
    return { amount: 0n, reserved: 0n, available: 0n, decimals: SOL_DECIMALS, accountExists: false };
  }
  const available = lamports > rentExempt ? lamports - rentExempt : 0n;
  return { amount: lamports, reserved: rentExempt, available, decimals: SOL_DECIMALS, accountExists: true };
}

/** What one token account of an owner holds. */
export interface TokenHolding {
  readonly amount: bigint;
  /** False for a frozen account, and for one beside the associated account: payments leave that one only (L26). */
  readonly spendable: boolean;
}

/** A token's balance: the sum over all token accounts of the owner; none of them is a real zero. Spec: chains.md L4. */
export function tokenBalanceOf(holdings: readonly TokenHolding[], decimals: number): Balance {
  const sumOf = (some: readonly TokenHolding[]) => some.reduce((sum, { amount }) => sum + amount, 0n);
  const amount = sumOf(holdings),
    available = sumOf(holdings.filter(({ spendable }) => spendable));
  return { amount, reserved: amount - available, available, decimals, accountExists: holdings.length > 0 };
}
