/** Balances of Bitcoin addresses: what confirmed outputs hold. */
import type { Balance } from '../chain.ts';
import { BTC_DECIMALS, COINBASE_CONFIRMATIONS } from './network.ts';

export interface UnspentOutput {
  readonly amount: bigint;
  /** 0 while it is in no block. */
  readonly confirmations: number;
  readonly coinbase: boolean;
  /** A transaction in the pool spends it. An output in no block that is not leaving is then change of that payment. */
  readonly leaving?: boolean;
}

/**
 * Sum of the confirmed outputs in satoshi. Reserved is what of it a coinbase still locks (B3), and what is leaving with
 * payments that are in no block yet, less their change. Spec: chains.md B2, B19.
 */
export function balanceOf(outputs: readonly UnspentOutput[]): Balance {
  const sum = (of: readonly UnspentOutput[]) => of.reduce((total, { amount }) => total + amount, 0n);
  const confirmed = outputs.filter(({ confirmations }) => confirmations > 0);
  const leaving = confirmed.filter((output) => output.leaving === true);
  const change =
    leaving.length === 0 ? [] : outputs.filter((output) => output.confirmations === 0 && output.leaving !== true);
  const immature = confirmed.filter(
    ({ coinbase, confirmations }) => coinbase && confirmations < COINBASE_CONFIRMATIONS,
  );
  const amount = sum(confirmed),
    reserved = sum(immature) + sum(leaving) - sum(change);
  return { amount, reserved, available: amount - reserved, decimals: BTC_DECIMALS, accountExists: true };
}
