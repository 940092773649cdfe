/**
 * Whether a payment or an opt-in can be made, decided before anything is built. Order of refusals (X1): the parties,
 * the asset, the fee, the reserve. What a node would say is in `details.reason` (chains.md 9.2). M22 to M26.
 */
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { Intent, Token } from '../chain.ts';
import { BASE_RESERVES, minimumBalance } from './balance.ts';
import type { Fee } from './fee.ts';
import type { XlmInputs } from './inputs.ts';
import type { LedgerAccount, TrustLine } from './ledger-account.ts';

/** Largest amount and limit that the ledger can write. */
export const INT64_MAX = 2n ** 63n - 1n;
const UINT64_MAX = 2n ** 64n - 1n;

export type Wish = Pick<Intent, 'from' | 'fromPath' | 'to' | 'amount' | 'token' | 'tag' | 'tagOfAddress' | 'leave'>;

export const issuerOf = ({ contract }: Token): string => contract.split(':')[1]!;

/** A memo id or the id of a muxed account: a whole number of 64 bits, nothing around it. C8-62. */
export function isTag(tag: string): boolean {
  return /^(?:0|[1-9][0-9]{0,19})$/.test(tag) && BigInt(tag) <= UINT64_MAX;
}

/** Refuses: INVALID_ADDRESS, INVALID_INPUT (tag, memo), DESTINATION_OPT_IN_REQUIRED, CHAIN_REJECTED. */
export function checkParties(inputs: XlmInputs, { from, to, token, tag }: Wish): Refusal | null {
  if (to === from) return refuse('INVALID_ADDRESS', { chain: 'xlm', field: 'to', reason: 'the sender itself' });
  if (tag !== null && !isTag(tag)) {
    return refuse('INVALID_INPUT', { field: 'chainTag', reason: 'expected a whole number below 2^64' });
  }
  // M24, SEP-29: an account that requires a memo holds the money of many people.
  if (inputs.destination?.memoRequired === true && tag === null) {
    return refuse('INVALID_INPUT', { field: 'chainTag', reason: 'memo_required', standard: 'SEP-29' });
  }
  return token === null ? null : checkReceiver(inputs, to, token);
}

const rejected = (reason: string, more: Record<string, unknown> = {}): Refusal =>
  refuse('CHAIN_REJECTED', { reason, ...more });

/** M25, M26: an issued asset arrives only where its holder has opted in and its issuer lets him. */
function checkReceiver({ destination, issuer }: XlmInputs, to: string, token: Token): Refusal | null {
  if (issuer === null) return rejected('op_no_issuer', { asset: token.contract });
  if (to === issuerOf(token)) return null;
  const line = destination?.lines[token.contract];
  if (line === undefined) {
    const reason = destination === null ? 'op_no_destination' : 'op_no_trust';
    return refuse('DESTINATION_OPT_IN_REQUIRED', { chain: 'xlm', asset: token.contract, destination: to, reason });
  }
  return line.authorized ? null : rejected('op_not_authorized', { asset: token.contract });
}

/** What the sender can give of the asset, smallest unit: without what offers have promised. */
export function spendable({ sender }: XlmInputs, { from, token }: Pick<Wish, 'from' | 'token'>): bigint {
  if (sender === null) return 0n;
  if (token === null) return BigInt(sender.balance) - BigInt(sender.sellingLiabilities);
  if (issuerOf(token) === from) return INT64_MAX; // an issuer makes what it pays
  const line = sender.lines[token.contract];
  return line === undefined ? 0n : BigInt(line.balance) - BigInt(line.sellingLiabilities);
}

/** Stroops that may pay a fee: the ledger charges none that would go below the reserve. */
export function feeFunds(account: LedgerAccount | null, baseReserve: bigint): bigint {
  if (account === null) return 0n;
  const free = BigInt(account.balance) - BigInt(account.sellingLiabilities) - minimumBalance(account, baseReserve);
  return free > 0n ? free : 0n;
}

const short = (
  code: 'INSUFFICIENT_FUNDS' | 'INSUFFICIENT_GAS' | 'INSUFFICIENT_RESERVE',
  balance: bigint,
  required: bigint,
  reason: string,
) => refuse(code, { balance: balance.toString(), required: required.toString(), reason });

