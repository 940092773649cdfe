/**
 * Confirmation arithmetic, once for all chains. A block at the head has one confirmation.
 *
 *   head 100 · height 100 → 1      head 100 · height 89 → 12      head 100 · height 101 → 0 (not on that head's chain)
 *   threshold 12 · head 100 → 89 has 12 and is mature, 90 has 11 and waits
 */
import type { Network } from '../../chains/chain.ts';

/** `finalized` that has not risen for longer counts as stalled; depth decides then. chains.md part 2 (bsc). */
export const FINALITY_STALL_MS = 60_000;

/** head − height + 1 of the head that served the proof, or 0 above it. Spec: chains.md G18. */
export function confirmationsOf(headHeight: number, height: number): number {
  return Math.max(0, headHeight - height + 1);
}

/** Confirmations at which a transfer is credited: the network's, or its own where that is more (coinbase, B3). */
export function thresholdOf(network: Pick<Network, 'threshold'>, ownThreshold: number | undefined): number {
  return Math.max(network.threshold, ownThreshold ?? 0);
}

export interface Finality {
  /** Highest height that the chain called final so far; null while it has not said. */
  readonly finalizedHeight: number | null;
  /** Time since that height rose, in milliseconds. */
  readonly stalledMs: number;
}

/**
 * True when a height that has reached its threshold may be confirmed: by depth alone, or at or below `finalized`; where
 * `finalized` has stalled for over 60 s and the network names a depth for that case, at that depth. Chains.md part 2.
 *
 *   bsc, stallDepth 240, finalized 1,000, head 1,300: 1,000 passes · 1,001 waits · stalled: 1,061 (240) passes, 1,062
 * waits
 */
export function gatePassed(
  network: Pick<Network, 'gate'>,
  height: number,
  headHeight: number,
  finality: Finality,
): boolean {
  const { gate } = network;
  if (gate.kind === 'depth') return true;
  if (finality.finalizedHeight !== null && height <= finality.finalizedHeight) return true;
  return (
    gate.stallDepth !== null &&
    finality.stalledMs > FINALITY_STALL_MS &&
    confirmationsOf(headHeight, height) >= gate.stallDepth
  );
}
