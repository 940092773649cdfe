/**
 * From where to where a transfer goes, each arrow one write over the version that was read. Treasury H5.
 *
 *   PLANNED    ─▶ APPROVING (the approval is built) · FAILED
 *   APPROVING  ─▶ BURNING (the approval is in a block for good, the burn is built) · FAILED
 *   BURNING    ─▶ ATTESTING (the burn is in a block for good) · FAILED (nothing was signed, or it did nothing)
 *   ATTESTING  ─▶ MINTING (its message is attested, the mint is built) · COMPLETED (somebody else minted it)
 *   MINTING    ─▶ COMPLETED (it arrived) · MINTING (a mint that did nothing: another one)
 *
 * After a burn in a block there is no failure and no second burn: it waits, and says why.
 */
import type { BridgeFields, BridgeWrite } from '../../model/account/bridge.ts';
import type { BridgeTransferRow, BridgeTransferState } from '../../model/rows/bridge.ts';

const ARROWS: Readonly<Record<BridgeTransferState, readonly BridgeTransferState[]>> = {
  PLANNED: ['PLANNED', 'APPROVING', 'FAILED'],
  APPROVING: ['APPROVING', 'BURNING', 'FAILED'],
  BURNING: ['BURNING', 'ATTESTING', 'FAILED'],
  ATTESTING: ['ATTESTING', 'MINTING', 'COMPLETED'],
  MINTING: ['MINTING', 'COMPLETED'],
  COMPLETED: [],
  FAILED: [],
};

export const isArrow = (from: BridgeTransferState, to: BridgeTransferState): boolean => ARROWS[from].includes(to);
export const isOver = (state: BridgeTransferState): boolean => state === 'COMPLETED' || state === 'FAILED';

/** A transfer as it is after an arrow. What stalls keeps the instant at which it began. */
export function moved(
  known: BridgeTransferRow,
  state: BridgeTransferState,
  fields: BridgeFields,
  nowMs: number,
): BridgeTransferRow {
  const atMs = Math.max(nowMs, known.updatedAtMs),
    { stalledReason = known.stalledReason } = fields;
  return {
    ...known,
    ...fields,
    state,
    stalledReason: isOver(state) ? null : stalledReason,
    stalledAtMs: isOver(state) || stalledReason === null ? null : (known.stalledAtMs ?? atMs),
    version: known.version + 1,
    updatedAtMs: atMs,
    endedAtMs: isOver(state) ? atMs : null,
  };
}

export const transferWrite = (row: BridgeTransferRow): BridgeWrite => ({ table: 'bridge_transfers', row, key: row.id });
