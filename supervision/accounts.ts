/** Messages to account actors: the node's `Accounts` port over the kernel. */
import type { AccountCommand, AccountReplies } from '../actors/account/messages.ts';
import { ask, type Entities } from '../actors/kernel/index.ts';
import type { Accounts, Answer } from '../gateway/ports.ts';
import type { InboxStore } from '../persistence/ports.ts';
import { newId, type AccountId } from '../protocol/ids.ts';
import type { Logger } from 'pino';

export type AccountReply = AccountReplies[AccountCommand['type']];

/** Facts of one `apply_facts`. Choice: one statement of some hundred rows, so that a flood does not hold up requests. */
const INBOX_BATCH_MAX = 200;

export interface AccountsDeps {
  readonly entities: Entities<AccountCommand, AccountReply>;
  readonly inbox: InboxStore;
  readonly nowMs: () => number;
  readonly log: Logger;
  /** Rung after facts were applied, for the publisher. */
  readonly onApplied: (accountId: AccountId) => void;
}

interface Waking { running: Promise<void>; again: boolean }

/** The port, with at most one inbox round per account at a time: a wake that comes meanwhile causes one more round. */
export function createAccounts({ entities, inbox, nowMs, log, onApplied }: AccountsDeps): Accounts {
  const waking = new Map<AccountId, Waking>();

  const send = async <C extends AccountCommand>(accountId: AccountId, command: C): Promise<Answer<C>> =>
    await ask(entities.address(accountId), command) as Answer<C>;

  async function applyInbox(accountId: AccountId): Promise<void> {
    for (;;) {
      const waiting = await inbox.inboxOf(accountId, INBOX_BATCH_MAX);
      if (waiting.inbox.length === 0) return;
      const depositIds = waiting.inbox.map(() => newId('dep', nowMs()));
      const answer = await send(accountId, { type: 'apply_facts', ...waiting, depositIds });
      if (answer.ok !== true) {
        log.warn({ accountId, outcome: answer.ok === 'duplicate' ? 'duplicate' : answer.code }, 'facts wait in the inbox');
        return; // the sweep of the inbox comes back to it
      }
      onApplied(accountId);
      // A deferred fact waits for a row that just changed: with it read again, it is applied.
      if (waiting.inbox.length < INBOX_BATCH_MAX && answer.reply.deferred === 0) return;
      if (answer.reply.applied === 0) return;
    }
  }

  return {
    ask: send,
    wake(accountId) {
      const known = waking.get(accountId);
      if (known !== undefined) {
        known.again = true;
        return known.running;
      }
      const entry: Waking = { again: false, running: Promise.resolve() };
      entry.running = (async () => {
        try {
          do {
            entry.again = false;
            await applyInbox(accountId);
          } while (entry.again);
        } finally {
          waking.delete(accountId);
        }
      })();
      waking.set(accountId, entry);
      return entry.running;
    },
  };
}
