/**
 * Job 3: heights whose content could not be proven are tried again for ever, ever more slowly. No height is dropped.
 */
import { backoffMs, type Backoff } from '../../protocol/backoff.ts';
import { ChainUnavailable } from '../../chains/chain.ts';
import { readAgreed } from './movements.ts';
import { chainFailure } from '../../chains/failure.ts';
import { contentOf } from './content.ts';
import type { Run } from '../memory.ts';
import { parted } from '../reorg/rewind.ts';

/** Heights that one tick tries. */
const HEIGHTS_PER_TICK = 16;
const RETRY: Backoff = { firstMs: 1_000, mostMs: 60_000 };

/** Pause before the next try at a height that failed `tries` times, in milliseconds: 1 s, 2 s, 4 s … 60 s. */
export function retryAfterMs(tries: number): number {
  return backoffMs(tries - 1, RETRY);
}

/** Reads unresolved heights again and records those that are proven now. Answers how many. */
export async function retryUnresolved(run: Run): Promise<number> {
  const { parts, memory } = run;
  const heights = await parts.store.unresolvedHeights(parts.ledger, HEIGHTS_PER_TICK);
  const count =
    heights.length < HEIGHTS_PER_TICK ? heights.length : (await parts.store.coverage(parts.ledger)).unresolvedCount;
  parts.metrics.set('svc_blocks_unresolved', { chain: parts.network.slug }, count);
  const waiting = new Set(heights.map(({ height }) => height));
  for (const height of memory.retryAtMs.keys()) if (!waiting.has(height)) memory.retryAtMs.delete(height);
  let resolved = 0;
  for (const { height, hash, tries } of heights) {
    if (parts.elapsedMs() < (memory.retryAtMs.get(height) ?? 0)) continue;
    if (await resolve(run, height, hash)) resolved += 1;
    else memory.retryAtMs.set(height, parts.elapsedMs() + retryAfterMs(tries + 1));
  }
  return resolved;
}

async function resolve(run: Run, height: number, hash: string): Promise<boolean> {
  const { parts, waker } = run;
  try {
    const block = await readAgreed(run, height);
    const [below] = await parts.store.links(parts.ledger, height, 1);
    // A block of another branch is not recorded here: the reorg path decides about it first.
    const elsewhere = (what: string) =>
      new ChainUnavailable(parts.network.slug, `the chain holds another block ${what}`);
    if (block.hash !== hash) throw elsewhere('at this height');
    if (below !== undefined && block.parentHash !== below.hash) {
      await parted(run, { height: below.height, hash: below.hash }, block.parentHash);
      throw elsewhere('below this height');
    }
    const previous = below === undefined ? null : { height: below.height, hash: below.hash };
    const { record } = await contentOf(run, block, previous);
    const { recorded, accounts } = await parts.store.resolveHeight(parts.ledger, record);
    waker.wake(accounts);
    return recorded;
  } catch (error) {
    const reason = chainFailure(error);
    if (reason === null) throw error;
    await parts.store.noteUnresolved(parts.ledger, height, reason);
    return false;
  }
}
