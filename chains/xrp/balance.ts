/** Balances of XRP Ledger addresses. Spec: chains.md 8.2, R24; reserves are read from the ledger, never constants. */
import type { Balance } from '../chain.ts';
import { integerIn, malformed, textIn, type Answer } from '../node-answer.ts';
import { issuedAmountOf, parseCurrency } from './currency.ts';
import { ISSUED_DECIMALS, XRP_DECIMALS } from './network.ts';

export interface XrpReserves {
  /** Drops that every account locks. */
  readonly base: bigint;
  /** Drops that every object of an account locks. */
  readonly increment: bigint;
}

/** XRP in drops from `account_data` of `account_info`; null is `actNotFound`, a real zero. Throws: MalformedReply. */
export function balanceOf(account: Answer | null, { base, increment }: XrpReserves): Balance {
  if (account === null) {
    return { amount: 0n, reserved: 0n, available: 0n, decimals: XRP_DECIMALS, accountExists: false };
  }
  const amount = integerIn(account['Balance'], 'Balance');
  const reserved = base + increment * integerIn(account['OwnerCount'], 'OwnerCount');
  return {
    amount,
    reserved,
    available: amount > reserved ? amount - reserved : 0n,
    decimals: XRP_DECIMALS,
    accountExists: true,
  };
}

/**
 * An issued balance from the lines of `account_lines`, all pages; without a line the address cannot hold the token.
 * A negative balance is what the account owes, so it holds nothing. Throws: MalformedReply.
 */
export function tokenBalanceOf(lines: readonly Answer[], currency: string, issuer: string): Balance {
  const isTheirs = (one: Answer) => one['account'] === issuer;
  const line = lines.find((one) => isTheirs(one) && parseCurrency(textIn(one['currency'], 'currency')) === currency);
  if (line === undefined) {
    return { amount: 0n, reserved: 0n, available: 0n, decimals: ISSUED_DECIMALS, accountExists: false };
  }
  const held = issuedAmountOf(line['balance']) ?? malformed('balance of a line', line);
  const amount = held > 0n ? held : 0n;
  return { amount, reserved: 0n, available: amount, decimals: ISSUED_DECIMALS, accountExists: true };
}
