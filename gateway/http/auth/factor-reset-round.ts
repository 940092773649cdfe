/** What time does to resets of factors: nobody confirmed one for a week, or its 72 hours are over. Console A25. */
import { randomUUID } from 'node:crypto';
import { UNASKED } from '../../../model/rows/audit.ts';
import type { FactorResetStore } from '../../../model/ports/factor-reset-store.ts';

/** How long another administrator has to confirm. */
export const CONFIRM_MS = 7 * 86_400_000;

/** Ends what nobody confirmed, and carries out what is due, one after the other. Answers how many were carried out. */
export async function factorResetRound(
  resets: Pick<FactorResetStore, 'expire' | 'carryOut'>,
  nowMs: number,
  signal?: AbortSignal,
): Promise<number> {
  await resets.expire(nowMs - CONFIRM_MS, nowMs);
  let done = 0;
  while (signal?.aborted !== true && (await resets.carryOut(nowMs, randomUUID(), NOTE)) !== null) done += 1;
  return done;
}

/** Its actor and target are those of the row: the administrator who confirmed it. */
const NOTE = {
  actor: { kind: 'admin', id: null },
  via: 'job',
  action: 'resetFactors',
  ...UNASKED,
} as const;
