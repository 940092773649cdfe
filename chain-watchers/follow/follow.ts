/** Jobs 1 and 2: follow the head, catch up in bounded ranges. Both are one loop along parent links. */
import type { Block } from '../../chains/chain.ts';
import type { BlockRecord, Cursor } from '../../model/ports/watch-store.ts';
import { agreeing, readAgreed } from './movements.ts';
import { startOf } from './beginning.ts';
import { chainFailure } from '../../chains/failure.ts';
import { contentOf } from './content.ts';
import { continuesFrom, linkOf } from './cursor.ts';
import type { KeyedBlock } from './match.ts';
import type { Run } from '../memory.ts';
import { readAhead } from './read-ahead.ts';
import { remember } from './rematch.ts';
import { SKIPPED } from '../reorg/reorg.ts';

export type Step =
  | { readonly kind: 'recorded'; readonly cursor: Cursor }
  /** Nothing was proven: the same height is read again by the next tick. */
  | { readonly kind: 'unproven'; readonly reason: string }
  /** An endpoint that is alive has not reached the next height yet: the next tick goes on. */
  | { readonly kind: 'waits'; readonly reason: string }
  /** The chain holds another block than ours at the cursor's height; `theirs` is its hash there. */
  | { readonly kind: 'mismatch'; readonly theirs: string | null }
  /** Another watcher moved the cursor first; its work is kept. */
  | { readonly kind: 'lost_race' };

/** Why a loop of steps ended. */
export type End = Exclude<Step, { kind: 'recorded' }>;

export interface Followed {
  readonly recorded: number;
  /** Why the loop ended, or null when it ran out of blocks or of its range. */
  readonly end: End | null;
}

/** Records the first block of a ledger. The start is durable from the first head seen, however long its read fails. */
export async function recordStart(run: Run, headHeight: number): Promise<Followed> {
  const { client } = run.parts;
  const { memory } = run;
  memory.start ??= await startOf(run.parts, headHeight);
  const height = await client.nextHeight(memory.start - 1);
  if (height === null) {
    return { recorded: 0, end: { kind: 'unproven', reason: `no block at the start height ${memory.start}` } };
  }
  const step = await takeBlock(run, null, await readAgreed(run, height));
  return step.kind === 'recorded' ? { recorded: 1, end: null } : { recorded: 0, end: step };
}

/** Records blocks above the cursor, at most one range of them. Limit: `blocksPerTick`. G7, G12. */
export async function readForward(run: Run, from: Cursor): Promise<Followed> {
  const { settings } = run.parts;
  let cursor = from;
  let recorded = 0;
  for await (const read of readAhead(agreeing(run), from.height, settings.blocksPerTick, settings.readAhead)) {
    const step: Step =
      read.block === null
        ? read.waits
          ? { kind: 'waits', reason: read.reason }
          : await takeUnproven(run, cursor, read.height, read.reason, null)
        : await takeBlock(run, cursor, read.block);
    if (step.kind !== 'recorded') return { recorded, end: step };
    cursor = step.cursor;
    recorded += 1;
  }
  return { recorded, end: null };
}

async function takeBlock(run: Run, cursor: Cursor | null, block: Block): Promise<Step> {
  const readAtMs = run.parts.elapsedMs();
  if (cursor !== null && !continuesFrom(cursor, block)) {
    return { kind: 'mismatch', theirs: block.parentHeight === cursor.height ? block.parentHash : SKIPPED };
  }
  try {
    const content = await contentOf(run, block, cursor);
    const step = await record(run, content.record, content.keyed);
    run.parts.metrics.observeBlock(run.parts.network.slug, (run.parts.elapsedMs() - readAtMs) / 1_000);
    return step;
  } catch (error) {
    const reason = chainFailure(error);
    if (reason === null || cursor === null) throw error;
    return takeUnproven(run, cursor, block.height, reason, block);
  }
}

/**
 * A height whose content could not be read. After a few tries its header alone advances the cursor and the height stays
 * unresolved: it is retried for ever by its own job, and later heights do not wait. Decisions 5, G8, V24.
 */
async function takeUnproven(
  run: Run,
  cursor: Cursor,
  height: number,
  reason: string,
  block: Block | null,
): Promise<Step> {
  const { log, ledger, registry = 1 } = run.parts;
  if (!triedEnough(run, height)) return { kind: 'unproven', reason };
  const link = block === null ? await bareLink(run, cursor, height) : linkOf(block);
  if ('kind' in link) return link;
  log.warn({ ledger, height, reason }, 'content of a block is not proven; its height stays unresolved');
  return record(run, { registry, link, previous: cursor, transfers: [], withdrawals: [], unresolved: reason }, null);
}

/** Counts a failed read of a height's content; true when its header may go on without it. */
export function triedEnough(run: Run, height: number): boolean {
  const { memory, parts } = run;
  const tries = memory.contentFailures?.height === height ? memory.contentFailures.tries + 1 : 1;
  memory.contentFailures = { height, tries };
  return tries >= parts.settings.contentTries;
}

/**
 * The link of a block that cannot be read whole, from hashes alone: the chain has this block, and then still holds our
 * cursor, so that no endpoint that moves between the two looks joins two branches. Two endpoints still may; then the
 * block's content, when it is read, names another parent and `parted` corrects it.
 */
export async function bareLink(run: Run, cursor: Cursor, height: number): Promise<BlockRecord['link'] | End> {
  const { client } = run.parts;
  const hash = await client.getBlockHash(height);
  const below = await client.getBlockHash(cursor.height);
  if (below !== null && below !== cursor.hash) return { kind: 'mismatch', theirs: below };
  if (below === null || hash === null) {
    return { kind: 'unproven', reason: `no hash at ${below === null ? cursor.height : height}` };
  }
  return { height, hash, parentHash: cursor.hash, parentHeight: cursor.height, timeMs: null };
}

async function record(run: Run, block: BlockRecord, decoded: KeyedBlock | null): Promise<Step> {
  const { parts, memory, waker } = run;
  const { recorded, accounts } = await parts.store.recordBlock(parts.ledger, block);
  if (!recorded) return { kind: 'lost_race' };
  memory.contentFailures = null;
  if (decoded !== null) remember(run, decoded);
  if (parts.reconcilePerBlock !== null) for (const { addressKey } of block.transfers) memory.touched.add(addressKey);
  waker.wake(accounts);
  parts.metrics.add('svc_blocks_recorded_total', { chain: parts.network.slug });
  parts.metrics.add('svc_transfers_recorded_total', { chain: parts.network.slug }, block.transfers.length);
  memory.left = { height: block.link.height, hash: block.link.hash };
  return { kind: 'recorded', cursor: memory.left };
}
