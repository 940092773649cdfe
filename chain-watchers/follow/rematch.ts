/**
 * The last blocks, matched again with addresses created since: one paid in the block of its birth is not missed.
 */
import { accountOfLedger } from '../../protocol/ids.ts';
import type { BlockLink, Cursor, WatchedAddress } from '../../model/ports/watch-store.ts';
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
/** Young addresses that are read; where there are more, those are looked for that the blocks pay. */
const YOUNG_MAX = 2_000;
/** How far ahead of true a block's time may be. Source: MAX_FUTURE_BLOCK_TIME of Bitcoin Core, two hours. */
const BTC_AHEAD_MS = 7_200_000;

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
 * Before the first new block is read: which blocks were the last ones. An address that was issued while one of them was
 * being recorded may be paid in it, and the process that would have matched them again is gone, however long ago.
 */
export async function noteBefore({ parts, memory }: Run, cursor: Cursor | null): Promise<void> {
  if (memory.unread !== null) return;
  const { store, ledger, network, settings } = parts;
  const limit = recentBlocksOf(network.blockTimeMs, settings.rematchMs);
  const links = cursor === null ? [] : await store.links(ledger, cursor.height + 1, limit);
  // An unresolved height is matched with everybody when its content is proven.
  const unresolved = new Set(
    links.length === 0 ? [] : (await store.coverage(ledger)).unresolved.map(({ height }) => height),
  );
  memory.unread = links.filter(({ height }) => !unresolved.has(height));
  const times = memory.unread.flatMap(({ timeMs }) => (timeMs === null ? [] : [timeMs]));
  memory.unreadSinceMs = memory.unread.length === 0 ? null : Math.min(...times, times.length === 0 ? 0 : Infinity);
}

/**
 * Since when addresses are matched. The first time it is since the oldest block of before was followed, which was no
 * earlier than its time by the chain's clock; later since the last match.
 */
function sinceOf({ parts, memory: { rematched, unreadSinceMs } }: Run, nowMs: number, elapsedMs: number): number {
  const { rematchMs } = parts.settings;
  // An address is dated by a wall clock: one that was set back dates the next ones before the last match.
  if (rematched !== null) return Math.min(rematched.nowMs, nowMs - (elapsedMs - rematched.elapsedMs));
  const aheadMs = parts.network.family === 'btc' ? BTC_AHEAD_MS : rematchMs;
  return Math.min(nowMs - rematchMs, (unreadSinceMs ?? nowMs) - aheadMs);
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
  const sinceMs = sinceOf(run, nowMs, elapsedMs),
    environment = environmentOfLedger(parts),
    lookMs = sinceMs - REMATCH_OVERLAP_MS;
  const { addresses, isAll } = await parts.store.addressesSince(environment, lookMs, { most: YOUNG_MAX });
  const isNone = isAll && addresses.length === 0;
  if (isNone) dropOld(run);
  const whole = isNone || (await reload(run));
  const young = isAll
    ? addresses
    : (await parts.store.addressesSince(environment, lookMs, { keys: keysOf(memory.recent) })).addresses;
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

const keysOf = (blocks: readonly KeyedBlock[]): string[] => [
  ...new Set(
    blocks.flatMap(({ transfers, disputed = [] }) => [...transfers, ...disputed].map(({ addressKey }) => addressKey)),
  ),
];

/** Nobody waits for the blocks of before: those that new ones took the place of are not read again. */
function dropOld({ parts, memory }: Run): void {
  const limit = recentBlocksOf(parts.network.blockTimeMs, parts.settings.rematchMs);
  memory.unread = (memory.unread ?? []).slice(0, Math.max(0, limit - memory.recent.length));
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
 * one of them cannot be read: it holds back no other, and is tried again next time.
 */
async function reload(run: Run): Promise<boolean> {
  const { memory } = run,
    unread = memory.unread ?? [];
  const failed: BlockLink[] = [];
  for (const [index, link] of unread.entries()) {
    try {
      const block = await readAgreed(run, link.height);
      if (block.hash === link.hash) memory.recent.unshift((await contentOf(run, block, null)).keyed);
    } catch (error) {
      if (chainFailure(error) === null) throw error;
      failed.push(link);
      if (failed.length < RELOAD_FAILURES_MAX) continue;
      failed.push(...unread.slice(index + 1));
      break;
    }
  }
  memory.unread = failed;
  memory.recent.sort((a, b) => a.height - b.height);
  return failed.length === 0;
}
