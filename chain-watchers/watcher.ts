/**
 * The one watcher, for every chain, live or simulated. A tick does a bounded part of each job and keeps nothing that it
 * could not read again:
 *
 *   follow the head · catch up in bounded ranges     follow.ts, rewind.ts
 *   retry unresolved heights                         unresolved.ts
 *   mature what is deep enough                       mature.ts
 *   match the last blocks with younger addresses     rematch.ts
 *   read blocks again for adopted addresses          adopted.ts
 *   carry withdrawals to their proof                 outbound.ts
 *   look for internal transfers without traces       reconcile.ts
 *
 * The audit is a worker of its own rhythm (audit.ts). A chain failure ends a job of this tick, never another
 * job; any other error is a fault and ends the tick, for the supervisor to restart.
 */
import type { Cursor, OpenPlace } from '../model/ports/watch-store.ts';
import { createAccountWaker } from './wake-accounts.ts';
import { chainFailure } from '../chains/failure.ts';
import { standingOf } from './follow/cursor.ts';
import { readForward, recordStart, type Followed } from './follow/follow.ts';
import { observeHead, type HeadMemory } from './follow/head.ts';
import { matureFacts } from './maturity/mature.ts';
import { emptyMemory, forgetIfFollowed, type Condition, type Run } from './memory.ts';
import { createOutbound, type Outbound } from './outbound/outbound.ts';
import type { WatcherParts } from './ports.ts';
import { notedBefore } from './follow/possible-head.ts';
import { believedHead, conditionOf, countsNow, look, supportedHead, UNKNOWN_WITNESS } from './follow/quorum.ts';
import { agreedBalancesAt } from './audit/agreed-balances.ts';
import { createReconciler, type Reconciler } from './audit/reconcile.ts';
import { readForAdopted } from './follow/adopted.ts';
import { noteBefore, rematch } from './follow/rematch.ts';
import {
  nothingToRebuild,
  partingOf,
  rebuildAbove,
  type Parting,
  type Rebuilt,
  type RebuildRefusal,
} from './reorg/rebuild.ts';
import { lowerHead, suspect, type Rewound } from './reorg/rewind.ts';
import { retryUnresolved } from './follow/unresolved.ts';

/** Withdrawals that one tick carries, and the limit of those whose inclusion is looked for in blocks. */
const OPEN_WITHDRAWALS_MAX = 1_000;

/** How old the last look at all endpoints may be, however little there is to read. */
const LOOK_EVERY_MS = 5_000;
/** How exactly the time of a node's last report of its head is kept. */
const HEARD_EVERY_MS = 10_000;

export type Job = 'follow' | 'unresolved' | 'mature' | 'rematch' | 'adopted' | 'outbound' | 'reconcile';

export interface TickReport {
  readonly headHeight: number | null;
  readonly cursor: Cursor | null;
  readonly recorded: number;
  readonly reorgDepth: number;
  readonly resolved: number;
  readonly matured: number;
  readonly refuted: number;
  readonly late: number;
  /** There is more to read than one tick may: tick again without a pause. */
  readonly more: boolean;
  /** Another watcher recorded this height first: ours was refused, its work is kept. */
  readonly superseded: boolean;
  /** Why the chain is stopped (G17), or null. */
  readonly stopped: string | null;
  readonly failures: readonly { readonly job: Job; readonly reason: string }[];
}

export interface Watcher {
  /** One bounded round of all jobs. Never two at a time. */
  tick(): Promise<TickReport>;
  /** Resolves when every account that was woken has taken its facts. */
  settled(): Promise<void>;
  /** Resolves when no tick is under way. */
  idle(): Promise<void>;
  /**
   * Reads the heads of the endpoints without a tick: while none may be asked for blocks, the time since which each is
   * silent is still tracked.
   */
  look(): Promise<void>;
  /** Why the chain is stopped (G17), or null. */
  stopped(): string | null;
  /** Whether an endpoint counts as alive as of the last look, by its place from 0. quorum.ts. */
  counts(index: number): boolean;
  /**
   * Whether an endpoint is waited for as of the last look, or why not, by its place from 0; `alive` before one.
   * quorum.ts.
   */
  conditionOf(index: number): Condition;
  /** Where our blocks and the chain's part, and why there is nothing to rebuild; null where there is. rebuild.ts. */
  parting(): Promise<Parting & { readonly nothing: RebuildRefusal | null }>;
  /**
   * By a person's order after a stop: takes the chain's own branch above the newest block that both hold, whose height
   * the person names, however deep, and follows it.
   * Nothing is deleted; what is absent from the new branch is reversed. C3-33.
   */
  rebuildAbove(height: number): Promise<Rebuilt>;
}

