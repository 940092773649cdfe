/** What the clock does for plans: a smaller band comes into force when its month begins. */
import type { Accounts } from '../../model/ports/accounts.ts';
import type { OperatorStore } from '../../model/ports/operator-store.ts';
import { ACCOUNTS_AT_ONCE, askEach } from '../account/ask-each.ts';

/** Puts smaller bands into force whose period has begun. Spec §3.8. */
export const settleBands = (
  {
    stores,
    accounts,
  }: {
    readonly stores: { readonly operators: Pick<OperatorStore, 'accountsWithPendingBand'> };
    readonly accounts: Pick<Accounts, 'ask'>;
  },
  nowMs: number,
  { signal }: { readonly signal: AbortSignal },
): Promise<void> =>
  askEach(
    accounts,
    (after) => stores.operators.accountsWithPendingBand(nowMs, after, ACCOUNTS_AT_ONCE),
    { type: 'settle_band' },
    signal,
  );
