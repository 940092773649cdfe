/** Wakes accounts after a commit: no block waits for it, and an account has at most one wake under way. */
import type { Accounts } from '../model/ports/accounts.ts';
import type { AccountId } from '../protocol/ids.ts';
import type { AccountWaker, Log, Metrics } from './ports.ts';

/**
 * Wakes accounts through the accounts port. An account whose wake is requested while one is under way is woken once
 * more after it, so that the later facts are taken too. A failed wake is logged: the facts wait in the inbox and are
 * found there.
 */
export function createAccountWaker(accounts: Pick<Accounts, 'wake'>, log: Log, metrics: Metrics): AccountWaker {
  const underWay = new Map<AccountId, { again: boolean; done: Promise<void> }>();
  const run = async (accountId: AccountId): Promise<void> => {
    const entry = underWay.get(accountId)!;
    do {
      entry.again = false;
      try {
        await accounts.wake(accountId);
      } catch (error) {
        metrics.add('svc_wake_failures_total', {});
        const reason = error instanceof Error ? error.message : String(error);
        log.warn({ accountId, reason }, 'account was not woken; its inbox keeps the facts');
      }
    } while (entry.again);
    underWay.delete(accountId);
  };
  return {
    wake(ids) {
      for (const accountId of new Set(ids)) {
        const entry = underWay.get(accountId);
        if (entry !== undefined) {
          entry.again = true;
          continue;
        }
        const started = { again: false, done: Promise.resolve() };
        underWay.set(accountId, started);
        started.done = run(accountId);
      }
    },
    async settled() {
      while (underWay.size > 0) await Promise.all([...underWay.values()].map(({ done }) => done));
    },
  };
}