/** X1, M23. Refuses: INSUFFICIENT_FUNDS, INSUFFICIENT_GAS, INSUFFICIENT_RESERVE, CHAIN_REJECTED. */
export function checkFunds(inputs: XlmInputs, wish: Wish, amount: bigint, fee: Fee): Refusal | null {
  const { from, token } = wish,
    { sender, feePayer } = inputs,
    baseReserve = BigInt(inputs.baseReserve);
  const asset = spendable(inputs, wish);
  if (asset < amount)
    return short('INSUFFICIENT_FUNDS', asset, amount, token === null ? 'op_underfunded' : lackOf(sender, token));
  const frozen = token === null ? null : frozenBy(sender, token);
  if (frozen !== null) return rejected(frozen, { asset: token!.contract });
  const selfPaid = feePayer === from,
    native = token === null ? amount : 0n;
  const funds = feeFunds(selfPaid ? sender : inputs.payer, baseReserve);
  if (token !== null || !selfPaid) {
    if (funds < fee.total) return short('INSUFFICIENT_GAS', funds, fee.total, 'tx_insufficient_balance');
  } else if (asset < amount + fee.total)
    return short('INSUFFICIENT_GAS', asset, amount + fee.total, 'tx_insufficient_balance');
  const kept = sender === null ? 0n : minimumBalance(sender, baseReserve),
    left = native + (selfPaid ? fee.total : 0n);
  if (token === null && asset < kept + left) return short('INSUFFICIENT_RESERVE', asset, kept + left, 'op_underfunded');
  return checkRoom(inputs, wish, amount);
}

/** Why the asset can be paid to nobody from the sender's line; null where it can. K17. */
export function declines({ sender, issuer }: XlmInputs, { token }: Pick<Intent, 'token'>): string | null {
  if (token === null) return null;
  return issuer === null ? 'op_no_issuer' : frozenBy(sender, token);
}

const frozenBy = (sender: LedgerAccount | null, { contract }: Token): string | null =>
  sender?.lines[contract]?.authorized === false ? 'op_src_not_authorized' : null;

const lackOf = (sender: LedgerAccount | null, token: Token): string =>
  sender?.lines[token.contract] === undefined ? 'op_src_no_trust' : 'op_underfunded';

/** M25: a new account begins with its reserve; a line has a limit. */
function checkRoom({ destination, baseReserve }: XlmInputs, { to, token }: Wish, amount: bigint): Refusal | null {
  if (token === null) {
    const least = BigInt(BASE_RESERVES) * BigInt(baseReserve);
    if (destination !== null || amount >= least) return null;
    return refuse('INSUFFICIENT_RESERVE', {
      account: 'destination',
      reason: 'op_low_reserve',
      amount: amount.toString(),
      minimum: least.toString(),
    });
  }
  const line = destination?.lines[token.contract];
  if (line === undefined || to === issuerOf(token) || roomOf(line) >= amount) return null;
  return rejected('op_line_full', { asset: token.contract, room: roomOf(line).toString() });
}

function roomOf({ limit, balance, buyingLiabilities }: TrustLine): bigint {
  return BigInt(limit) - BigInt(balance) - BigInt(buyingLiabilities);
}

/**
 * M26, spec §4.2: the preconditions of a trust line. Refuses: INVALID_INPUT, CHAIN_REJECTED (no such account, no such
 * issuer), CONFLICT (the line is there), INSUFFICIENT_RESERVE (one entry more, and the fee), INSUFFICIENT_GAS (of
 * another fee payer).
 */
export function checkTrustline(inputs: XlmInputs, { from, token, tag }: Intent, fee: Fee): Refusal | null {
  if (token === null) return refuse('INVALID_INPUT', { field: 'asset', reason: 'a trust line is for an issued asset' });
  if (tag !== null) return refuse('INVALID_INPUT', { field: 'address', reason: 'a trust line has no tag' });
  if (issuerOf(token) === from) return refuse('INVALID_INPUT', { field: 'asset', reason: 'op_self_not_allowed' });
  const { sender, issuer, payer, feePayer } = inputs,
    baseReserve = BigInt(inputs.baseReserve);
  if (sender === null) return rejected('tx_no_source_account', { account: from });
  if (issuer === null) return rejected('op_no_issuer', { asset: token.contract });
  if (sender.lines[token.contract] !== undefined) {
    return refuse('CONFLICT', { reason: 'the trust line exists', asset: token.contract });
  }
  const selfPaid = feePayer === from,
    required = minimumBalance(sender, baseReserve, 1) + (selfPaid ? fee.total : 0n);
  const held = BigInt(sender.balance) - BigInt(sender.sellingLiabilities);
  if (held < required) return short('INSUFFICIENT_RESERVE', held, required, 'op_low_reserve');
  const funds = selfPaid ? fee.total : feeFunds(payer, baseReserve);
  return funds >= fee.total ? null : short('INSUFFICIENT_GAS', funds, fee.total, 'tx_insufficient_balance');
}
