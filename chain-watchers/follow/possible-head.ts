/**
 * Heads that cannot be. A chain mines no faster than a generous measure, so a head far above the highest one known is
 * no head: nobody counts from it, notes it or waits for the rest because of it, also where the endpoint is the only
 * one.
 *
 *   eth, head 100 known for 12 s → 1,110 may be, 1,111 may not      known for a day → 73,100 may be
 *   no head known                → any safe integer
 *   head 0 of a node that syncs, whose block 0 is of 2015 → what the chain can have mined since 2015
 */
import type { ChainClient, Head, Network } from '../../chains/chain.ts';
import { ChainUnavailable } from '../../chains/chain.ts';
import { accountOfLedger } from '../../protocol/ids.ts';
import type { Run } from '../memory.ts';
import { rememberedHead, type HeadMemory } from './head.ts';

/** Blocks by which a head may rise at once, and how many times faster than its network's pace a chain may mine. */
const BLOCKS_AT_ONCE = 1_000;
const PACE = 10;
/** No chain has an older block: an earlier time is no valid one. 2009-01-03. */
const FIRST_BLOCK_MS = 1_230_940_800_000;

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

/** What was noted of the head before a restart, or null. */
export async function notedBefore({ parts }: Run): Promise<HeadMemory | null> {
  const { headHeight, headAtMs } = await parts.store.coverage(parts.ledger);
  if (headHeight === null || headAtMs === null) return null;
  return rememberedHead({ height: headHeight, atMs: headAtMs }, parts.elapsedMs());
}

/** Whether the chain can be at a height now. A simulated ledger mines by order and is at any. */
export async function canBeAt(run: Run, height: number): Promise<boolean> {
  const { parts, memory } = run;
  if (!Number.isSafeInteger(height)) return false;
  if (accountOfLedger(parts.ledger) !== null) return true;
  const seen = memory.head ?? (await notedBefore(run));
  if (seen === null) return true;
  const known = { height: seen.highestHeight, sinceMs: seen.roseAtMs };
  return (
    height <= highestPossible(known, parts.nowMs(), parts.network) ||
    height <= highestPossible(await datedByCursor(run, known), parts.nowMs(), parts.network)
  );
}

/** A node that syncs reports old heads as new: what our newest block says of the time dates the head that is known. */
async function datedByCursor({ parts }: Run, known: KnownHead): Promise<KnownHead> {
  const cursor = await parts.store.cursor(parts.ledger);
  if (cursor === null) return known;
  const [link] = await parts.store.links(parts.ledger, cursor.height + 1, 1);
  const height = Math.max(known.height, cursor.height);
  if (link === undefined || link.timeMs === null || link.timeMs < FIRST_BLOCK_MS) return { ...known, height };
  const minedAtMs = link.timeMs + Math.max(0, height - link.height) * parts.network.blockTimeMs;
  return { height, sinceMs: Math.min(known.sinceMs, minedAtMs) };
}

/** The head of the first client that reports a possible one. Throws: ChainUnavailable when none does. */
export async function firstPossible(run: Run, clients: readonly ChainClient[], refused: Head): Promise<Head> {
  for (const client of clients) {
    try {
      const head = await client.getHead();
      if (await canBeAt(run, head.height)) return head;
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
    }
  }
  throw new ChainUnavailable(
    run.parts.network.slug,
    `the head ${refused.height} cannot be: it is further ahead than the chain can have mined`,
  );
}
