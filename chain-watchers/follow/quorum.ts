/**
 * Which endpoints of a chain count as alive, and what those that do say about a block's place. Where a chain has
 * several endpoints none is believed alone: two that are alive must hold a block, each deep enough under its own head,
 * and must be more than those that hold another. What is in the block is asked of two
 * likewise: agreement.ts.
 *
 * An endpoint that counts as alive is waited for. It stops to count, until it is well again:
 *
 *   unheard    answered nothing since this process began                      after 10 s
 *   silent     answered before, answers nothing now                          after 30 s
 *   behind     its head is below our cursor by more than a moment's blocks    after 30 s, 10 s if it was never up to it
 *   stuck      its head does not rise while another one's is above it         after 10 block times, at least 30 s
 *   unreadable reports its head and proves no block at all                      after 30 s
 *   ahead      claims a head that cannot be (possible-head.ts)                at once
 *
 * Each time runs from the first look that found it so, so a look that is old says nothing. Our cursor is what decides
 * who is behind, and not the highest head that somebody claims: an invented head makes no honest endpoint late.
 */
import type { ChainClient, Head, Network } from '../../chains/chain.ts';
import { confirmationsOf, type Finality } from '../maturity/confirmations.ts';
import { chainFailure } from '../../chains/failure.ts';
import { ownFinality } from './head.ts';
import { accountOfLedger } from '../../protocol/ids.ts';
import { canBeAt, firstPossible } from './possible-head.ts';
import type { Condition, Run, WitnessMemory } from '../memory.ts';

export const UNHEARD_MS = 10_000;
export const SILENT_MS = 30_000;
const STUCK_MS_MIN = 30_000;
const STUCK_BLOCKS = 10;
/** Heads of honest nodes differ for a moment: this many blocks, or what the chain makes in this time. */
const LAG_BLOCKS_MIN = 3;
const LAG_MS = 10_000;
/** A round waits this long for the heads of living endpoints; a later answer counts for the next one. */
const LOOK_MS = 2_000;
const WITNESSES_NEEDED = 2;

/** One living endpoint about one block. */
export interface Opinion {
  /** Confirmations of the height under its own head; 0 when its head is below. */
  readonly confirmations: number;
  readonly holds: boolean;
}

/** Whether living endpoints confirm a block at a depth. No endpoint alive confirms nothing. */
export function confirmedBy(opinions: readonly Opinion[], threshold: number): boolean {
  const supporting = opinions.filter(({ holds, confirmations }) => holds && confirmations >= threshold).length;
  const contradicting = opinions.filter(({ holds, confirmations }) => !holds && confirmations > 0).length;
  return supporting >= Math.min(WITNESSES_NEEDED, Math.max(1, opinions.length)) && supporting > contradicting;
}

export const UNKNOWN_WITNESS: WitnessMemory = {
  heard: false,
  logged: null,
  keptUp: false,
  silentSinceMs: null,
  behindSinceMs: null,
  stuckSinceMs: null,
  unreadableSinceMs: null,
  isAhead: false,
  roseAtMs: null,
  headHeight: null,
  highestHeight: -1,
  fell: null,
  finalizedHeight: null,
};

/** What a look compares an endpoint with: our own cursor, and the highest head of another endpoint. */
export interface LookedAt {
  readonly cursorHeight: number | null;
  readonly highestOther: number;
  readonly nowMs: number;
}

/** Blocks that an honest endpoint may be below our cursor for a moment. eth 3 · bsc 23 · btc 3. */
export function lagBlocksOf({ blockTimeMs }: Pick<Network, 'blockTimeMs'>): number {
  return Math.max(LAG_BLOCKS_MIN, Math.ceil(LAG_MS / blockTimeMs));
}

/**
 * A head that does not rise for this long while another one's is above is stuck, milliseconds. eth 120 s · btc 100 min.
 */
export function stuckMsOf({ blockTimeMs }: Pick<Network, 'blockTimeMs'>): number {
  return Math.max(STUCK_MS_MIN, STUCK_BLOCKS * blockTimeMs);
}