/** A watcher over its parts. */
export function createWatcher(parts: WatcherParts): Watcher {
  const run: Run = {
    parts,
    memory: emptyMemory(),
    waker: createAccountWaker(parts.accounts, parts.log, parts.metrics),
  };
  const {
    reconcilePerBlock: addressesPerBlock,
    client: { fetchBalancesAt },
  } = parts;
  const jobs: Jobs = {
    outbound: createOutbound(run),
    reconciler:
      addressesPerBlock === null || fetchBalancesAt === undefined
        ? null
        : createReconciler({
            ...parts,
            addressesPerBlock,
            balancesAt: agreedBalancesAt(run, fetchBalancesAt.bind(parts.client)),
          }),
  };
  let ticking: Promise<unknown> = Promise.resolve();
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const result = ticking.then(work, work);
    ticking = result.catch(() => undefined);
    return result;
  };
  return {
    tick: () => alone(() => tick(run, jobs)),
    look: () =>
      alone(async () => {
        run.memory.look = null;
        if (parts.witnesses.length > 0) await look(run);
      }),
    settled: () => run.waker.settled(),
    idle: async () => {
      await ticking;
    },
    stopped: () => run.memory.stopped,
    counts: (index) => countsNow(run, index),
    conditionOf: (index) =>
      conditionOf(run.memory.witnesses[index] ?? UNKNOWN_WITNESS, parts.elapsedMs(), parts.network),
    parting: () =>
      alone(async () => {
        const parting = await partingOf(run);
        return { ...parting, nothing: nothingToRebuild(parting) };
      }),
    rebuildAbove: (height) => alone(() => rebuildAbove(run, height)),
  };
}

interface Jobs {
  readonly outbound: Outbound;
  readonly reconciler: Reconciler | null;
}

type Draft = { -readonly [K in keyof TickReport]: TickReport[K] } & { failures: { job: Job; reason: string }[] };

async function tick(run: Run, jobs: Jobs): Promise<TickReport> {
  const { parts, memory } = run;
  memory.look = null;
  const cursor = await parts.store.cursor(parts.ledger);
  forgetIfFollowed(run, cursor);
  const report: Draft = {
    headHeight: null,
    cursor: null,
    recorded: 0,
    reorgDepth: 0,
    resolved: 0,
    matured: 0,
    refuted: 0,
    late: 0,
    more: false,
    superseded: false,
    stopped: memory.stopped,
    failures: [],
  };
  if (memory.stopped !== null) return report;
  await noteBefore(run, cursor);
  const attempt = async (job: Job, work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      const reason = chainFailure(error);
      if (reason === null) throw error;
      fail(run, report, job, reason);
    }
  };
  const openFault = await takeOpen(run, settledSince(run, cursor)).then(
    () => null,
    (error: unknown) => ({ error }),
  );
  if (
    parts.witnesses.length > 0 &&
    parts.elapsedMs() - (memory.lookedAtMs ?? Number.NEGATIVE_INFINITY) >= LOOK_EVERY_MS
  )
    await look(run);
  await attempt('follow', () => follow(run, report, cursor));
  report.stopped = memory.stopped;
  if (memory.stopped !== null || report.headHeight === null || report.cursor === null) {
    if (openFault !== null) throw openFault.error;
    return report;
  }
  await attempt('unresolved', async () => {
    report.resolved = await retryUnresolved(run);
  });
  await attempt('mature', async () => {
    const { matured, refuted, reason } = await matureFacts(run);
    report.matured = matured;
    report.refuted = refuted;
    if (reason !== null) fail(run, report, 'mature', reason);
  });
  await attempt('rematch', async () => {
    report.late = await rematch(run);
  });
  await attempt('adopted', async () => {
    report.late += await readForAdopted(run, report.cursor!);
  });
  // Withdrawals that cannot be read hold back no deposit: blocks are recorded without them; their fate is asked later.
  if (openFault !== null) throw openFault.error;
  await attempt('outbound', () => jobs.outbound.tick(report.cursor!));
  await attempt('reconcile', async () => {
    jobs.reconciler?.touched(memory.touched);
    memory.touched.clear();
    await jobs.reconciler?.round();
  });
  return report;
}

/**
 * From which height on settled withdrawals are looked at: the reorg window below our newest block, wherever the head
 * is. There a branch is replaced, and a start must not read all that a ledger ever settled. What a deeper branch takes
 * away is reported by its own statement (`recordReorg`).
 */
function settledSince({ parts: { network } }: Run, cursor: Cursor | null): number {
  return cursor === null ? Number.MAX_SAFE_INTEGER : Math.max(0, cursor.height - network.reorgWindow);
}

/** The next open withdrawals, round robin: stuck ones do not hold back those behind them. */
async function takeOpen({ parts: { store, ledger }, memory }: Run, sinceHeight: number): Promise<void> {
  const ask = (after: OpenPlace | null) => store.openWithdrawals(ledger, sinceHeight, OPEN_WITHDRAWALS_MAX, after);
  let page = await ask(memory.openAfter);
  memory.isFirstOpen = memory.openAfter === null || page.rows.length === 0;
  if (page.rows.length === 0 && memory.openAfter !== null) page = await ask(null);
  memory.openAfter = page.next;
  memory.open = page.rows;
}

