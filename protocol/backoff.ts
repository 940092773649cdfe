/** The pause before a try is repeated, wherever one is. Pure: the random number comes in. */

export interface Backoff {
  readonly firstMs: number;
  readonly mostMs: number;
  /** A pause is shortened by a random part of at most this; by nothing where it is not given. */
  readonly jitterPercent?: number;
}

/** More of them are beyond every `mostMs`, and the number stays finite. */
const DOUBLINGS_MAX = 40;

/**
 * Whole milliseconds: `firstMs`, doubled `doublings` times (never when that is negative), at most `mostMs`, less the
 * jitter. `random` is in [0, 1).
 */
export function backoffMs(doublings: number, { firstMs, mostMs, jitterPercent = 0 }: Backoff, random = 0): number {
  const fullMs = Math.min(mostMs, firstMs * 2 ** Math.min(Math.max(doublings, 0), DOUBLINGS_MAX));
  return Math.ceil(fullMs * (1 - (jitterPercent / 100) * random));
}
