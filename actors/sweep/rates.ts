/**
 * What a fee in native coins comes to in a token. A sandbox has fixed rates, which docs/treasury.md lists; there are no
 * others yet, so that a ratio of a live token is `no_rate`. None is invented. Treasury W12.
 */
import type { Network } from '../../chains/chain.ts';
import type { Chain, Environment } from '../../protocol/slugs.ts';

/** Cents of a whole native coin, where every token is worth a hundred. */
const SANDBOX_CENTS: Readonly<Record<Chain, bigint>> = {
  btc: 6_000_000n,
  eth: 300_000n,
  base: 300_000n,
  bsc: 60_000n,
  avax: 3_000n,
  polygon: 50n,
  tron: 25n,
  sol: 15_000n,
  xrp: 200n,
  xlm: 30n,
};
const TOKEN_CENTS = 100n;

/** Smallest units of the asset, rounded up; null where there is no rate. `decimals` null: the native coin itself. */
export function costInAsset(
  cost: bigint,
  { slug, nativeDecimals }: Pick<Network, 'slug' | 'nativeDecimals'>,
  environment: Environment,
  decimals: number | null,
): bigint | null {
  if (decimals === null) return cost;
  if (environment !== 'sandbox') return null;
  const numerator = cost * SANDBOX_CENTS[slug] * 10n ** BigInt(decimals),
    denominator = TOKEN_CENTS * 10n ** BigInt(nativeDecimals);
  return (numerator + denominator - 1n) / denominator;
}
