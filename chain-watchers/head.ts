/**
 * What is remembered about a chain's head. Liveness is an advancing height, not the absence of errors (C1-12).
 *
 *   silent after clamp(30 × block time, 30 s, 5 min): eth 12 s → 5 min (360 s is cut) · polygon 2 s → 60 s · bsc 0.45 s → 30 s
 */
import type { Head, Network } from '../chains/chain.ts';
import type { Finality } from './confirmations.ts';

export interface HeadMemory {
  readonly head: Head;
  /** Instant at which the height was last higher than ever before. */
  readonly roseAtMs: number;
  readonly highestHeight: number;
  /** Never falls: lagging endpoints serve an older one. V28. */
  readonly finalizedHeight: number | null;
  readonly finalizedRoseAtMs: number;
}

/**
 * Memory after one more answer; `finalized` and the highest height only rise. A head below what was called final refutes
 * it: somebody spoke of another network, or lied once, and the gate must not stay open for that.
 */
export function observeHead(memory: HeadMemory | null, head: Head, nowMs: number): HeadMemory {
  if (memory === null) {
    const { height: highestHeight, finalizedHeight } = head;
    return { head, roseAtMs: nowMs, highestHeight, finalizedHeight, finalizedRoseAtMs: nowMs };
  }
  const rose = head.height > memory.highestHeight;
  const refuted = memory.finalizedHeight !== null && head.height < memory.finalizedHeight;
  const finalizedRose = refuted || (head.finalizedHeight !== null
    && (memory.finalizedHeight === null || head.finalizedHeight > memory.finalizedHeight));
  return {
    head,
    roseAtMs: rose ? nowMs : memory.roseAtMs,
    highestHeight: Math.max(memory.highestHeight, head.height),
    finalizedHeight: finalizedRose ? head.finalizedHeight : memory.finalizedHeight,
    finalizedRoseAtMs: finalizedRose ? nowMs : memory.finalizedRoseAtMs,
  };
}

/** Memory after a restart, from what was noted before it: a chain that stood still has stood still since then. */
export function rememberedHead(noted: { height: number; atMs: number }, nowMs: number): HeadMemory {
  const head = { height: noted.height, hash: '', finalizedHeight: null };
  return { head, roseAtMs: noted.atMs, highestHeight: noted.height, finalizedHeight: null, finalizedRoseAtMs: nowMs };
}

/** What the head that was told last calls final. */
export function ownFinality(memory: HeadMemory, nowMs: number): Finality {
  return { finalizedHeight: memory.finalizedHeight, stalledMs: nowMs - memory.finalizedRoseAtMs };
}

/** A chain whose head has not risen for this long is silent, in milliseconds. Spec: chains.md G11. */
export function silentAfterMs(network: Pick<Network, 'blockTimeMs'>): number {
  return Math.min(300_000, Math.max(30_000, 30 * network.blockTimeMs));
}

/** Pause between polls, in milliseconds: a quarter of a block time within [250 ms, 10 s]. */
export function pollMsOf(network: Pick<Network, 'blockTimeMs'>): number {
  return Math.min(10_000, Math.max(250, Math.round(network.blockTimeMs / 4)));
}
