/** The clock of a sandbox. */
import type { Flock } from '../typescript/src/index.ts';

/** It stops where more falls due than one call does, and is asked again. */
export async function clockTo(
  flock: Pick<Flock, 'advanceSandboxClock'>,
  untilMs: number,
): Promise<Awaited<ReturnType<Flock['advanceSandboxClock']>>> {
  const to = new Date(untilMs).toISOString();
  for (;;) {
    const moved = await flock.advanceSandboxClock({ to });
    if (Date.parse(moved.now) >= untilMs) return moved;
  }
}
