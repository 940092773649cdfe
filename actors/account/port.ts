/** Messages to account actors: the node's `Accounts` port over the kernel. */
import type { AccountCommand, AccountReplies } from '../../model/account/capabilities.ts';
import { ask, futility, type Entities } from '../kernel/index.ts';
import type { Accounts, Answer } from '../../model/ports/accounts.ts';
import type { InboxStore } from '../../model/ports/inbox-store.ts';
import { PAYMENTS_MOVED, readRefusal } from '../../protocol/errors.ts';
import type { AccountId } from '../../protocol/ids.ts';
import { newId } from '../../protocol/node/ids.ts';
import { POOLED_CHAINS, type Chain } from '../../protocol/slugs.ts';
import type { Logger } from 'pino';

export type AccountReply = AccountReplies[AccountCommand['type']];

/**
 * Facts of one `apply_facts`. Choice: one statement of some hundred rows, so that a flood does not hold up requests.
 */
const INBOX_BATCH_MAX = 200;

/** How often in one round facts are decided again because payments changed meanwhile; then the sweep comes to them. */
const MOVED_TRIES = 5;

/**
 * Pause before a fact that an account could not take is tried again. Choice: short at first, because what it collided
 * with may pass (another account's claim on the same movement, in a reorg); then rare, for it waits for a person.
 */
const SET_ASIDE_PAUSE = { firstMs: 5_000, longestMs: 3_600_000 };

/** Commands whose acceptance may publish events; what others publish is found by the publisher's poll. */
const PUBLISHING: ReadonlySet<AccountCommand['type']> = new Set([
  'apply_facts',
  'enrol',
  'decide_rotation',
  'note_liveness',
  'submit_signed',
  'note_broadcast',
  'end_sweep_job',
  'move_bridge_transfer',
  'replay_delivery',
  'push_pool',
]);

const isPooled = (chain: Chain): boolean => POOLED_CHAINS.some((pooled) => pooled === chain);

export interface AccountsDeps {
  readonly entities: Entities<AccountCommand, AccountReply>;
  readonly inbox: InboxStore;
  readonly nowMs: () => number;
  readonly log: Logger;
  readonly setAsidePause?: { readonly firstMs: number; readonly longestMs: number };
  /** Rung after something that may have published events. */
  readonly onPublished: (accountId: AccountId) => void;
  /** Called after an address of a pool was issued. */
  readonly onPoolUsed: (accountId: AccountId) => void;
}

/** The answer for a caller: internal faults are for the log and the operator. */
function publicAnswer<C extends AccountCommand>(answer: Answer<C>): Answer<C> {
  if (answer.ok !== false || futility(answer) === null) return answer;
  return readRefusal('INTERNAL_ERROR', { reason: answer.details.reason });
}

interface Waking {
  running: Promise<void>;
  again: boolean;
}

/** The port, with at most one inbox round per account at a time: a wake that comes meanwhile causes one more round. */
export function createAccounts({
  entities,
  inbox,
  nowMs,
  log,
  onPublished,
  onPoolUsed,
  setAsidePause = SET_ASIDE_PAUSE,
}: AccountsDeps): Accounts {
  const waking = new Map<AccountId, Waking>();

  const send = async <C extends AccountCommand>(accountId: AccountId, command: C): Promise<Answer<C>> => {
    const answer = (await ask(entities.address(accountId), command)) as Answer<C>;
    if (answer.ok !== true) return answer;
    if (PUBLISHING.has(command.type)) onPublished(accountId);
    if (command.type === 'create_address' && isPooled(command.chain)) onPoolUsed(accountId);
    return answer;
  };

  /**
   * Applies what waits, in order. A batch that the account cannot take is halved until the fact is found that it cannot
   * take, which is set aside: the others are not held up by it.
   */
  async function applyInbox(accountId: AccountId): Promise<void> {
    for (let limit = INBOX_BATCH_MAX, moved = 0; ;) {
      const waiting = await inbox.inboxOf(accountId, limit);
      const [first] = waiting.inbox;
      if (first === undefined) return;
      const depositIds = waiting.inbox.map(() => newId('dep', nowMs()));
      const answer = await send(accountId, { type: 'apply_facts', ...waiting, depositIds });
      if (answer.ok === true) {
        // A deferred fact waits for a row that just changed: with it read again, it is applied.
        if (waiting.inbox.length < limit && answer.reply.deferred === 0) return;
        if (answer.reply.applied === 0) return;
        limit = Math.min(INBOX_BATCH_MAX, limit * 2);
        continue;
      }
      // Another command of the same turn changed a payment that was read: read again, it is decided. payments M2.
      if (answer.ok === false && answer.details['reason'] === PAYMENTS_MOVED && (moved += 1) < MOVED_TRIES) continue;
      const trouble = futility(answer);
      if (trouble === null) {
        const outcome = answer.ok === 'duplicate' ? answer.ok : answer.code;
        log.warn({ accountId, outcome }, 'facts wait in the inbox');
        return; // the sweep of the inbox comes back to it
      }
      limit = Math.ceil(waiting.inbox.length / 2);
      if (waiting.inbox.length > 1) continue;
      const tries = await inbox.setAside(accountId, first.id, trouble, setAsidePause);
      log.error(
        { accountId, what: `fact ${first.id}`, reason: trouble, tries },
        'a fact was set aside; it is tried again by itself',
      );
    }
  }

  return {
    ask: async (accountId, command) => publicAnswer(await send(accountId, command)),
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
