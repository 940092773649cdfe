/**
 * What happens when the chain holds another block than ours: second opinion, walk-back, the new branch read up to the
 * old head, and only then one statement. A read that cannot prove itself changes nothing (C3-31).
 */
import { ChainUnavailable, type ChainClient } from '../../chains/chain.ts';
import type { BlockLink, Cursor, OpenPlace, WatchStore } from '../../model/ports/watch-store.ts';
import type { Chain } from '../../protocol/slugs.ts';
import { readAgreed, WaitsForSecond } from '../follow/movements.ts';
import { chainFailure } from '../../chains/failure.ts';
import { contentOf } from '../follow/content.ts';
import { continuesFrom, linkOf } from '../follow/cursor.ts';
import { bareLink, triedEnough } from '../follow/follow.ts';
import type { BranchBlock, Run } from '../memory.ts';
import { conditionOf, livingOf } from '../follow/quorum.ts';
import { forgetAbove, remember } from '../follow/rematch.ts';
import {
  commonIndex,
  forkIndex,
  judge,
  SKIPPED,
  walkOf,
  type Patience,
  type Verdict,
  type Walk,
  type Witness,
} from './reorg.ts';

/** Blocks above the old head that a new branch may bring along. */
const BLOCKS_BEYOND_MAX = 16;
/** Withdrawals that a new branch is matched with, beside those that the tick carries, and how many are read at once. */
const MATCHED_MAX = 10_000;
const MATCHED_PAGE = 1_000;

/** `lost_race`: another watcher moved the cursor meanwhile. */
export type Replaced =
  { readonly kind: 'reorg'; readonly depth: number; readonly cursor: Cursor } | { readonly kind: 'lost_race' };

export type Rewound =
  | Replaced
  /** Nothing is proven yet, or the endpoints still disagree. */
  | { readonly kind: 'suspect'; readonly reason: string }
  | { readonly kind: 'ours' }
  | { readonly kind: 'stopped'; readonly reason: string };

/** Another block was read at our cursor's height: asks for a second opinion and follows it. G10. */
export async function suspect(run: Run, cursor: Cursor, theirs: string | null): Promise<Rewound> {
  const { settings } = run.parts;
  const patience = { secondReadMs: settings.secondReadMs, contestedMs: settings.silentMs };
  const verdict = await secondOpinion(run, cursor, theirs, patience);
  if (verdict === 'ours') {
    run.memory.suspicion = null;
    return { kind: 'ours' };
  }
  if (verdict === 'reorg') return rewind(run, cursor);
  return { kind: 'suspect', reason: 'another block at our height, not yet confirmed by a second read' };
}

/**
 * The head is below our cursor. That is lag (G10) as long as it lies on our branch, however long: a stuck node and a
 * rolled-back one look alike, and nothing matures meanwhile. A lower head on another branch that persists is a rollback
 * (C1-12).
 */
export async function lowerHead(run: Run, cursor: Cursor, headHeight: number): Promise<Rewound> {
  const { client, store, ledger, settings } = run.parts;
  const [link] = await store.links(ledger, headHeight + 1, 1);
  const theirs = link === undefined ? null : await client.getBlockHash(link.height);
  if (link === undefined) await client.checkIdentity(); // so far below, it may be another network's
  if (link === undefined || theirs === null || theirs === link.hash) {
    run.memory.suspicion = null;
    return { kind: 'suspect', reason: `head ${headHeight} is below our cursor` };
  }
  const patience = { secondReadMs: settings.silentMs, contestedMs: settings.silentMs };
  const verdict = await secondOpinion(run, { height: link.height, hash: link.hash }, theirs, patience);
  const waitedMs = run.parts.elapsedMs() - (run.memory.suspicion?.sinceMs ?? Number.POSITIVE_INFINITY);
  if (verdict === 'reorg' && waitedMs >= settings.silentMs) return rewind(run, cursor, { lowerHeight: headHeight });
  return { kind: 'suspect', reason: `head ${headHeight} is below our cursor and on another branch` };
}

/**
 * A block that we hold by its hash alone names another parent than the one below it here: two branches were joined, and
 * the links above hide it. Follows the chain's own branch from below the seam when a second look says the same. G7,
 * G10.
 */
