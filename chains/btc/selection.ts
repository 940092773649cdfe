/**
 * Which coins pay for what. Largest first, so that few inputs are signed and paid for. The same inputs always give the
 * same answer.
 *
 *   change ≥ dust   payment, change back to the sender
 *   change < dust   goes to the fee (B14)
 *   all             every coin that is worth its own input; amount = sum − fee, no change
 */
import { refuse, type Refusal } from '../../protocol/errors.ts';
import { spendable, sumOf, valueOf, type BtcInputs, type Coin } from './coin.ts';
import { dustLimitOf, inputVsizeOf, vsizeOf } from './size.ts';
import type { SingleKeyKind } from './spending.ts';

/** Inputs of one transaction. Choice: 500 p2wpkh inputs are 34,000 vbytes, a third of what nodes relay. */
export const INPUTS_MAX = 500;

export interface Wish {
  readonly kind: SingleKeyKind;
  readonly from: Uint8Array;
  readonly to: Uint8Array;
  readonly amount: bigint | 'all';
  /** Satoshi that a transaction of this virtual size is to pay. */
  feeFor(vsize: number): bigint;
}

export interface Plan {
  readonly ok: true;
  readonly coins: readonly Coin[];
  readonly amount: bigint;
  readonly feeSats: bigint;
  /** Null without a change output. */
  readonly changeSats: bigint | null;
  readonly vsize: number;
}

/**
 * Coins, fee and change for a wish; `taken` are outpoints that are spoken for. Refuses: INVALID_AMOUNT, CHAIN_REJECTED
 * (dust, too many coins), INSUFFICIENT_FUNDS, INSUFFICIENT_GAS.
 */
export function selectCoins(inputs: BtcInputs, wish: Wish, taken: ReadonlySet<string>): Plan | Refusal {
  const coins = spendable(inputs, taken),
    { amount } = wish;
  if (amount === 'all') return selectAll(inputs, wish, coins);
  if (amount <= 0n) return refuse('INVALID_AMOUNT', { amount: amount.toString() });
  const dust = dustLimitOf(wish.to);
  if (amount < dust) {
    return refuse('CHAIN_REJECTED', { reason: 'dust', amount: amount.toString(), minimum: dust.toString() });
  }
  for (let count = 1; count <= Math.min(coins.length, INPUTS_MAX); count += 1) {
    const plan = planOf(wish, coins.slice(0, count), amount);
    if (plan !== null) return plan;
  }
  return shortage(inputs, wish, coins, amount);
}

/** The plan for exactly these coins, or null when they do not cover amount and fee. */
export function planOf({ kind, from, to, feeFor }: Wish, coins: readonly Coin[], amount: bigint): Plan | null {
  const rest = sumOf(coins) - amount;
  const plain = vsizeOf(kind, coins.length, [to]);
  if (rest < feeFor(plain)) return null;
  const withChange = vsizeOf(kind, coins.length, [to, from]),
    feeSats = feeFor(withChange);
  const changeSats = rest - feeSats;
  if (changeSats >= dustLimitOf(from)) return { ok: true, coins, amount, feeSats, changeSats, vsize: withChange };
  return { ok: true, coins, amount, feeSats: rest, changeSats: null, vsize: plain };
}

function selectAll(inputs: BtcInputs, wish: Wish, coins: readonly Coin[]): Plan | Refusal {
  const costOfInput = wish.feeFor(inputVsizeOf(wish.kind));
  const worth = coins.filter((coin) => valueOf(coin) > costOfInput); // B6
  if (worth.length > INPUTS_MAX) return tooMany(worth.length);
  if (worth.length === 0) return shortage(inputs, wish, coins, 1n);
  return planAll(wish, worth) ?? shortage(inputs, wish, worth, dustLimitOf(wish.to));
}

/** Everything that these coins hold, less the fee; null when that is dust. */
export function planAll({ kind, to, feeFor }: Wish, coins: readonly Coin[]): Plan | null {
  const vsize = vsizeOf(kind, coins.length, [to]),
    feeSats = feeFor(vsize),
    amount = sumOf(coins) - feeSats;
  return amount < dustLimitOf(to) ? null : { ok: true, coins, amount, feeSats, changeSats: null, vsize };
}

function tooMany(coins: number): Refusal {
  return refuse('CHAIN_REJECTED', { reason: 'too many coins for one transaction', coins, limit: INPUTS_MAX });
}

/** X1: what is missing for the amount, else what is missing for the fee on top of it. */
export function shortage(
  inputs: BtcInputs,
  { kind, from, to, feeFor }: Wish,
  coins: readonly Coin[],
  amount: bigint,
): Refusal {
  const balance = sumOf(coins),
    confirmed = sumOf(inputs.coins.filter(({ height }) => height !== null));
  // the difference is immature or on its way
  const found = { balance: balance.toString(), confirmed: confirmed.toString() };
  if (balance < amount) return refuse('INSUFFICIENT_FUNDS', { ...found, required: amount.toString() });
  const feeSats = feeFor(vsizeOf(kind, Math.min(coins.length, INPUTS_MAX), [to, from]));
  if (coins.length > INPUTS_MAX && balance >= amount + feeSats) return tooMany(coins.length);
  return refuse('INSUFFICIENT_GAS', { ...found, required: (amount + feeSats).toString(), feeMax: feeSats.toString() });
}
