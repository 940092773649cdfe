/**
 * By a person's order after a stop (G17): the chain's own branch in the place of ours, however deep. C3-33. Nothing is
 * deleted: what is absent from the new branch is reversed. The store takes it only while the cursor is where it was
 * read, so that a watcher which goes on meanwhile, at this node or another, loses nothing.
 */
import type { Cursor } from '../../model/ports/watch-store.ts';
import type { Run } from '../memory.ts';
import { replace, walkBack, type Replaced } from './rewind.ts';

/** As many links of a ledger as are kept. */
const LINKS_MAX = 10_000;

/** How far our blocks and the chain's are the same. */
export interface Parting {
  /** Our newest block; null where no block of the ledger is recorded. */
  readonly cursor: Cursor | null;
  readonly headHeight: number;
  /** The newest block of ours that the chain holds; null where it holds none of those that are kept. */
  readonly common: Cursor | null;
}

/**
 *   nothing_followed   no block of this ledger is recorded
 *   same_branch        the chain holds our newest block: there is nothing to replace
 *   head_is_behind     the chain's nodes are below our newest block, on whatever branch: what they do not hold yet
 *                      would be called absent, and reversed, by their lag alone
 *   nothing_common     the chain holds none of the blocks that are kept: another network, or another history
 *   above_common       at that height the chain holds another block than ours: the branch begins below it
 *   below_common       the chain holds our block above that height: reading a block again that both sides hold could
 *                      only lose what these endpoints cannot see in it, payments inside contracts where none traces
 */
export type RebuildRefusal =
  'nothing_followed' | 'same_branch' | 'head_is_behind' | 'nothing_common' | 'above_common' | 'below_common';

export type Rebuilt =
  Replaced | { readonly kind: 'refused'; readonly refusal: RebuildRefusal; readonly parting: Parting };

/**
 * Where our blocks and the chain's part, by the word of every living endpoint. Throws: ChainUnavailable, and what
 * `checkIdentity` throws.
 */
export async function partingOf(run: Run): Promise<Parting> {
  const { client, store, ledger } = run.parts;
  await client.checkIdentity();
  const cursor = await store.cursor(ledger);
  if (cursor === null) return { cursor, headHeight: (await client.getHead()).height, common: null };
  const { walk, headHeight } = await walkBack(run, cursor, LINKS_MAX);
  return { cursor, headHeight, common: walk.kind === 'fork' ? walk.forkPoint : null };
}

/** Why there is nothing to rebuild, whatever height is named; null where there is. */
export function nothingToRebuild({ cursor, headHeight, common }: Parting): RebuildRefusal | null {
  if (cursor === null) return 'nothing_followed';
  if (common?.height === cursor.height) return 'same_branch';
  if (headHeight < cursor.height) return 'head_is_behind';
  return common === null ? 'nothing_common' : null;
}

/** The branch is read up to our newest block, so that lag alone makes nothing absent. Throws: as `partingOf` does. */
export async function rebuildAbove(run: Run, height: number): Promise<Rebuilt> {
  const { parts, memory } = run;
  const parting = await partingOf(run),
    { cursor, common } = parting;
  const refused = (refusal: RebuildRefusal): Rebuilt => ({ kind: 'refused', refusal, parting });
  const nothing = nothingToRebuild(parting);
  if (nothing !== null) return refused(nothing);
  if (height > common!.height) return refused('above_common');
  if (height < common!.height) return refused('below_common');
  const replaced = await replace(run, common!, cursor!, cursor!.height, cursor!.height - common!.height);
  if (replaced.kind === 'reorg') {
    memory.stopped = null;
    parts.metrics.set('svc_chain_stopped', { chain: parts.network.slug }, 0);
    parts.log.warn({ ledger: parts.ledger, height: common!.height }, 'chain rebuilt by order and resumed');
  }
  return replaced;
}