export async function parted(run: Run, below: Cursor, theirs: string): Promise<Rewound> {
  const {
    store,
    ledger,
    settings: { secondReadMs, silentMs },
  } = run.parts;
  const verdict = await secondOpinion(run, below, theirs, { secondReadMs, contestedMs: silentMs }, 'seam');
  const cursor = await store.cursor(ledger);
  if (verdict === 'reorg' && cursor !== null) return rewind(run, cursor, { from: below });
  return { kind: 'suspect', reason: `the block above ${below.height} has another parent` };
}

/** What the endpoints say about a block of ours; a suspicion begins, or goes on while the answer is the same. */
async function secondOpinion(
  run: Run,
  cursor: Cursor,
  theirs: string | null,
  patience: Patience,
  kept: 'suspicion' | 'seam' = 'suspicion',
): Promise<Verdict> {
  const { parts, memory } = run;
  const suspicion = memory[kept];
  const sameSuspicion = suspicion?.cursor.hash === cursor.hash && suspicion.theirs === theirs;
  // Another network is found out before anybody waits, or asks it for a balance meanwhile. G14.
  if (!sameSuspicion) await parts.client.checkIdentity();
  const current = sameSuspicion ? suspicion : { cursor, theirs, sinceMs: parts.elapsedMs() };
  memory[kept] = current;
  const clients = parts.witnesses.length === 0 ? [parts.client] : parts.witnesses;
  const reads = await Promise.all(clients.map((client) => witnessOf(client, cursor.height)));
  const witnesses = reads.filter((read) => read !== null);
  return judge(current, witnesses, parts.elapsedMs(), patience);
}

async function witnessOf(client: ChainClient, height: number): Promise<Witness | null> {
  try {
    const { height: headHeight } = await client.getHead();
    return { headHeight, hash: headHeight < height ? null : await hashAt(client, height) };
  } catch (error) {
    if (chainFailure(error) === null) throw error;
    return null;
  }
}

interface Back {
  /** Where the walk begins, the old head if none is named. */
  readonly from?: Cursor;
  /** The head of a chain that was rolled back below our cursor, and stayed there for long. */
  readonly lowerHeight?: number;
}

/**
 * Walks back to the fork point, reads the new branch and replaces the old one. G15, G17. The branch is read up to the
 * old head, whatever head is reported at this moment: a node that is behind (one of several behind one URL, say) has
 * not taken away the blocks above. It ends lower only where the chain itself was rolled back. Another network must look
 * neither like a deep reorg nor like a new beginning: where no block is common, identities are checked and the endpoint
 * that is left is asked again.
 */
export async function rewind(run: Run, oldHead: Cursor, { from = oldHead, lowerHeight }: Back = {}): Promise<Rewound> {
  const { network, client } = run.parts;
  let back = await walkBack(run, from);
  if (back.walk.kind !== 'fork') {
    await client.checkIdentity();
    back = await walkBack(run, from);
  }
  const { walk, headHeight } = back;
  if (walk.kind === 'too_deep') {
    return stop(run, `no common ancestor within ${network.reorgWindow} blocks below ${from.height}`);
  }
  if (walk.depth === 0) {
    run.memory.suspicion = null;
    return { kind: 'ours' };
  }
  const forkPoint = walk.kind === 'fork' ? walk.forkPoint : await parentOfStart(run, walk.start);
  const depth = walk.depth + oldHead.height - from.height;
  const until =
    lowerHeight === undefined ? oldHead.height : Math.min(oldHead.height, Math.max(lowerHeight, headHeight));
  // Below its first block a ledger has no parent: the new branch holds that block's height at least.
  return replace(run, forkPoint, oldHead, walk.kind === 'fork' ? until : Math.max(until, walk.start.height), depth);
}

/**
 * By the word of every living endpoint, each walked by itself: what one says decides neither how deep the branch is
 * replaced nor that the chain is stopped. Throws: ChainUnavailable when fewer than two of several that are alive can
 * answer.
 */