/** Memory after a look; null is a look without an answer. */
export function observeWitness(
  memory: WitnessMemory,
  headHeight: number | null,
  { cursorHeight, highestOther, nowMs }: LookedAt,
  network: Pick<Network, 'blockTimeMs'>,
): WitnessMemory {
  // Blocks that it did not prove while it was away say nothing of it once it is back.
  if (headHeight === null) return { ...memory, silentSinceMs: memory.silentSinceMs ?? nowMs, unreadableSinceMs: null };
  const isBehind = cursorHeight !== null && headHeight + lagBlocksOf(network) < cursorHeight;
  // A head that was claimed once and not again, for as long as a stuck one is waited for, is no measure: it counts from
  // where it fell to.
  const fell = headHeight < memory.highestHeight ? (memory.fell ?? { sinceMs: nowMs, height: headHeight }) : null;
  const isTakenBack = fell !== null && nowMs - fell.sinceMs >= stuckMsOf(network),
    highestHeight = isTakenBack ? fell.height : memory.highestHeight;
  const isStuck = headHeight <= highestHeight && headHeight < highestOther;
  return {
    ...memory,
    heard: true,
    keptUp: memory.keptUp || !isBehind,
    silentSinceMs: null,
    isAhead: false,
    headHeight,
    behindSinceMs: isBehind ? (memory.behindSinceMs ?? nowMs) : null,
    stuckSinceMs: isStuck ? (memory.stuckSinceMs ?? nowMs) : null,
    roseAtMs: headHeight > highestHeight ? nowMs : memory.roseAtMs,
    highestHeight: Math.max(highestHeight, headHeight),
    fell: isTakenBack ? null : fell,
  };
}

/**
 * The height that living endpoints call final: two of them, or the only one that says. An endpoint that calls too much
 * final opens no gate, one that calls nothing final closes none.
 */
export function agreedFinal(
  witnesses: readonly WitnessMemory[],
  nowMs: number,
  network: Pick<Network, 'blockTimeMs'>,
): number | null {
  const reported = witnesses
    .filter((one) => conditionOf(one, nowMs, network) === 'alive')
    .flatMap(({ finalizedHeight }) => finalizedHeight ?? []);
  return reported.toSorted((a, b) => b - a)[Math.min(WITNESSES_NEEDED, reported.length) - 1] ?? null;
}

/** What the chain calls final, as of the last look. A stall runs from when the agreed height last rose. */
export function finalityOf({ parts, memory }: Run): Finality {
  const nowMs = parts.elapsedMs();
  if (parts.witnesses.length > 0 && memory.agreedFinal !== null) {
    return {
      finalizedHeight: agreedFinal(memory.witnesses, nowMs, parts.network),
      stalledMs: nowMs - memory.agreedFinal.roseAtMs,
    };
  }
  return memory.head === null ? { finalizedHeight: null, stalledMs: 0 } : ownFinality(memory.head, nowMs);
}

/**
 * The height that living endpoints support, as of the last look: what two of them have, or the only one. Our cursor was
 * proven by two. Null before a look, and while none is alive.
 */
export function supportedHead(
  { parts, memory }: Pick<Run, 'parts' | 'memory'>,
  cursorHeight: number | null,
): number | null {
  const reported = memory.witnesses
    .filter((one, index) => one.headHeight !== null && countsNow({ parts, memory }, index))
    .map(({ headHeight }) => headHeight!);
  const supported = reported.toSorted((a, b) => b - a)[Math.min(WITNESSES_NEEDED, reported.length) - 1];
  return supported === undefined ? null : Math.max(supported, cursorHeight ?? 0);
}

/** Whether an endpoint is waited for, or why not. The table above. */
export function conditionOf(memory: WitnessMemory, nowMs: number, network: Pick<Network, 'blockTimeMs'>): Condition {
  const over = (sinceMs: number | null, limitMs: number) => sinceMs !== null && nowMs - sinceMs >= limitMs;
  if (over(memory.silentSinceMs, memory.heard ? SILENT_MS : UNHEARD_MS)) return memory.heard ? 'silent' : 'unheard';
  if (memory.isAhead) return 'ahead';
  if (over(memory.behindSinceMs, memory.keptUp ? SILENT_MS : UNHEARD_MS)) return 'behind';
  if (over(memory.stuckSinceMs, stuckMsOf(network))) return 'stuck';
  return over(memory.unreadableSinceMs, SILENT_MS) ? 'unreadable' : 'alive';
}

/** An endpoint that is alive, asked by itself. */
export interface LivingEndpoint {
  readonly client: ChainClient;
  /** Which one of the configured endpoints, from 1. */
  readonly position: number;
  /** Its head as of the last look, −1 before it reported one. */
  readonly headHeight: number;
}

