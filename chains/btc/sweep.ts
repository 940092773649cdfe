/**
 * Which coins of an address a sweep takes: those that are final and worth what their input costs, no more than what is
 * credited, into one output. What is left out stays for the next one. Treasury 5.4, S12; B6, B12, B14.
 */
import { refuse, type Refusal } from '../../protocol/errors.ts';
import { outpointOf, spendable, sumOf, valueOf, type BtcInputs, type Coin } from './coin.ts';
import { planAll, type Plan, type Wish } from './selection.ts';
import { dustLimitOf, inputVsizeOf } from './size.ts';

/** Inputs of one sweep, and bytes of the previous transactions that prove them. */
export const SWEEP_INPUTS_MAX = 200;
export const SWEEP_PROOF_BYTES_MAX = 600_000;
/** A coin is swept that is worth more than this many times the fee of its input. */
const WORTH_TIMES = 3n;

export interface SweepBounds {
  readonly upTo: bigint;
  /** Confirmations of a coin that is final. */
  readonly threshold: number;
  readonly isProvable: (coin: Coin) => boolean;
}

/**
 * The sweep of an address; `taken` are outpoints that are spoken for. Refuses: INSUFFICIENT_FUNDS where nothing is
 * worth its fee, CHAIN_REJECTED (dust).
 */
export function planSweep(
  inputs: BtcInputs,
  wish: Wish,
  { upTo, threshold, isProvable }: SweepBounds,
  taken: ReadonlySet<string>,
): Plan | Refusal {
  const least = WORTH_TIMES * wish.feeFor(inputVsizeOf(wish.kind));
  const isFinal = ({ height }: Coin) => height !== null && inputs.readAtHeight - height + 1 >= threshold;
  const coins: Coin[] = [];
  let sum = 0n,
    bytes = 0;
  for (const coin of spendable(inputs, taken)) {
    const size = (coin.previous?.length ?? 0) / 2,
      value = valueOf(coin);
    const fits = sum + value <= upTo && bytes + size <= SWEEP_PROOF_BYTES_MAX && coins.length < SWEEP_INPUTS_MAX;
    if (!fits || value <= least || !isFinal(coin) || !isProvable(coin)) continue;
    coins.push(coin);
    sum += value;
    bytes += size;
  }
  const found = { balance: sum.toString(), confirmed: sumOf(inputs.coins).toString() };
  if (coins.length === 0) return refuse('INSUFFICIENT_FUNDS', { ...found, required: (least + 1n).toString() });
  const minimum = dustLimitOf(wish.to).toString();
  return (
    planAll(wish, coins) ??
    refuse('CHAIN_REJECTED', { reason: 'dust', amount: sum.toString(), minimum, coins: coins.map(outpointOf).length })
  );
}
