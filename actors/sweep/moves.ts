/**
 * From where to where an operation goes, each arrow one write over the version that was read. Treasury 5.3.
 *
 *   PLANNED    ─▶ FUNDING (gas is built) · SIGNING (the sweep is built) · SKIPPED · FAILED
 *   FUNDING    ─▶ FUNDING (once: a price outran the gas, what is missing is built) · SIGNING (the gas is deep enough) ·
 * SKIPPED · FAILED
 *   SIGNING    ─▶ BROADCAST (signed bytes are stored) · SKIPPED · FAILED
 *   SIGNING    ─▶ PLANNED (a setting of the edge has no sweeps of the chain: the build is given back)
 *   BROADCAST  ─▶ CONFIRMED · FAILED
 *   CONFIRMED  ─▶ BROADCAST (a reorg took its transaction out of the chain) · FAILED (and it is dead by now)
 *   FAILED     ─▶ PLANNED (retry: another attempt, with transactions of its own)
 */
import type { SweepWrite } from '../../model/account/sweep.ts';
import type { SweepJobRow, SweepOperationRow, SweepOperationState } from '../../model/rows/sweep.ts';

const ARROWS: Readonly<Record<SweepOperationState, readonly SweepOperationState[]>> = {
  PLANNED: ['FUNDING', 'SIGNING', 'SKIPPED', 'FAILED'],
  FUNDING: ['SIGNING', 'SKIPPED', 'FAILED'],
  SIGNING: ['BROADCAST', 'SKIPPED', 'FAILED'],
  BROADCAST: ['CONFIRMED', 'FAILED'],
  CONFIRMED: ['BROADCAST', 'FAILED'],
  FAILED: ['PLANNED'],
  SKIPPED: [],
};
/** Nothing of it may be signed yet. */
export const UNSIGNED: ReadonlySet<SweepOperationState> = new Set(['PLANNED', 'FUNDING']);

export const isOver = (state: SweepOperationState): boolean => OVER.has(state);
const OVER: ReadonlySet<SweepOperationState> = new Set(['CONFIRMED', 'FAILED', 'SKIPPED']);

export const isArrow = (from: SweepOperationState, to: SweepOperationState): boolean => ARROWS[from].includes(to);

type Fields = Partial<
  Pick<
    SweepOperationRow,
    'reason' | 'amount' | 'funding' | 'promised' | 'paid' | 'details' | 'fundId' | 'firstFundId' | 'sweepId'
  >
>;

/** An operation as it is after an arrow. */
export function moved(
  known: SweepOperationRow,
  state: SweepOperationState,
  fields: Fields,
  nowMs: number,
): SweepOperationRow {
  return { ...known, ...fields, state, version: known.version + 1, updatedAtMs: Math.max(nowMs, known.updatedAtMs) };
}

export const operationWrite = (row: SweepOperationRow): SweepWrite => ({ table: 'sweep_operations', row, key: row.id });
export const jobWrite = (row: SweepJobRow): SweepWrite => ({ table: 'sweep_jobs', row, key: row.id });
