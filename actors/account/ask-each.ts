/** One command for many accounts, by their owners: what a round of the clock does. */
import type { AccountCommand } from '../../model/account/capabilities.ts';
import type { Accounts } from '../../model/ports/accounts.ts';
import type { AccountId } from '../../protocol/ids.ts';

/** Accounts that are asked together. */
export const ACCOUNTS_AT_ONCE = 16;

/**
 * Asks every account of a list, which is read in pages of ACCOUNTS_AT_ONCE, by id, after one. Rejects when one of them
 * did not take it, after all were asked.
 */
export async function askEach(
  accounts: Pick<Accounts, 'ask'>,
  page: (after: string) => Promise<AccountId[]>,
  command: AccountCommand,
  signal: AbortSignal,
): Promise<void> {
  let refused = 0;
  for (let after = ''; !signal.aborted;) {
    const found = await page(after);
    const answers = await Promise.all(found.map((accountId) => accounts.ask(accountId, command)));
    refused += answers.filter((answer) => answer.ok !== true).length;
    if (found.length < ACCOUNTS_AT_ONCE) break;
    after = found.at(-1)!;
  }
  if (refused > 0) throw new Error(`${refused} accounts did not take ${command.type}`);
}
