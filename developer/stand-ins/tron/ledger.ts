/**
 * The stand-in's ledger: blocks with the state after each, what waits for the next one, and a solidified head that
 * trails the newest by 18 blocks, as 27 producers in turn make it. Blocks above it can be replaced, blocks below it
 * never.
 */
import { createHash } from 'node:crypto';
import { execute, Refused, type Executed, type Surroundings } from './execute.ts';
import { parseTransaction, type PeerTransaction } from './transaction.ts';
import { messageOf } from './wire.ts';
import { copyOf, defaultParameters, emptyWorld, type Parameters, type World } from './world.ts';

export interface PeerBlock {
  readonly height: number;
  readonly id: string;
  readonly parentId: string;
  readonly timeMs: number;
  readonly witness: string;
  readonly txRoot: string;
  readonly entries: readonly Executed[];
}

export const BLOCK_MS = 3_000;
/** 27 producers in turn, 70 % of them: the eighth of the last 27 blocks from below. Source: java-tron DposService. */
const SOLID_DEPTH = 18;
/** A reference block must be among the last 65,536. */
const RECENT_BLOCKS = 65_536;
/** States that are kept; older ones are read by nobody. */
const STATES_KEPT = 400;
/** Blocks that a new ledger begins with, so that it has a solidified head. */
const FIRST_BLOCKS = 24;
/** High enough to look like the main network; the blocks below it are pruned. */
const START_HEIGHT = 70_000_000;

export interface LedgerOptions {
  readonly startHeight?: number;
  /** Time of the newest block at the start. */
  readonly nowMs?: number;
}

export interface BroadcastReturn {
  readonly result: boolean;
  readonly code: string;
  readonly message: string;
  readonly txid: string;
}

export interface PeerLedger {
  readonly parameters: Parameters;
  readonly startHeight: number;
  headHeight(): number;
  solidHeight(): number;
  block(height: number): PeerBlock | null;
  /** The state after a block. Throws: RangeError for one that is no longer kept. */
  worldAt(height: number): World;
  /** The state that a node answers from: the newest block's with what waits. */
  pendingWorld(): World;
  pending(): readonly Executed[];
  /** Where a transaction is in a block, or null. */
  find(txid: string): { readonly block: PeerBlock; readonly entry: Executed } | null;
  /**
   * Takes bytes as a node does; `seen` are the txids that this node remembers. Throws: RangeError for bytes that are
   * none.
   */
  broadcast(bytes: Buffer, seen: Set<string>): BroadcastReturn;
  mine(blocks: number): void;
  /**
   * Replaces the newest blocks by empty ones of another producer; their transactions wait again or are lost. Throws:
   * RangeError.
   */
  reorg(depth: number, transactions?: 'lost' | 'waiting'): void;
  /** Changes the state by hand (funds, stakes, contracts), as if it had always been so: in every state that is kept. */
  edit(change: (world: World) => void): void;
}

function blockOf(
  height: number,
  parentId: string,
  timeMs: number,
  producer: number,
  entries: readonly Executed[],
): PeerBlock {
  const witness = `41${createHash('sha256').update(`producer ${producer}`).digest('hex').slice(0, 40)}`;
  const leaves = entries.map(({ transaction }) => createHash('sha256').update(transaction.bytes).digest());
  const txRoot =
    leaves.length === 0 ? '0'.repeat(64) : createHash('sha256').update(Buffer.concat(leaves)).digest('hex');
  const raw = messageOf(
    [1, BigInt(timeMs)],
    [2, Buffer.from(txRoot, 'hex')],
    [3, Buffer.from(parentId, 'hex')],
    [7, BigInt(height)],
    [9, Buffer.from(witness, 'hex')],
    [10, 34n],
  );
  const id = height.toString(16).padStart(16, '0') + createHash('sha256').update(raw).digest('hex').slice(16);
  return { height, id, parentId, timeMs, witness, txRoot, entries };
}

