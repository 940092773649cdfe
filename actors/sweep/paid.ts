/** What operations have cost, and what all of a job came to. Treasury S16, Y7. */
import type { Blocked, JobOutcome } from '../../model/account/sweep.ts';
import type { Accounts } from '../../model/ports/accounts.ts';
import type { ReadStore } from '../../model/ports/read-store.ts';
import type { SweepOperationRow } from '../../model/rows/sweep.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import type { AccountId } from '../../protocol/ids.ts';
import { mostOf, PASSES } from './job.ts';

interface Costed {
  readonly reads: Pick<ReadStore, 'withdrawal'>;
}

/** Of a transaction that lands no more, in no block. */
export const CLOSED: ReadonlySet<string> = new Set(['failed', 'expired', 'replaced']);

/**
 * What the transactions of an operation have cost, smallest native unit; null while one is under way that may still
 * cost. Treasury Y7.
 */
export async function paidFor(
  { reads }: Costed,
  accountId: AccountId,
  { firstFundId, funding, fundId, sweepId }: SweepOperationRow,
): Promise<bigint | null> {
  const ids = [...(firstFundId === null ? [] : [firstFundId]), ...(funding === null ? [] : [fundId]), sweepId];
  const rows = await Promise.all(ids.map((id) => reads.withdrawal(accountId, id)));
  const isUnderWay = rows.some((row) => row !== null && row.versions.length > 0 && !isPaid(row));
  return isUnderWay ? null : rows.reduce((sum, row) => sum + (row?.fee ?? 0n), 0n);
}
const isPaid = ({ status, height }: WithdrawalRow): boolean => height !== null || CLOSED.has(status);

/** Ended operations whose cost was not known then. False while one is still under way: the job ends after it. */
export async function settledOf(
  parts: Costed & { readonly accounts: Pick<Accounts, 'ask'> },
  accountId: AccountId,
  all: readonly SweepOperationRow[],
): Promise<boolean> {
  let isSettled = true;
  for (const known of all.filter((one) => one.paid === null)) {
    const paid = await paidFor(parts, accountId, known);
    if (paid === null) isSettled = false;
    else {
      const same = { to: known.state, reason: known.reason } as const;
      const noted = await parts.accounts.ask(accountId, { type: 'move_sweep_operation', known, paid, ...same });
      isSettled &&= noted.ok === true;
    }
  }
  return isSettled;
}

/** What all operations of a job came to. */
export function outcomeOf(all: readonly SweepOperationRow[]): JobOutcome {
  const of = (state: SweepOperationRow['state']) => all.filter((one) => one.state === state);
  const sum = (values: readonly bigint[]) => values.reduce((left, right) => left + right, 0n);
  const [confirmed, failed, skipped] = [of('CONFIRMED'), of('FAILED'), of('SKIPPED')];
  const named = [...failed, ...skipped].find(({ reason, details }) => BLOCKING.has(reason ?? '') && details !== null);
  return {
    confirmed: confirmed.length,
    failed: failed.length,
    skipped: skipped.length,
    left: failed.length + skipped.filter(({ reason }) => PASSES.has(reason ?? '')).length,
    amount: sum(confirmed.map(({ amount }) => amount)),
    estimate: sum(all.filter(({ state }) => state !== 'SKIPPED').map(({ estimate }) => estimate)),
    paid: sum(all.map(({ paid }) => paid ?? 0n)),
    reason: mostOf(failed.flatMap(({ reason }) => reason ?? [])),
    blocked: named === undefined ? null : (JSON.parse(named.details!) as Blocked),
  };
}
const BLOCKING: ReadonlySet<string> = new Set([
  'edge_spend_cap',
  'edge_window_spent',
  'edge_destination_not_allowed',
  'fee_ratio',
]);
