/**
 * Heads that cannot be. A chain mines no faster than a generous measure, so a head far above the highest one known is
 * no head.
 *
 *   eth, head 100 known for 12 s → 1,110 may be, 1,111 may not      known for a day → 73,100 may be
 *   no head known                → any safe integer
 */
import type { Network } from './chain.ts';

/** Blocks by which a head may rise at once, and how many times faster than its network's pace a chain may mine. */
export const BLOCKS_AT_ONCE = 1_000;
const PACE = 10;

export interface KnownHead {
  readonly height: number;
  readonly sinceMs: number;
}

/** The highest head that a chain can have; of a chain of which no head is known the highest safe integer. */
export function highestPossible(
  known: KnownHead | null,
  nowMs: number,
  { blockTimeMs }: Pick<Network, 'blockTimeMs'>,
): number {
  if (known === null) return Number.MAX_SAFE_INTEGER;
  const mined = Math.floor((PACE * Math.max(0, nowMs - known.sinceMs)) / blockTimeMs);
  return Math.min(Number.MAX_SAFE_INTEGER, known.height + BLOCKS_AT_ONCE + mined);
}

/**
 * The highest claim that another one is near: an endpoint alone, however high it counts, is no measure of a chain. Null
 * where no two are near each other.
 *
 *   5,000 and 5,002 → 5,000      5,000 and 9,000,000 → null      9,000,001 and 9,000,000 and 5,000 → 9,000,000
 */
export function supportedClaim(claims: readonly number[]): number | null {
  const sorted = claims.toSorted((a, b) => b - a);
  return sorted.find((claim, index) => index > 0 && sorted[index - 1]! - claim <= BLOCKS_AT_ONCE) ?? null;
}
