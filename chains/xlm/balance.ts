/** Balances of Stellar addresses. Spec: chains.md 9.2, M23; the base reserve is read from the ledger header. */
import type { Balance, Token } from '../chain.ts';
import { countIn, listIn, malformed, objectIn, type Answer } from '../node-answer.ts';
import { STELLAR_DECIMALS } from './network.ts';
import { assetIn, stroopsIn } from './records.ts';

const MISSING: Balance = { amount: 0n, reserved: 0n, available: 0n, decimals: STELLAR_DECIMALS, accountExists: false };

/** Reserves that an account holds whatever it owns. Source: Stellar, "Minimum balance". */
const BASE_RESERVES = 2;

/** Stroops that an account record locks: (2 + subentries + sponsoring − sponsored) × base reserve. Throws: MalformedReply. */
export function minimumBalance(account: Answer, baseReserve: bigint): bigint {
  const own = countIn(account['subentry_count'], 'subentry_count');
  const sponsoring = countIn(account['num_sponsoring'] ?? 0, 'num_sponsoring');
  const sponsored = countIn(account['num_sponsored'] ?? 0, 'num_sponsored');
  const entries = BASE_RESERVES + own + sponsoring - sponsored;
  return entries < 0 ? malformed('reserve below zero', account) : BigInt(entries) * baseReserve;
}

/**
 * A balance from an account record; null is a 404, a real zero, and so is a token without a trust line. What standing
 * offers have promised stays in `available`, as it is no minimum; building a payment subtracts it (M23).
 * Throws: MalformedReply.
 */
export function balanceOf(account: Answer | null, baseReserve: bigint, token: Token | null): Balance {
  if (account === null) return MISSING;
  const held = listIn(account['balances'], 'balances').map((entry) => objectIn(entry, 'balance'))
    .filter((entry) => entry['asset_type'] !== 'liquidity_pool_shares')
    .find((entry) => assetIn(entry) === (token === null ? null : token.contract));
  if (held === undefined) return token === null ? malformed('account without a native balance', account) : MISSING;
  const amount = stroopsIn(held['balance'], 'balance');
  const reserved = token === null ? minimumBalance(account, baseReserve) : 0n;
  return { amount, reserved, available: amount > reserved ? amount - reserved : 0n, decimals: STELLAR_DECIMALS, accountExists: true };
}
