/** What a watcher remembers between ticks. Losing all of it loses no fact: it is read again or waited for again. */
import type { Head } from '../chains/chain.ts';
import type { WithdrawalRow } from '../model/rows/withdrawal.ts';
import type { BlockLink, BlockRecord, Cursor, OpenPlace } from '../model/ports/watch-store.ts';
import type { HeadMemory } from './follow/head.ts';
import type { KeyedBlock } from './follow/match.ts';
import type { AccountWaker, WatcherParts } from './ports.ts';
import type { Suspicion } from './reorg/reorg.ts';

/** One block of a new branch; `keyed` is null where its content is not proven. */
export interface BranchBlock {
  readonly record: BlockRecord;
  readonly keyed: KeyedBlock | null;
}

export interface Memory {
  head: HeadMemory | null;
  /** Per endpoint, in the order of the parts. */
  witnesses: readonly WitnessMemory[];
  /** The heads of all endpoints as this tick read them; null before it did. */
  look: Promise<void> | null;
  /** The highest height that living endpoints agreed to call final, and when it rose; null before the first look. */
  agreedFinal: { readonly highest: number | null; readonly roseAtMs: number } | null;
  /** When the last report of a head was made durable. */
  heardAtMs: number | null;
  /** When the last look was. */
  lookedAtMs: number | null;
  /**
   * Endpoints that were asked for their head and have not answered, and heads that arrived after their tick. By place
   * in the parts.
   */
  readonly lookingAt: Set<number>;
  readonly lateHeads: Map<number, Head>;
  /** By position and height: since when an endpoint fails to prove this block. */
  readonly failedHeights: Map<string, number>;
  /** When an endpoint that proves no block was last tried, by position. */
  readonly probedAtMs: Map<number, number>;
  /** Whether an endpoint reports payments from inside contracts, by position; 0 is the client over all. */
  readonly seesInside: Map<number, { readonly sees: boolean; readonly atMs: number }>;
  /** Hashes of blocks whose movements two endpoints reported alike. */
  readonly agreed: Set<string>;
  /** What was reported to the operator about a height that endpoints contradict each other about. */
  readonly contradictions: Map<number, string>;
  /** The newest block whose readings differed so much that the nodes' networks were doubted. */
  doubtedHash: string | null;
  /** Which endpoints were reported to the operator about what became of a transaction, by txid. */
  readonly contradictedFates: Map<string, string>;
  /** Where this watcher left the cursor; undefined before its first tick. */
  left: Cursor | null | undefined;
  /** Height that a ledger without a cursor begins at. */
  start: number | null;
  suspicion: Suspicion | null;
  /** The same about the block below one that was taken by its hash alone. */
  seam: Suspicion | null;
  /** A new branch that is being read; a failed read goes on from here instead of from the fork point. */
  branch: { readonly forkPoint: Cursor; readonly blocks: BranchBlock[] } | null;
  /** Why the chain is stopped (G17); only a person starts it again. */
  stopped: string | null;
  /** Failed reads of the content of the height after the cursor. */
  contentFailures: { readonly height: number; readonly tries: number } | null;
  /** When an unresolved height is tried again, by height. */
  retryAtMs: Map<number, number>;
  /**
   * Blocks of which endpoints reported other movements than were recorded, by hash: how many facts wait, when they are
   * looked at again.
   */
  contradicted: Map<string, { readonly facts: number; readonly tries: number; readonly retryAtMs: number }>;
  /** Facts past their threshold that were checked and still wait: the next page skips them. */
  matureAfter: number;
  /** Newest blocks, decoded, oldest first. */
  recent: KeyedBlock[];
  /** The last blocks of before this watcher, still to be read again, newest first; null before its first tick. */
  unread: readonly BlockLink[] | null;
  /** The time of the oldest of them, as the chain has it, milliseconds: 0 where none is known; null without blocks. */
  unreadSinceMs: number | null;
  rematched: { readonly nowMs: number; readonly elapsedMs: number } | null;
  notedHeight: number | null;
  /** Keys of addresses that recorded blocks paid, for the reconciliation. */
  touched: Set<string>;
  /** Withdrawals whose transactions may appear in the next blocks. */
  open: readonly WithdrawalRow[];
  /** Where the next page of them begins, where there are more than one tick checks. */
  openAfter: OpenPlace | null;
  /** Whether `open` begins with the first of them. */
  isFirstOpen: boolean;
}

export function emptyMemory(): Memory {
  return {
    head: null,
    witnesses: [],
    look: null,
    agreedFinal: null,
    heardAtMs: null,
    lookedAtMs: null,
    lookingAt: new Set(),
    lateHeads: new Map(),
    failedHeights: new Map(),
    probedAtMs: new Map(),
    seesInside: new Map(),
    agreed: new Set(),
    contradictions: new Map(),
    doubtedHash: null,
    contradictedFates: new Map(),
    left: undefined,
    start: null,
    suspicion: null,
    seam: null,
    branch: null,
    stopped: null,
    contentFailures: null,
    retryAtMs: new Map(),
    contradicted: new Map(),
    matureAfter: 0,
    recent: [],
    unread: null,
    unreadSinceMs: null,
    rematched: null,
    notedHeight: null,
    touched: new Set(),
    open: [],
    openAfter: null,
    isFirstOpen: true,
  };
}

/** One watcher at work: its parts, what it remembers, and what wakes the accounts. */
export interface Run {
  readonly parts: WatcherParts;
  readonly memory: Memory;
  readonly waker: AccountWaker;
}

/**
 * Forgets everything where the cursor is not where this watcher left it: another one followed the ledger meanwhile,
 * and what is remembered is of before it (blocks that are matched again, since when an endpoint is silent, a stop that
 * a person ended, the height before a reset).
 */
export function forgetIfFollowed({ parts, memory }: Run, cursor: Cursor | null): void {
  const { left } = memory;
  if (left === undefined || (left?.height === cursor?.height && left?.hash === cursor?.hash))
    return void (memory.left = cursor);
  if (memory.stopped !== null) parts.metrics.set('svc_chain_stopped', { chain: parts.network.slug }, 0);
  Object.assign(memory, emptyMemory(), { left: cursor });
}

/**
 * What is remembered of one endpoint between looks. Instants are those of the first look that found it so, null while
 * it is not.
 */
export interface WitnessMemory {
  readonly heard: boolean;
  /** The condition last logged for the operator. */
  readonly logged: Condition | null;
  readonly keptUp: boolean;
  readonly silentSinceMs: number | null;
  readonly behindSinceMs: number | null;
  readonly stuckSinceMs: number | null;
  readonly unreadableSinceMs: number | null;
  /** It claimed a head that cannot be in its last report. */
  readonly isAhead: boolean;
  /** When its head last rose. */
  readonly roseAtMs: number | null;
  /** The head in its last report. */
  readonly headHeight: number | null;
  readonly highestHeight: number;
  /** Since when its head is below its highest one, and where it was then; null while it is not. */
  readonly fell: { readonly sinceMs: number; readonly height: number } | null;
  /** What it last called final; null before it called anything so. */
  readonly finalizedHeight: number | null;
}

export type Condition = 'alive' | 'unheard' | 'silent' | 'behind' | 'stuck' | 'unreadable' | 'ahead';
