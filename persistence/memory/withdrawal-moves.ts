/** What a stored withdrawal may become. The same as `withdrawal_moves_forward` of the database. G25, F70. */
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';

/**
 * Whether a row may take the place of the one before: what is signed stays signed, what is in a block pays what its
 * version was signed for, and a confirmed withdrawal stays what it is or loses its block.
 */
export function movesForward(before: WithdrawalRow, after: WithdrawalRow): boolean {
  const keepsVersions =
    after.versions.length >= before.versions.length &&
    before.versions.every(({ txid }) => after.versions.some((one) => one.txid === txid)) &&
    before.versions.every(
      ({ amount }) => amount === undefined || after.versions.some((version) => version.amount === amount),
    );
  const isNoBuildAgain = after.status !== 'built' || (before.status === 'built' && after.versions.length === 0);
  const keepsConfirmed =
    before.status !== 'confirmed' ||
    ((after.status === 'confirmed' || after.status === 'broadcast') && after.amount === before.amount);
  return isNoBuildAgain && keepsVersions && keepsConfirmed && paysAsSigned(before, after) && paysInBlock(after);
}

/** A signed amount becomes that of a version, or, lower, that of the newest build. */
function paysAsSigned(before: WithdrawalRow, { amount, height, unsigned }: WithdrawalRow): boolean {
  if (amount === before.amount || before.versions.length === 0) return true;
  if (before.versions.some((version) => version.amount === String(amount))) return true;
  return amount < before.amount && height === null && unsigned.amount === amount;
}

function paysInBlock({ height, txid, amount, versions }: WithdrawalRow): boolean {
  if (height === null) return true;
  return versions.every((one) => one.txid !== txid || one.amount === undefined || one.amount === String(amount));
}
