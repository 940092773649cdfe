/** What waits for a block for too long, and is priced anew. Treasury W11, B16. */
import type { Counter } from '../../model/account/outgoing.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import { FAMILY_OF } from '../../protocol/slugs.ts';

/** B16: a sweep of coins that no block took for so long pays more. Choice: six blocks. */
const COINS_STUCK_MS = 60 * 60_000;
/** A funding that no block took for so long. Choice: some blocks of each chain, and far below a job's deadline. */
export const FUNDING_STUCK_MS = 10 * 60_000;

export const isStuckSweep = ({ chain, status, height, updatedAtMs }: WithdrawalRow, nowMs: number): boolean =>
  FAMILY_OF[chain] === 'btc' && status === 'broadcast' && height === null && nowMs - updatedAtMs > COINS_STUCK_MS;

/**
 * What is signed under the lowest value of a tank's counter, where it has waited for long: what is added lands behind
 * it. Null where nothing waits, or not for long.
 */
export function stuckFirst(
  counter: Counter | undefined,
  changedAtMs: Readonly<Record<string, number>>,
  nowMs: number,
): string | null {
  const waiting = Object.entries(counter?.inFlight ?? {}).filter(([, { stage }]) => stage !== 'included');
  const [first] = waiting.toSorted(([left], [right]) => (BigInt(left) < BigInt(right) ? -1 : 1));
  if (first === undefined) return null;
  const [, { id, stage }] = first;
  return stage === 'signed' && nowMs - (changedAtMs[id] ?? nowMs) > FUNDING_STUCK_MS ? id : null;
}

/** A version that was priced anew and that no edge has signed yet: the next one is of the same price. */
export const isPricedAnew = ({ versions, unsigned }: WithdrawalRow): boolean =>
  versions.length > 0 && versions.at(-1)!.payload !== unsigned.payload;
