/** What the clock does for billing: a month that is over gets its statement, and its owner a letter. */
import type { Accounts } from '../../model/ports/accounts.ts';
import type { BillingStore } from '../../model/ports/billing-store.ts';
import { ACCOUNTS_AT_ONCE, askEach } from '../account/ask-each.ts';
import { billingPeriod } from './charges.ts';

/** Statements of months that are over, and letters about those that are unpaid. Console B10, B15. */
export async function closePeriods(
  {
    stores: { billing },
    accounts,
  }: {
    readonly stores: { readonly billing: Pick<BillingStore, 'accountsWithOpenPeriod' | 'writeLetters'> };
    readonly accounts: Pick<Accounts, 'ask'>;
  },
  nowMs: number,
  { signal }: { readonly signal: AbortSignal },
): Promise<void> {
  const due = (after: string) => billing.accountsWithOpenPeriod(billingPeriod(nowMs), after, ACCOUNTS_AT_ONCE);
  await askEach(accounts, due, { type: 'close_periods' }, signal);
  await billing.writeLetters(nowMs);
}
