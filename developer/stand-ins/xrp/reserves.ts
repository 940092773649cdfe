/** What an account must keep, and what it may spend. */
import { accountKey, type Entry } from './entries.ts';
import type { View } from './view.ts';

/** Drops that validators have voted for. */
export interface Fees {
  readonly baseFee: bigint;
  readonly reserveBase: bigint;
  readonly reserveIncrement: bigint;
}

export const balanceOf = (account: Entry): bigint => BigInt(String(account['Balance']));
export const ownerCountOf = (account: Entry): number => Number(account['OwnerCount'] ?? 0);

/** The reserve of an account with so many objects, drops. */
export function reserveOf({ reserveBase, reserveIncrement }: Fees, objects: number): bigint {
  return reserveBase + reserveIncrement * BigInt(objects);
}

/** Moves an account's count of objects. */
export function own(view: View, address: string, objects: number): void {
  const key = accountKey(address),
    account = view.get(key)!;
  view.change(key, { OwnerCount: ownerCountOf(account) + objects });
}

/** Adds drops to an account, or takes them. */
export function credit(view: View, address: string, drops: bigint): void {
  const key = accountKey(address);
  view.change(key, { Balance: (balanceOf(view.get(key)!) + drops).toString() });
}