export async function walkBack(
  run: Run,
  from: Cursor,
  window = run.parts.network.reorgWindow,
): Promise<{ walk: Walk; headHeight: number }> {
  const { store, ledger, network, client } = run.parts;
  const { height: headHeight } = await client.getHead();
  const links = await store.links(ledger, from.height + 1, window);
  // One that proves no block at all is not waited for here either.
  const living = (run.parts.witnesses.length === 0 ? [] : await livingOf(run))
    .filter(
      ({ position }) =>
        conditionOf(run.memory.witnesses[position - 1]!, run.parts.elapsedMs(), network) !== 'unreadable',
    )
    .map((one) => one.client);
  if (living.length < 2) {
    const index = await forkIndex(links, (link) => agrees(client, network.slug, link, headHeight));
    return { walk: walkOf(links, index, window), headHeight };
  }
  let highest = headHeight;
  const heard = await Promise.allSettled(
    living.map(async (one) => {
      const { height } = await one.getHead();
      highest = Math.max(highest, height);
      const below = links.filter((link) => link.height <= height);
      const index = await forkIndex(below, (link) => agrees(one, network.slug, link, height));
      // An endpoint whose head is below our newest links denies none of them.
      return index === 0 ? 0 : index === null ? null : index + links.length - below.length;
    }),
  );
  const indexes = heard.flatMap((result) =>
    result.status === 'fulfilled' ? [result.value] : chainFailure(result.reason) === null ? raise(result.reason) : [],
  );
  // One that gives no answer for a moment gives the other one no say alone: until it does not count as alive, it is
  // waited for.
  if (indexes.length < 2)
    throw new ChainUnavailable(network.slug, 'fewer than two endpoints say which of our blocks they hold');
  return { walk: walkOf(links, commonIndex(indexes), window), headHeight: highest };
}

function raise(fault: unknown): never {
  throw fault;
}

/**
 * Does the work with all withdrawals in sight that are under way or in a block above a height: the branch is matched
 * with them, and what is found there only moved. Those beyond the limit are reported as absent, submitted again as the
 * same bytes and found by what the chain says of them.
 */
async function withOpenAbove<T>({ parts, memory }: Run, height: number, work: () => Promise<T>): Promise<T> {
  const before = memory.open,
    seen = new Map(before.map((row) => [row.id, row]));
  let after: OpenPlace | null = null;
  for (let read = 0; read < MATCHED_MAX; read += MATCHED_PAGE) {
    const { rows, next }: Awaited<ReturnType<WatchStore['openWithdrawals']>> = await parts.store.openWithdrawals(
      parts.ledger,
      height + 1,
      MATCHED_PAGE,
      after,
    );
    for (const row of rows) seen.set(row.id, row);
    if (next === null) break;
    after = next;
  }
  memory.open = [...seen.values()];
  try {
    return await work();
  } finally {
    memory.open = before;
  }
}

/** Reads the branch above a fork point up to a height and records it in the place of the old one. */
export async function replace(
  run: Run,
  forkPoint: Cursor,
  oldHead: Cursor,
  until: number,
  depth: number,
): Promise<Replaced> {
  const { parts, memory, waker } = run;
  const branch = await withOpenAbove(run, forkPoint.height, () => readBranch(run, forkPoint, until));
  const records = branch.map(({ record }) => record);
  const { recorded, accounts } = await parts.store.recordReorg(parts.ledger, forkPoint, oldHead, records);
  memory.branch = null;
  memory.suspicion = null;
  memory.seam = null;
  if (!recorded) return { kind: 'lost_race' };
  forgetAbove(run, forkPoint.height);
  for (const { keyed } of branch) if (keyed !== null) remember(run, keyed);
  waker.wake(accounts);
  parts.metrics.add('svc_reorgs_total', { chain: parts.network.slug });
  parts.metrics.add('svc_reorg_blocks_total', { chain: parts.network.slug }, depth);
  parts.log.warn({ ledger: parts.ledger, forkPoint, oldHead, depth }, 'blocks were replaced');
  const last = branch.at(-1)?.record.link ?? forkPoint;
  memory.left = { height: last.height, hash: last.hash };
  return { kind: 'reorg', depth, cursor: memory.left };
}

function stop(run: Run, reason: string): Rewound {
  const { parts, memory } = run;
  memory.stopped = reason;
  parts.metrics.set('svc_chain_stopped', { chain: parts.network.slug }, 1);
  parts.log.error(
    { ledger: parts.ledger, reason },
    'chain stopped: a person must look (G17); flock chains rebuild says where it parted',
  );
  return { kind: 'stopped', reason };
}

