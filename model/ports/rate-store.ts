/** What native coins are worth in tokens, by administrators. Treasury W12. */
import type { Chain } from '../../protocol/slugs.ts';

/** Smallest units of the token for one smallest native unit of its chain: `numerator ÷ denominator`. */
export interface TokenRate {
  readonly chain: Chain;
  readonly contract: string;
  readonly numerator: bigint;
  readonly denominator: bigint;
  readonly observedAtMs: number;
}

export interface KeptRate extends TokenRate {
  /** The administrator; null where it came from RATES_FILE. */
  readonly setBy: string | null;
  readonly setAtMs: number;
}

export interface RateStore {
  rate(chain: Chain, contract: string): Promise<TokenRate | null>;
  /** All of them, by chain and contract: at most one for each token of the registry. */
  rates(): Promise<KeptRate[]>;
  /** Keeps one. False where a later observation is kept. */
  save(rate: TokenRate, by: string | null): Promise<boolean>;
}
