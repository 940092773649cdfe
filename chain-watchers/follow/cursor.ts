/**
 * Where a watcher is: (height, hash) of the newest recorded block. It moves along parent links only (G7).
 *
 *   cursor 100 · head 103 · limit 2 → read the heights of [101, 103); the rest waits for the next tick
 *   cursor 100 · head  98            → lagging (G10), nothing is read
 */
import type { Block, Head } from '../../chains/chain.ts';
import type { BlockLink, Cursor } from '../../model/ports/watch-store.ts';

export type Standing =
  /** No cursor yet. */
  | 'new'
  /** The endpoint's head is below our cursor: it lags, or the chain was rolled back. */
  | 'lagging'
  | 'at_head'
  /** Same height as our cursor, another block there. */
  | 'other_branch'
  | 'behind';

/** How a head relates to a cursor. Spec: chains.md G10. */
export function standingOf(cursor: Cursor | null, head: Pick<Head, 'height' | 'hash'>): Standing {
  if (cursor === null) return 'new';
  if (head.height < cursor.height) return 'lagging';
  if (head.height > cursor.height) return 'behind';
  return head.hash === cursor.hash ? 'at_head' : 'other_branch';
}

/** True when a block is the child of the cursor; where heights are skipped only the parent link proves it (L19). */
export function continuesFrom(
  cursor: Cursor,
  link: Pick<BlockLink, 'parentHash' | 'parentHeight' | 'height'>,
): boolean {
  return link.parentHash === cursor.hash && link.parentHeight === cursor.height && link.height > cursor.height;
}

/** The link of a block: what is kept of it for the reorg walk. */
export function linkOf(block: Block): BlockLink {
  const { height, hash, parentHash, parentHeight, timeMs } = block;
  return { height, hash, parentHash, parentHeight, timeMs };
}
