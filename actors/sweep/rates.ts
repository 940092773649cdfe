/**
 * What a fee in native coins comes to in a token. Of live accounts by what administrators said within a day
 * (`PUT /v1/admin/rates`, RATES_FILE); a sandbox has fixed rates, which docs/treasury.md lists. None is invented: a
 * token without one is `no_rate`. Treasury W12.
 */
import { findDeployment, type Registry } from '../../chains/catalogue.ts';
import type { Network } from '../../chains/chain.ts';
import { factsOf, networkOf } from '../../chains/registry.ts';
import type { RateStore, TokenRate } from '../../model/ports/rate-store.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import type { Chain, Environment } from '../../protocol/slugs.ts';

/** Smallest units of the asset for one smallest native unit. */
export type Rate = Pick<TokenRate, 'numerator' | 'denominator'>;
/** A rate, and when it was observed; null for one that does not change. */
export interface UsedRate extends Rate {
  readonly observedAtMs: number | null;
}

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
/** How long an observation counts. */
const RATE_TTL_MS = 86_400_000;
/** Clocks of those who observe may be ahead by so much. */
const AHEAD_MS = 300_000;

/** The native coin in its own units. */
export const AT_PAR: UsedRate = { numerator: 1n, denominator: 1n, observedAtMs: null };

/** The fixed rate of every simulated ledger. */
export const sandboxRate = (
  { slug, nativeDecimals }: Pick<Network, 'slug' | 'nativeDecimals'>,
  decimals: number,
): UsedRate => ({
  numerator: SANDBOX_CENTS[slug] * 10n ** BigInt(decimals),
  denominator: TOKEN_CENTS * 10n ** BigInt(nativeDecimals),
  observedAtMs: null,
});

/** The rate of a token, null where there is none or it is older than a day. `token` null: the native coin itself. */
export async function rateOf(
  rates: Pick<RateStore, 'rate'>,
  network: Pick<Network, 'slug' | 'nativeDecimals'>,
  environment: Environment,
  token: { readonly contract: string; readonly decimals: number } | null,
  nowMs: number,
): Promise<UsedRate | null> {
  if (token === null) return AT_PAR;
  if (environment === 'sandbox') return sandboxRate(network, token.decimals);
  const kept = await rates.rate(network.slug, token.contract);
  return kept !== null && isInForce(kept, nowMs) ? kept : null;
}

export const rateEndsAtMs = ({ observedAtMs }: Pick<TokenRate, 'observedAtMs'>): number => observedAtMs + RATE_TTL_MS;
const isInForce = (rate: Pick<TokenRate, 'observedAtMs'>, nowMs: number): boolean => nowMs < rateEndsAtMs(rate);

/** Smallest units of the asset, rounded up; null where there is no rate. */
export function costInAsset(cost: bigint, rate: Rate | null): bigint | null {
  if (rate === null) return null;
  const { numerator, denominator } = rate;
  return (cost * numerator + denominator - 1n) / denominator;
}

/** A rate as an administrator says it. */
export interface StatedRate {
  readonly chain: Chain;
  readonly tokenContract: string;
  readonly numerator: string;
  readonly denominator: string;
  readonly observedAt: string;
}

/**
 * A rate that may be kept: of a token of the registry, observed within the last day. Refuses: TOKEN_NOT_SUPPORTED,
 * TOKEN_NOT_ON_CHAIN, INVALID_INPUT `observedAt`.
 */
export function statedRate(stated: StatedRate, registry: Registry, nowMs: number): TokenRate | Refusal {
  const { chain, tokenContract } = stated;
  const parsed = factsOf(chain).parseToken(networkOf(chain), tokenContract);
  if (isRefusal(parsed)) return parsed;
  const deployment = findDeployment(chain, parsed, registry);
  if (isRefusal(deployment)) return deployment;
  const observedAtMs = Date.parse(stated.observedAt);
  const is = observedAtMs - nowMs > AHEAD_MS ? 'in_the_future' : isInForce({ observedAtMs }, nowMs) ? null : 'stale';
  if (is !== null)
    return refuse(
      'INVALID_INPUT',
      { field: 'observedAt', reason: is },
      is === 'stale'
        ? 'a rate counts for 24 hours from when it was observed: send a later one'
        : 'observedAt is later than now: send when the rate was observed',
    );
  const { contract } = deployment;
  return {
    chain,
    contract,
    numerator: BigInt(stated.numerator),
    denominator: BigInt(stated.denominator),
    observedAtMs,
  };
}
