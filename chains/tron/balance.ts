/** Balances of TRON addresses. */
import type { Balance } from '../chain.ts';
import { integerIn, malformed, type Answer } from '../node-answer.ts';
import { TRX_DECIMALS } from './network.ts';

/**
 * TRX in sun from the answer of `getaccount`. An account without a balance has no such field; an answer without an
 * address is an account that does not exist, a real zero. Throws: MalformedReply.
 */
export function balanceOf(account: Answer): Balance {
  const exists = account['address'] !== undefined;
  if (!exists && Object.keys(account).length > 0) malformed('account without an address', account);
  const amount = account['balance'] === undefined ? 0n : integerIn(account['balance'], 'balance');
  return { amount, reserved: 0n, available: amount, decimals: TRX_DECIMALS, accountExists: exists };
}
