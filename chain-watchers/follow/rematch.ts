/**
 * The last blocks, matched again with addresses created since: one paid in the block of its birth is not missed.
 */
import { accountOfLedger } from '../../protocol/ids.ts';
import type { BlockLink, WatchedAddress } from '../../model/ports/watch-store.ts';
import { readAgreed } from './movements.ts';
import { chainFailure } from '../../chains/failure.ts';
import { contentOf, environmentOfLedger } from './content.ts';
import { matchTransfers, type KeyedBlock } from './match.ts';
import type { Run } from '../memory.ts';

/** Limit of blocks and of their transfers that are kept in memory. */
const RECENT_BLOCKS_MAX = 256;
const RECENT_TRANSFERS_MAX = 200_000;
/**
 * Pause between two matches, and how far each looks back before the last: a commit may be this much later than its
 * clock.
 */
const REMATCH_EVERY_MS = 2_000;
const REMATCH_OVERLAP_MS = 10_000;
/** Blocks of before a restart that may fail in one round; a node that is down is not asked for the rest. */
const RELOAD_FAILURES_MAX = 3;

/** Blocks that a span of time holds, at least two. `rematchMs` 60 s: eth 6 · bsc 134 · btc 2. */
export function recentBlocksOf(blockTimeMs: number, rematchMs: number): number {
  return Math.min(RECENT_BLOCKS_MAX, Math.max(2, Math.ceil(rematchMs / blockTimeMs) + 1));
}

/** Keeps a decoded block for the second match; the oldest go when there are too many. */
export function remember(run: Run, block: KeyedBlock): void {
  const { memory, parts } = run;
  const limit = recentBlocksOf(parts.network.blockTimeMs, parts.settings.rematchMs);
  memory.recent.push(block);
  let transfers = memory.recent.reduce((sum, kept) => sum + kept.transfers.length, 0);
  while (memory.recent.length > limit || (transfers > RECENT_TRANSFERS_MAX && memory.recent.length > 2)) {
    transfers -= memory.recent.shift()!.transfers.length;
  }
}

/** Forgets blocks that a reorg replaced. */
export function forgetAbove(run: Run, height: number): void {
  run.memory.recent = run.memory.recent.filter((block) => block.height <= height);
}

/**
 * Matches the kept blocks with addresses created since the last time; facts found are recorded beside the block's.
 * Answers the number of accounts that got late facts, block by block.
 */
export async function rematch(run: Run): Promise<number> {
  const { parts, memory, waker } = run;
  const nowMs = parts.nowMs(),
    elapsedMs = parts.elapsedMs();
  const everyMs = Math.min(REMATCH_EVERY_MS, parts.settings.rematchMs);
  if (memory.rematched !== null && elapsedMs - memory.rematched.elapsedMs < everyMs) return 0;
  // An address is dated by a wall clock: one that was set back dates the next ones before the last match.
  const sinceMs =
    memory.rematched === null
      ? nowMs - parts.settings.rematchMs
      : Math.min(memory.rematched.nowMs, nowMs - (elapsedMs - memory.rematched.elapsedMs));
  const young = await parts.store.addressesSince(environmentOfLedger(parts), sinceMs - REMATCH_OVERLAP_MS);
  const whole = young.length === 0 || (await reload(run));
  const byKey = new Map<string, WatchedAddress>(young.map((address) => [address.addressKey, address]));
  let late = 0;
  for (const block of byKey.size === 0 ? [] : memory.recent) {
    const context = { ledger: parts.ledger, network: parts.network, only: accountOfLedger(parts.ledger) };
    await reopenDisputed(run, block, byKey);
    const transfers = matchTransfers(context, block, byKey);
    if (transfers.length === 0) continue;
    const accounts = await parts.store.recordLate(parts.ledger, { height: block.height, hash: block.hash }, transfers);
    waker.wake(accounts);
    late += accounts.length;
  }
  // Who is young now is matched with what could not be read again, whenever it can be.
  memory.rematched = { nowMs: whole ? nowMs : sinceMs, elapsedMs };
  return late;
}

/**
 * A movement that two endpoints reported differently pays an address that is watched now: the block is read again until
 * they agree, as one that was never proven.
 */
async function reopenDisputed(
  { parts, memory }: Run,
  block: KeyedBlock,
  young: ReadonlyMap<string, WatchedAddress>,
): Promise<void> {
  if (block.disputed?.some(({ addressKey }) => young.has(addressKey)) !== true) return;
  const { height, hash, transfers } = block;
  await parts.store.reopenHeight(
    parts.ledger,
    { height, hash },
    'endpoints contradict each other about a payment to a new address',
  );
  memory.agreed.delete(hash);
  memory.recent = memory.recent.map((one) => (one === block ? { height, hash, transfers } : one));
}

/**
 * After a restart nothing is kept: the last blocks are read again, as far as the chain still holds them. False while
 * one of them cannot be read: it holds back no other, and is tried again next time. Which they are is decided once, so
 * that none falls out of the window while the node fails; an unresolved height is matched with everybody when its
 * content is proven.
 */
async function reload(run: Run): Promise<boolean> {
  const { parts, memory } = run;
  if (memory.unread === null) {
    const limit = recentBlocksOf(parts.network.blockTimeMs, parts.settings.rematchMs);
    const oldest = memory.recent[0]?.height ?? Number.MAX_SAFE_INTEGER;
    const unresolved = new Set((await parts.store.coverage(parts.ledger)).unresolved.map(({ height }) => height));
    const links = await parts.store.links(parts.ledger, oldest, limit - Math.min(limit, memory.recent.length));
    memory.unread = links.filter(({ height }) => !unresolved.has(height));
  }
  const failed: BlockLink[] = [];
  for (const [index, link] of memory.unread.entries()) {
    try {
      const block = await readAgreed(run, link.height);
      if (block.hash === link.hash) memory.recent.unshift((await contentOf(run, block, null)).keyed);
    } catch (error) {
      if (chainFailure(error) === null) throw error;
      failed.push(link);
      if (failed.length < RELOAD_FAILURES_MAX) continue;
      failed.push(...memory.unread.slice(index + 1));
      break;
    }
  }
  memory.unread = failed;
  memory.recent.sort((a, b) => a.height - b.height);
  return failed.length === 0;
}