/** Hash at a height, `SKIPPED` where the chain goes past it without a block, null when the node cannot know (G8). */
async function hashAt(client: ChainClient, height: number): Promise<string | null> {
  const hash = await client.getBlockHash(height);
  if (hash !== null) return hash;
  const next = await client.nextHeight(height - 1);
  return next !== null && next > height ? SKIPPED : null;
}

/** Whether the chain still holds a link of ours. Throws: ChainUnavailable when the node cannot know. */
async function agrees(client: ChainClient, chain: Chain, link: BlockLink, headHeight: number): Promise<boolean> {
  if (link.height > headHeight) return false;
  const hash = await hashAt(client, link.height);
  if (hash === null) throw new ChainUnavailable(chain, `no hash at height ${link.height}`);
  return hash === link.hash;
}

async function parentOfStart(run: Run, start: BlockLink): Promise<Cursor> {
  const { client, network } = run.parts;
  const height = await client.nextHeight(start.height - 1);
  if (height === null) throw new ChainUnavailable(network.slug, `no block at the start height ${start.height}`);
  const block = await client.getBlock(height);
  return { height: block.parentHeight, hash: block.parentHash };
}

/**
 * The new branch, parent-linked from the fork point. Goes on from where the last try ended if the chain still holds it.
 */
async function readBranch(run: Run, forkPoint: Cursor, until: number): Promise<readonly BranchBlock[]> {
  const { parts, memory } = run;
  const { client, network } = parts;
  const blocks = await resumedBranch(run, forkPoint);
  memory.branch = { forkPoint, blocks };
  let previous: Cursor = blocks.at(-1)?.record.link ?? forkPoint;
  while (previous.height < until) {
    const height = await client.nextHeight(previous.height);
    if (height === null) {
      throw new ChainUnavailable(network.slug, `the new branch ends at ${previous.height}, below ${until}`);
    }
    const taken = await branchBlock(run, { height: previous.height, hash: previous.hash }, height);
    blocks.push(taken);
    previous = taken.record.link;
  }
  await readBeyond(run, blocks, previous);
  return blocks;
}

/**
 * A payment of a replaced block is often included a block or two above the old head. Reading on as far as the chain is
 * read without a failure spares its customer a reversal that is taken back at once.
 */
async function readBeyond(run: Run, blocks: BranchBlock[], from: Cursor): Promise<void> {
  const { client } = run.parts;
  let previous = from;
  try {
    for (let count = 0; count < BLOCKS_BEYOND_MAX && blocks.length > 0; count += 1) {
      const height = await client.nextHeight(previous.height);
      if (height === null) return;
      const block = await readAgreed(run, height);
      if (!continuesFrom(previous, block)) return;
      blocks.push(await contentOf(run, block, { height: previous.height, hash: previous.hash }));
      previous = { height: block.height, hash: block.hash };
    }
  } catch (error) {
    if (chainFailure(error) === null) throw error;
  }
}

async function resumedBranch(run: Run, forkPoint: Cursor): Promise<BranchBlock[]> {
  const { branch } = run.memory;
  const last = branch?.blocks.at(-1)?.record.link;
  if (branch === null || last === undefined || branch.forkPoint.hash !== forkPoint.hash) return [];
  return (await run.parts.client.getBlockHash(last.height)) === last.hash ? branch.blocks : [];
}

async function branchBlock(run: Run, previous: Cursor, height: number): Promise<BranchBlock> {
  const { network, registry = 1 } = run.parts;
  const moved = () => {
    run.memory.branch = null;
    return new ChainUnavailable(network.slug, `the branch moved again at ${height} while it was read`);
  };
  let link: BlockLink | null = null;
  try {
    const block = await readAgreed(run, height);
    if (!continuesFrom(previous, block)) throw moved();
    link = linkOf(block);
    const content = await contentOf(run, block, previous);
    run.memory.contentFailures = null;
    return content;
  } catch (error) {
    const reason = chainFailure(error);
    if (reason === null || run.memory.branch === null || error instanceof WaitsForSecond || !triedEnough(run, height))
      throw error;
    const bare = link ?? (await bareLink(run, previous, height));
    if ('kind' in bare) throw bare.kind === 'mismatch' ? moved() : error;
    return {
      record: { registry, link: bare, previous, transfers: [], withdrawals: [], unresolved: reason },
      keyed: null,
    };
  }
}
