/**
 * The time of the spend ledger. A wall clock that is set back or forth must not free budget, so time only advances by
 * the monotonic clock while the process lives, and a new process begins at the later of the wall clock and the newest
 * entry of the ledger. What remains: a wall clock that is moved ahead while the edge is stopped looks like a pause.
 */
export interface SpendClock { nowMs(): number }

/** `newestEntryMs` is the instant of the ledger's newest entry, 0 without one. */
export function createSpendClock(newestEntryMs: number, wallMs: () => number, monotonicMs: () => number): SpendClock {
  const startedAtMs = Math.max(wallMs(), newestEntryMs);
  const startedAtMonotonicMs = monotonicMs();
  return { nowMs: () => Math.ceil(startedAtMs + (monotonicMs() - startedAtMonotonicMs)) };
}
