/** Wakes of accounts after a commit: never awaited by a block, never more than one under way for an account. */
import type { Accounts } from '../model/ports/accounts.ts';
import type { AccountId } from '../protocol/ids.ts';
import type { Bell, Log, Metrics } from './ports.ts';

/**
 * A bell over an accounts port. An account that is rung while its wake is under way is woken once more after it, so
 * that the facts of the second ring are taken too. A wake that fails is logged: the facts wait in the inbox and are
 * found there.
 */
export function createBell(accounts: Pick<Accounts, 'wake'>, log: Log, metrics: Metrics): Bell {
  const underWay = new Map<AccountId, { again: boolean; done: Promise<void> }>();
  const wake = async (accountId: AccountId): Promise<void> => {
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
    ring(ids) {
      for (const accountId of new Set(ids)) {
        const entry = underWay.get(accountId);
        if (entry !== undefined) {
          entry.again = true;
          continue;
        }
        const started = { again: false, done: Promise.resolve() };
        underWay.set(accountId, started);
        started.done = wake(accountId);
      }
    },
    async settled() {
      while (underWay.size > 0) await Promise.all([...underWay.values()].map(({ done }) => done));
    },
  };
}
