/** What the clock does for addresses: their count at the end of a day, and the longest run of unused ones. */
import type { Accounts } from '../../model/ports/accounts.ts';
import type { OperatorStore } from '../../model/ports/operator-store.ts';
import type { PaymentStore } from '../../model/ports/payment-store.ts';
import { ACCOUNTS_AT_ONCE, askEach } from '../account/ask-each.ts';

/** Carries the counts of active addresses over midnight; asked again, it changes nothing. Spec §8.1. */
export const notePeaks = (
  {
    stores,
    accounts,
  }: {
    readonly stores: { readonly operators: Pick<OperatorStore, 'accountsWithAddresses'> };
    readonly accounts: Pick<Accounts, 'ask'>;
  },
  { signal }: { readonly signal: AbortSignal },
): Promise<void> =>
  askEach(
    accounts,
    (after) => stores.operators.accountsWithAddresses(after, ACCOUNTS_AT_ONCE),
    { type: 'note_peak' },
    signal,
  );

/** Rows of each family in one step of a walk: some milliseconds of the database. */
const WALKED_ROWS = 1_000;

/** Counts the longest run of unused indexes of every account, page by page; what was left goes on. payments S18. */
export async function walkUnusedRuns(
  payments: Pick<PaymentStore, 'walkUnused'>,
  { periodMs, signal }: { readonly periodMs: number; readonly signal: AbortSignal },
  rows = WALKED_ROWS,
): Promise<void> {
  for (let after = ''; !signal.aborted;) {
    const step = await payments.walkUnused(after, rows, periodMs);
    if (step === null) return;
    if (!step.isLeft) after = step.accountId;
  }
}