/**
 * Asks every endpoint for its head, at most once in a tick. One that does not count as alive is asked and not waited
 * for.
 */
export function look(run: Run): Promise<void> {
  run.memory.look ??= lookNow(run);
  return run.memory.look;
}

async function lookNow(run: Run): Promise<void> {
  const { parts, memory } = run;
  const cursorHeight = (await parts.store.cursor(parts.ledger))?.height ?? null;
  const known = parts.witnesses.map((_, index) => memory.witnesses[index] ?? UNKNOWN_WITNESS);
  const heads: (Head | null)[] = known.map(() => null);
  const answers = parts.witnesses.map(async (client, index) => {
    if (memory.lookingAt.has(index)) return; // its last answer is still awaited
    memory.lookingAt.add(index);
    try {
      heads[index] = await orNull(client.getHead());
      if (heads[index] !== null) memory.lateHeads.set(index, heads[index]);
    } finally {
      memory.lookingAt.delete(index);
    }
  });
  const awaited = answers.filter(
    (_, index) => conditionOf(known[index]!, parts.elapsedMs(), parts.network) === 'alive',
  );
  for (const answer of answers) answer.catch(() => undefined); // a fault is thrown where it is awaited
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, LOOK_MS);
  });
  await Promise.race([Promise.all(awaited), late]).finally(() => clearTimeout(timer));
  const nowMs = parts.elapsedMs(),
    reported = heads.map((head, index) => head ?? memory.lateHeads.get(index) ?? null);
  memory.lateHeads.clear();
  memory.lookedAtMs = nowMs;
  const isRefused = await refuseImpossible(run, reported);
  const others = (index: number) =>
    Math.max(
      -1,
      ...known.map(({ headHeight }, other) => (other === index ? -1 : (reported[other]?.height ?? headHeight ?? -1))),
    );
  memory.witnesses = known.map((witness, index) =>
    isRefused[index] === true
      ? { ...witness, heard: true, silentSinceMs: null, isAhead: true }
      : observeWitness(
          witness,
          reported[index]?.height ?? null,
          { cursorHeight, highestOther: others(index), nowMs },
          parts.network,
        ),
  );
  memory.witnesses = memory.witnesses.map((witness, index) =>
    reported[index] === null ? witness : { ...witness, finalizedHeight: reported[index]!.finalizedHeight },
  );
  const supported = supportedHead(run, cursorHeight);
  if (supported !== null) parts.knowHead?.({ height: supported, sinceMs: nowMs });
  const finalizedHeight = agreedFinal(memory.witnesses, nowMs, parts.network);
  if (memory.agreedFinal === null || (finalizedHeight ?? -1) > (memory.agreedFinal.highest ?? -1))
    memory.agreedFinal = { highest: finalizedHeight, roseAtMs: nowMs };
  memory.witnesses.forEach((witness, index) => publish(parts, index, witness));
  memory.witnesses = memory.witnesses.map((witness) => ({
    ...witness,
    logged: conditionOf(witness, nowMs, parts.network),
  }));
}

/** Takes out heads that cannot be. Answers which endpoints claimed one. */
async function refuseImpossible(run: Run, reported: (Head | null)[]): Promise<boolean[]> {
  return Promise.all(
    reported.map(async (head, index) => {
      if (head === null || (await canBeAt(run, head.height))) return false;
      reported[index] = null;
      return true;
    }),
  );
}

/** The head of the client over all endpoints, or that of a living one where it cannot be. Throws: ChainUnavailable. */
export async function believedHead(run: Run): Promise<Head> {
  const { parts } = run;
  const head = await parts.client.getHead(),
    can = await canBeAt(run, head.height);
  if (parts.witnesses.length === 0) noteOnly(run, !can);
  if (can) return head;
  const living = parts.witnesses.length === 0 ? [] : await livingOf(run);
  return firstPossible(
    run,
    living.toSorted((a, b) => b.headHeight - a.headHeight).map(({ client }) => client),
    head,
  );
}

/** The only endpoint is shown as it is, as one of several. */
function noteOnly({ parts, memory }: Run, isAhead: boolean): void {
  const before = memory.witnesses[0] ?? UNKNOWN_WITNESS;
  if (before.isAhead === isAhead || accountOfLedger(parts.ledger) !== null) return;
  const witness = { ...before, isAhead };
  publish(parts, 0, witness);
  memory.witnesses = [{ ...witness, logged: conditionOf(witness, parts.elapsedMs(), parts.network) }];
}