function fail(run: Run, report: Draft, job: Job, reason: string): void {
  report.failures.push({ job, reason });
  run.parts.metrics.add('svc_watch_failures_total', { chain: run.parts.network.slug, job });
}

async function follow(run: Run, report: Draft, cursor: Cursor | null): Promise<void> {
  const { parts, memory } = run;
  memory.head ??= await headBefore(run);
  const head = await believedHead(run);
  memory.head = observeHead(
    memory.head,
    head,
    { nowMs: parts.nowMs(), elapsedMs: parts.elapsedMs() },
    {
      height: await supportedNow(run, head.height, cursor?.height ?? null),
      afterMs: parts.settings.silentMs,
    },
  );
  report.headHeight = head.height;
  await noteHead(run, memory.head);
  report.cursor = cursor;
  const standing = standingOf(cursor, head);
  if (cursor === null) takeFollowed(run, report, await recordStart(run, head.height));
  else if (standing === 'lagging') takeRewound(run, report, await lowerHead(run, cursor, head.height));
  else if (standing === 'other_branch') takeRewound(run, report, await suspect(run, cursor, head.hash));
  else if (standing === 'behind') {
    const followed = await readForward(run, cursor);
    takeFollowed(run, report, followed);
    if (followed.end?.kind === 'mismatch') {
      const at = await parts.store.cursor(parts.ledger);
      if (at !== null) takeRewound(run, report, await suspect(run, at, followed.end.theirs));
    }
  } else memory.suspicion = null;
  report.cursor = await parts.store.cursor(parts.ledger);
  const behind = report.cursor === null ? 0 : Math.max(0, memory.head.highestHeight - report.cursor.height);
  report.more = head.height > (report.cursor?.height ?? head.height) && (report.recorded > 0 || report.reorgDepth > 0);
  parts.metrics.set('svc_cursor_height', { chain: parts.network.slug }, report.cursor?.height ?? 0);
  parts.metrics.set('svc_blocks_behind', { chain: parts.network.slug }, behind);
}

/** The head known before a restart is the yardstick for the first answer after it. */
async function headBefore(run: Run): Promise<HeadMemory | null> {
  const { parts } = run,
    before = await notedBefore(run);
  if (before === null) return null;
  const ageMs = Math.max(0, parts.nowMs() - before.roseAtMs);
  parts.knowHead?.({ height: before.highestHeight, sinceMs: parts.elapsedMs() - ageMs });
  return before;
}

function takeFollowed(run: Run, report: Draft, followed: Followed): void {
  report.recorded += followed.recorded;
  if (followed.recorded > 0) run.memory.suspicion = null;
  if (followed.end?.kind === 'unproven') fail(run, report, 'follow', followed.end.reason);
  if (followed.end?.kind === 'lost_race') lostRace(run, report);
}

function takeRewound(run: Run, report: Draft, rewound: Rewound): void {
  if (rewound.kind === 'reorg') report.reorgDepth = rewound.depth;
  if (rewound.kind === 'suspect' || rewound.kind === 'stopped') fail(run, report, 'follow', rewound.reason);
  if (rewound.kind === 'lost_race') lostRace(run, report);
}

function lostRace(run: Run, report: Draft): void {
  report.superseded = true;
  fail(run, report, 'follow', 'another watcher was first');
}

/** The head that is noted: where an endpoint claims a higher one, what two of them support. */
async function supportedNow(run: Run, claimed: number, cursorHeight: number | null): Promise<number> {
  if (run.parts.witnesses.length === 0) return claimed;
  if (claimed > (run.memory.head?.highestHeight ?? -1)) await look(run);
  return supportedHead(run, cursorHeight) ?? claimed;
}

/** The store keeps the height and when it rose: its age is the chain's silence (C1-12), not the watcher's. */
async function noteHead(run: Run, { highestHeight, roseAtMs }: HeadMemory): Promise<void> {
  const { parts, memory } = run;
  parts.metrics.set('svc_head_height', { chain: parts.network.slug }, highestHeight);
  const ageSeconds = Math.max(0, Math.floor((parts.nowMs() - roseAtMs) / 1_000));
  parts.metrics.set('svc_head_age_seconds', { chain: parts.network.slug }, ageSeconds);
  if (memory.notedHeight !== highestHeight) await parts.store.noteHead(parts.ledger, highestHeight, roseAtMs);
  memory.notedHeight = highestHeight;
  if (parts.elapsedMs() - (memory.heardAtMs ?? Number.NEGATIVE_INFINITY) < HEARD_EVERY_MS) return;
  await parts.store.noteHeard(parts.ledger, parts.nowMs());
  memory.heardAtMs = parts.elapsedMs();
}
