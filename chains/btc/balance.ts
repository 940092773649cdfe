/** Balances of Bitcoin addresses: what confirmed outputs hold. */
import type { Balance } from '../chain.ts';
import { BTC_DECIMALS, COINBASE_CONFIRMATIONS } from './network.ts';

export interface UnspentOutput {
  readonly amount: bigint;
  /** 0 while it stands in no block. */
  readonly confirmations: number;
  readonly coinbase: boolean;
}

/** Sum of the confirmed outputs in satoshi; what of it a coinbase still locks is reserved. Spec: chains.md B2, B3. */
export function balanceOf(outputs: readonly UnspentOutput[]): Balance {
  const confirmed = outputs.filter(({ confirmations }) => confirmations > 0);
  const sum = (of: readonly UnspentOutput[]) => of.reduce((total, { amount }) => total + amount, 0n);
  const amount = sum(confirmed);
  const reserved = sum(confirmed.filter(({ coinbase, confirmations }) => coinbase && confirmations < COINBASE_CONFIRMATIONS));
  return { amount, reserved, available: amount - reserved, decimals: BTC_DECIMALS, accountExists: true };
}
