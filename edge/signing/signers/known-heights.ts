/**
 * A recent block of each chain whose payloads name heights, known with this release. With the edge's own clock it
 * bounds how high the chain can be, without the cloud: a payload that names a greater height lies in wait. found F8.
 *
 * Renew the table with each release (then also test/vectors/refusals.json): a test refuses a table that is older than a
 * year on the day that CHANGELOG.md gives the release, since the bound grows looser every day (blocks are counted at
 * their fastest pace).
 */
import type { Chain } from '../../../protocol/slugs.ts';

export interface KnownHeight {
  /** Height of the chain at `at`, or less. */
  readonly height: number;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** No month had a faster pace of blocks. Milliseconds. */
  readonly blockMsMin: number;
  /** Blocks by which a burst may exceed that pace. */
  readonly slack: number;
  readonly source: string;
}

export const KNOWN_HEIGHTS: Readonly<Partial<Record<Chain, KnownHeight>>> = {
  btc: {
    height: 957_326,
    at: '2026-07-09T16:29:44Z',
    blockMsMin: 540_000,
    slack: 288,
    source:
      'header of block 00000000000000000001219f91f390cf6fc1bc962ca73edba5a96cebcc30bc91; 606 s a block since 2026-02',
  },
  // Block heights lag slots by the slots that were skipped: 407,107,405 at slot 429,032,115, and slot 445,058,326 here.
  sol: {
    height: 423_133_616,
    at: '2026-09-07T11:51:22Z',
    blockMsMin: 200,
    slack: 9_000,
    source: 'getEpochInfo of epoch 993; block time of slot 445,058,326; 360 ms a slot in 2026-08',
  },
  xrp: {
    height: 106_359_162,
    at: '2026-08-17T16:16:20Z',
    blockMsMin: 3_500,
    slack: 1_000,
    source:
      'ledger 333BFF26AA0ADE0276162C6DFE82D3D94D0EC7054DFFE5BF2F7BAF47A1E02920; 3.9 to 4.1 s a ledger since 2024-08',
  },
  xlm: {
    height: 63_705_600,
    at: '2026-07-29T16:56:34Z',
    blockMsMin: 4_500,
    slack: 1_000,
    source:
      'ledger 63705600, transaction f1b942a37cd85b06573062d7424c5f135ad42e2902fb8f8bdc3df774d6dd32a1; 5.6 s a ledger in 2026-07',
  },
};

const YEAR_MS = 366 * 86_400_000;

/**
 * Highest height that a chain can have by this clock; null for a chain whose payloads name none. A clock that is set
 * back does not lower it below the release's own block; without a clock a year is added to that.
 */
export function highestHeight(chain: Chain, nowMs: number | undefined): number | null {
  const known = KNOWN_HEIGHTS[chain];
  if (known === undefined) return null;
  const atMs = Date.parse(known.at),
    elapsedMs = Math.max(0, (nowMs ?? atMs + YEAR_MS) - atMs);
  return known.height + Math.ceil(elapsedMs / known.blockMsMin) + known.slack;
}

/** Chains whose row is too old for a release on that day. */
export function outdatedAt(releaseMs: number, table = KNOWN_HEIGHTS): Chain[] {
  return Object.entries(table).flatMap(([chain, { at }]) =>
    releaseMs - Date.parse(at) > YEAR_MS ? [chain as Chain] : [],
  );
}
