/** What the clock does for addresses: their count at the end of a day. */
import type { Accounts } from '../../model/ports/accounts.ts';
import type { OperatorStore } from '../../model/ports/operator-store.ts';
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
