/** The time of an account: of a sandbox by its own clock. Ecosystem X75. */
import type { AccountState } from '../../model/account/capabilities.ts';
import type { Accounts } from '../../model/ports/accounts.ts';
import { isRefusal, refuse, Refused } from '../../protocol/errors.ts';
import { environmentOf, type AccountId } from '../../protocol/ids.ts';

/** Milliseconds. Throws: Refused when the account cannot be asked. */
export async function timeOf(
  { accounts, nowMs }: { readonly accounts: Pick<Accounts, 'ask'>; readonly nowMs: () => number },
  accountId: AccountId,
): Promise<number> {
  if (environmentOf(accountId) === 'live') return nowMs();
  const answer = await accounts.ask(accountId, { type: 'inspect' });
  if (answer.ok !== true) throw new Refused(isRefusal(answer) ? answer : refuse('INTERNAL_ERROR'));
  return nowMs() + (answer.reply as AccountState).aheadMs;
}
