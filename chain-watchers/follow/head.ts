/**
 * What is remembered about a chain's head. Liveness is an advancing height, not the absence of errors (C1-12).
 *
 *   silent after clamp(30 × block time, 30 s, 5 min): eth 12 s → 5 min (360 s is cut) · polygon 2 s → 60 s · bsc 0.45 s
 * → 30 s
 */
import type { Head, Network } from '../../chains/chain.ts';
import type { Finality } from '../maturity/confirmations.ts';

export interface HeadMemory {
  readonly head: Head;
  /** When the supported height last rose, or was found to be lower for good; by the wall clock, as it is noted. */
  readonly roseAtMs: number;
  /** Highest height that was supported; it falls when less was supported for long. */
  readonly highestHeight: number;
  /** Elapsed time since when less than it is supported; null while it is not. */
  readonly lowerSinceMs: number | null;
  /** Never falls: lagging endpoints serve an older one. V28. */
  readonly finalizedHeight: number | null;
  /** Elapsed time at which it last rose. */
  readonly finalizedRoseAtMs: number;
}

/** One moment by both clocks. */
export interface Instant {
  readonly nowMs: number;
  readonly elapsedMs: number;
}

export interface Supported {
  /** The height that two endpoints support; of a single one its own. */
  readonly height: number;
  /** A lower height that persists for so long is where the chain is: a rollback, or the end of a lie. */
  readonly afterMs: number;
}

/**
 * Memory after one more answer; `finalized` only rises. A head below what was called final refutes
 * it: somebody spoke of another network, or lied once, and the gate must not stay open for that.
 */
export function observeHead(
  memory: HeadMemory | null,
  head: Head,
  { nowMs, elapsedMs }: Instant,
  { height, afterMs }: Supported = { height: head.height, afterMs: Number.POSITIVE_INFINITY },
): HeadMemory {
  if (memory === null) {
    const { finalizedHeight } = head;
    return {
      head,
      roseAtMs: nowMs,
      highestHeight: height,
      lowerSinceMs: null,
      finalizedHeight,
      finalizedRoseAtMs: elapsedMs,
    };
  }
  const lowerSinceMs = height < memory.highestHeight ? (memory.lowerSinceMs ?? elapsedMs) : null;
  const fell = lowerSinceMs !== null && elapsedMs - lowerSinceMs >= afterMs;
  const rose = height > memory.highestHeight || fell;
  const refuted = memory.finalizedHeight !== null && head.height < memory.finalizedHeight;
  const finalizedRose =
    refuted ||
    (head.finalizedHeight !== null &&
      (memory.finalizedHeight === null || head.finalizedHeight > memory.finalizedHeight));
  return {
    head,
    roseAtMs: rose ? nowMs : memory.roseAtMs,
    highestHeight: rose ? height : memory.highestHeight,
    lowerSinceMs: fell ? null : lowerSinceMs,
    finalizedHeight: finalizedRose ? head.finalizedHeight : memory.finalizedHeight,
    finalizedRoseAtMs: finalizedRose ? elapsedMs : memory.finalizedRoseAtMs,
  };
}

/** The height from which confirmations are counted: of the head that was reported last, as far as it is supported. */
export function countedHeight({ head, highestHeight }: HeadMemory): number {
  return Math.min(head.height, highestHeight);
}

/** Memory after a restart, from what was noted before it: a chain that had stopped counts as stopped since then. */
export function rememberedHead(noted: { height: number; atMs: number }, elapsedMs: number): HeadMemory {
  const head = { height: noted.height, hash: '', finalizedHeight: null };
  return {
    head,
    roseAtMs: noted.atMs,
    highestHeight: noted.height,
    lowerSinceMs: null,
    finalizedHeight: null,
    finalizedRoseAtMs: elapsedMs,
  };
}

/** What the last reported head calls final. */
export function ownFinality(memory: HeadMemory, elapsedMs: number): Finality {
  return { finalizedHeight: memory.finalizedHeight, stalledMs: elapsedMs - memory.finalizedRoseAtMs };
}

/** A chain whose head has not risen for this long is silent, in milliseconds. Spec: chains.md G11. */
export function silentAfterMs(network: Pick<Network, 'blockTimeMs'>): number {
  return Math.min(300_000, Math.max(30_000, 30 * network.blockTimeMs));
}

/** Pause between polls, in milliseconds: a quarter of a block time within [250 ms, 10 s]. */
export function pollMsOf(network: Pick<Network, 'blockTimeMs'>): number {
  return Math.min(10_000, Math.max(250, Math.round(network.blockTimeMs / 4)));
}