export const WHY: Readonly<Record<Exclude<Condition, 'alive'>, string>> = {
  unheard: 'has answered nothing since this process began',
  silent: 'answers nothing',
  behind: 'is far below what is recorded',
  stuck: 'reports the same head while another endpoint goes on',
  unreadable: 'reports its head and proves no block',
  ahead: 'claims a head that cannot be: further ahead than the chain can have mined',
};

/**
 * Logs one line when an endpoint stops counting and one when it counts again: until then the others decide without it.
 */
function publish(
  { log, metrics, network, elapsedMs, doubtNetwork }: Run['parts'],
  index: number,
  after: WitnessMemory,
): void {
  const chain = network.slug,
    endpoint = `${chain}-${index + 1}`,
    now = elapsedMs();
  const condition = conditionOf(after, now, network);
  metrics.set('svc_endpoint_alive', { chain, endpoint }, condition === 'alive' ? 1 : 0);
  if (after.roseAtMs !== null)
    metrics.set('svc_endpoint_head_age_seconds', { chain, endpoint }, Math.floor((now - after.roseAtMs) / 1_000));
  if (after.logged === condition || (after.logged === null && condition === 'alive')) return;
  if (condition !== 'silent' && condition !== 'unheard') doubtNetwork?.(); // what it answers may be another chain's
  if (condition === 'alive') log.info({ chain, endpoint }, 'an endpoint counts again: blocks need its word too');
  else
    log.warn(
      { chain, endpoint, condition },
      `an endpoint ${WHY[condition]}: it is not waited for, the others decide without it`,
    );
}

/** Endpoints that are alive as of this tick's look. */
export async function livingOf(run: Run): Promise<LivingEndpoint[]> {
  await look(run);
  const { parts, memory } = run;
  return parts.witnesses
    .map((client, index) => ({ client, position: index + 1, headHeight: memory.witnesses[index]!.headHeight ?? -1 }))
    .filter(({ position }) => countsNow(run, position - 1));
}

/** Whether an endpoint counts as alive as of the last look, by its place from 0; one that was never looked at does. */
export function countsNow({ parts, memory }: Pick<Run, 'parts' | 'memory'>, index: number): boolean {
  const witness = memory.witnesses[index];
  return (
    witness === undefined || ['alive', 'unreadable'].includes(conditionOf(witness, parts.elapsedMs(), parts.network))
  );
}

export interface Quorum {
  /** Endpoints that are alive now; empty where there is one source only. */
  readonly living: readonly LivingEndpoint[];
  /** True when a block is confirmed at a depth by the endpoints that are alive now. */
  confirms(height: number, hash: string, threshold: number): Promise<boolean>;
}

/** The endpoints of a ledger as they are now; one head per endpoint, one hash per endpoint and height. */
export async function quorumOf(run: Run): Promise<Quorum> {
  const { parts } = run;
  const living =
    parts.witnesses.length === 0
      ? [{ client: parts.client, position: 1, headHeight: (await orNull(believedHead(run)))?.height ?? -1 }]
      : await livingOf(run);
  const hashes = new Map<string, Promise<string | null>>();
  const hashOf = ({ client, position }: LivingEndpoint, height: number) => {
    const key = `${position}:${height}`;
    const asked = hashes.get(key) ?? orNull(client.getBlockHash(height));
    hashes.set(key, asked);
    return asked;
  };
  return {
    living: parts.witnesses.length === 0 ? [] : living,
    async confirms(height, hash, threshold) {
      const opinions = await Promise.all(
        living.map(async (one): Promise<Opinion> => {
          const theirs = one.headHeight < height ? null : await hashOf(one, height);
          // An endpoint that cannot know has no opinion, but it counts as alive: its silence is no support.
          return {
            confirmations: theirs === null ? 0 : confirmationsOf(one.headHeight, height),
            holds: theirs === hash,
          };
        }),
      );
      return confirmedBy(opinions, threshold);
    },
  };
}

/** Null where the chain says nothing; a fault is thrown. */
export async function orNull<T>(read: Promise<T>): Promise<T | null> {
  try {
    return await read;
  } catch (error) {
    if (chainFailure(error) === null) throw error;
    return null;
  }
}