export function createLedger({ startHeight = START_HEIGHT, nowMs = Date.now() }: LedgerOptions = {}): PeerLedger {
  const parameters = defaultParameters(),
    blocks = new Map<number, PeerBlock>(),
    worlds = new Map<number, World>();
  const places = new Map<string, number>();
  let head = blockOf(startHeight, '0'.repeat(64), nowMs - FIRST_BLOCKS * BLOCK_MS, 0, []);
  let waiting: { transaction: PeerTransaction; executed: Executed }[] = [];
  let pendingState: World = emptyWorld();
  let turns = 0;

  const keep = (block: PeerBlock, world: World): void => {
    blocks.set(block.height, block);
    worlds.set(block.height, world);
    worlds.delete(block.height - STATES_KEPT);
    for (const { transaction } of block.entries) places.set(transaction.txid, block.height);
    head = block;
  };
  const solidHeight = (): number => Math.max(startHeight, head.height - SOLID_DEPTH);
  const worldAt = (height: number): World => {
    const world = worlds.get(height);
    if (world === undefined) throw new RangeError(`no state is kept of block ${height}`);
    return world;
  };
  const around = (): Surroundings => ({
    parameters,
    headTimeMs: head.timeMs,
    nextSlotMs: head.timeMs + BLOCK_MS,
    recentHash(refBlockBytes) {
      const low = Number.parseInt(refBlockBytes, 16),
        below = (head.height - low) % RECENT_BLOCKS;
      return blocks.get(head.height - (below < 0 ? below + RECENT_BLOCKS : below))?.id.slice(16, 32) ?? null;
    },
    isSeen: (txid) => places.has(txid) || waiting.some(({ transaction }) => transaction.txid === txid),
  });
  /** What waits, run again on the newest state; what no longer runs is dropped as a node drops it. */
  const rerun = (transactions: readonly PeerTransaction[]): void => {
    waiting = [];
    pendingState = copyOf(worldAt(head.height));
    for (const transaction of transactions) {
      try {
        const { world, executed } = execute(pendingState, transaction, around());
        pendingState = world;
        waiting.push({ transaction, executed });
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
      }
    }
  };
  const append = (entries: readonly Executed[], world: World): void => {
    turns += 1;
    keep(blockOf(head.height + 1, head.id, head.timeMs + BLOCK_MS, turns, entries), world);
  };

  keep(head, emptyWorld());
  for (let made = 0; made < FIRST_BLOCKS; made += 1) append([], emptyWorld());

  return {
    parameters,
    startHeight,
    headHeight: () => head.height,
    solidHeight,
    block: (height) => blocks.get(height) ?? null,
    worldAt,
    pendingWorld: () => pendingState,
    pending: () => waiting.map(({ executed }) => executed),
    find(txid) {
      const block = blocks.get(places.get(txid) ?? -1);
      const entry = block?.entries.find(({ transaction }) => transaction.txid === txid);
      return block === undefined || entry === undefined ? null : { block, entry };
    },
    broadcast(bytes, seen) {
      const transaction = parseTransaction(bytes),
        { txid } = transaction;
      // The txid is remembered before anything is checked: a repeat after a refusal is a duplicate too.
      if (seen.has(txid)) {
        return { result: false, code: 'DUP_TRANSACTION_ERROR', message: 'Transaction already exists.', txid };
      }
      seen.add(txid);
      try {
        const { world, executed } = execute(pendingState, transaction, around());
        pendingState = world;
        waiting.push({ transaction, executed });
        return { result: true, code: 'SUCCESS', message: '', txid };
      } catch (error) {
        if (error instanceof Refused) return { result: false, code: error.code, message: error.message, txid };
        throw error;
      }
    },
    mine(count) {
      for (let made = 0; made < count; made += 1) {
        append(
          waiting.map(({ executed }) => executed),
          pendingState,
        );
        rerun([]);
      }
    },
    reorg(depth, transactions = 'lost') {
      if (head.height - depth < solidHeight()) {
        throw new RangeError(`block ${solidHeight()} is solidified: ${depth} blocks cannot be replaced`);
      }
      const removed: PeerTransaction[] = [];
      for (let left = depth; left > 0; left -= 1) {
        removed.unshift(...head.entries.map(({ transaction }) => transaction));
        for (const { transaction } of head.entries) places.delete(transaction.txid);
        blocks.delete(head.height);
        worlds.delete(head.height);
        head = blocks.get(head.height - 1)!;
      }
      for (let made = 0; made < depth; made += 1) append([], worldAt(head.height));
      const held = waiting.map(({ transaction }) => transaction);
      rerun(transactions === 'waiting' ? [...removed, ...held] : held);
    },
    edit(change) {
      // Empty blocks share a state with the one before them: each is changed once.
      for (const world of new Set(worlds.values())) change(world);
      rerun(waiting.map(({ transaction }) => transaction));
    },
  };
}
