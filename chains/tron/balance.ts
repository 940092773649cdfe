/** Balances of TRON addresses. */
import type { Balance } from '../chain.ts';
import { integerIn, malformed, objectIn, type Answer } from '../node-answer.ts';
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

const WORD = /^[0-9a-fA-F]{64}$/;

/**
 * A TRC-20 balance from the answer of `triggerconstantcontract balanceOf(address)`, which works for accounts that do
 * not exist too. Throws: MalformedReply when the call failed: a failed read is no zero (G8).
 */
export function tokenBalanceOf(answer: Answer, decimals: number): Balance {
  const { result, constant_result: words } = answer;
  const word = Array.isArray(words) ? (words[0] as unknown) : undefined;
  const succeeded = objectIn(result ?? {}, 'result of a constant call')['result'] === true;
  if (!succeeded || typeof word !== 'string' || !WORD.test(word)) return malformed('constant call', answer);
  const amount = BigInt(`0x${word}`);
  return { amount, reserved: 0n, available: amount, decimals, accountExists: true };
}
