/** Balances of Stellar addresses. Spec: chains.md 9.2, M23; the base reserve is read from the ledger header. */
import type { Balance, Token } from '../chain.ts';
import type { LedgerAccount } from './ledger-account.ts';
import { STELLAR_DECIMALS } from './network.ts';

const MISSING: Balance = { amount: 0n, reserved: 0n, available: 0n, decimals: STELLAR_DECIMALS, accountExists: false };

/** Reserves that an account holds whatever it owns. Source: Stellar, "Minimum balance". */
export const BASE_RESERVES = 2;

/**
 * Stroops that an account locks: (2 + subentries + sponsoring − sponsored) × base reserve; `more` entries beyond those.
 */
export function minimumBalance(
  { subentries, sponsoring, sponsored }: LedgerAccount,
  baseReserve: bigint,
  more = 0,
): bigint {
  return BigInt(Math.max(0, BASE_RESERVES + subentries + more + sponsoring - sponsored)) * baseReserve;
}

/**
 * A balance of an account; null is a real zero, and so is a token without a trust line. What standing offers have
 * promised stays in `available`, as it is no minimum; building a payment subtracts it (M23).
 */
export function balanceOf(account: LedgerAccount | null, baseReserve: bigint, token: Token | null): Balance {
  const held = account === null ? undefined : token === null ? account.balance : account.lines[token.contract]?.balance;
  if (account === null || held === undefined) return MISSING;
  const amount = BigInt(held),
    reserved = token === null ? minimumBalance(account, baseReserve) : 0n;
  const available = amount > reserved ? amount - reserved : 0n;
  return { amount, reserved, available, decimals: STELLAR_DECIMALS, accountExists: true };
}
