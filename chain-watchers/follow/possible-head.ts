/**
 * A head that cannot be (`chains/possible-height.ts`) is no head: nobody counts from it, notes it or waits for the rest
 * because of it, also where the endpoint is the only one. Here is what dates the highest head known:
 *
 *   head 0 of a node that syncs, whose block 0 is of 2015 → what the chain can have mined since 2015
 */
import { ChainUnavailable, type ChainClient, type Head } from '../../chains/chain.ts';
import { highestPossible, type KnownHead } from '../../chains/possible-height.ts';
import { accountOfLedger } from '../../protocol/ids.ts';
import type { Run } from '../memory.ts';
import { rememberedHead, type HeadMemory } from './head.ts';

/** No chain has an older block: an earlier time is no valid one. 2009-01-03. */
const FIRST_BLOCK_MS = 1_230_940_800_000;

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
