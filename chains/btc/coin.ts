/** Coins: outputs that pay one address and that no block has spent, as a build is given them. */
import type { BuildInputs } from '../chain.ts';
import { COINBASE_CONFIRMATIONS } from './network.ts';

/** A transaction in the node's pool that spends a coin, with its descendants there. */
export interface Spender {
  readonly txid: string;
  readonly feeSats: string;
  readonly vsize: number;
  /** Itself and everything that spends from it, in the pool. */
  readonly descendantCount: number;
  readonly descendantFeeSats: string;
}

export interface Coin {
  readonly txid: string;
  readonly vout: number;
  readonly valueSats: string;
  /** Null while the transaction that made it is in no block: then it is change of the sender's own. B19. */
  readonly height: number | null;
  readonly coinbase: boolean;
  /** `hidden`: something in the pool spends it, and the node cannot name it. */
  readonly spender: Spender | 'hidden' | null;
  /** The whole transaction that made it, hex; null where it was not fetched or the node no longer has it. B12. */
  readonly previous: string | null;
}

/** Everything that was asked for a build; amounts are decimal texts in satoshi. */
export interface BtcInputs extends BuildInputs {
  readonly readAtHash: string;
  readonly coins: readonly Coin[];
  /** Answer of `estimatesmartfee`, or null when the node has not seen enough. B18. */
  readonly estimateSatPerKvb: string | null;
  readonly mempoolMinSatPerKvb: string;
  readonly relayMinSatPerKvb: string;
  /** What a replacement pays more, per its own size. B16. */
  readonly incrementalSatPerKvb: string;
}

export const outpointOf = ({ txid, vout }: { readonly txid: string; readonly vout: number }): string =>
  `${txid}:${vout}`;

export const valueOf = ({ valueSats }: Coin): bigint => BigInt(valueSats);

export function sumOf(coins: readonly Coin[]): bigint {
  return coins.reduce((sum, coin) => sum + valueOf(coin), 0n);
}

/** True once a block may hold a transaction that spends the coin. B3, B19. */
export function isMature({ coinbase, height }: Coin, headHeight: number): boolean {
  return !coinbase || (height !== null && headHeight - height + 1 >= COINBASE_CONFIRMATIONS);
}

/**
 * Coins that a new transaction may spend, in the order in which they are taken: confirmed ones before own change that
 * is still in the pool, larger ones first. `taken` are outpoints that are spoken for. B19.
 */
export function spendable({ coins, readAtHeight }: BtcInputs, taken: ReadonlySet<string>): Coin[] {
  return coins
    .filter((coin) => coin.spender === null && isMature(coin, readAtHeight) && !taken.has(outpointOf(coin)))
    .sort(byPreference);
}

export function byPreference(a: Coin, b: Coin): number {
  if ((a.height === null) !== (b.height === null)) return a.height === null ? 1 : -1;
  const difference = valueOf(b) - valueOf(a);
  if (difference !== 0n) return difference > 0n ? 1 : -1;
  return outpointOf(a) < outpointOf(b) ? -1 : 1;
}
