/**
 * Who may run a list. Lists have a pool of their own and a short limit of time: however large an account is and however
 * many lists it asks for, no append waits for a connection that a list holds.
 *
 *   asked ──a slot is free──▶ running ──answered, or the time limit──▶ the slot goes to the account that has the fewest
 * running
 *   asked ──all are taken──▶ waiting ──WAITING_MAX, or the time limit──▶ SERVICE_UNAVAILABLE, with when to come back;
 * of WAITING_MAX the one that goes is the youngest of the account that has the most of them
 */
import { Refused, refuse } from '../../protocol/errors.ts';
import type { AccountId } from '../../protocol/ids.ts';
import { LIST_TIMEOUT_MS, sqlstateOf, type Sql } from './sql.ts';

export interface Lists {
  readonly sql: Sql;
  /**
   * Throws: Refused (SERVICE_UNAVAILABLE, `retryAfterSeconds`) when the list got no slot in `waitMs`, or took too long.
   */
  run<T>(accountId: AccountId, work: () => Promise<T>, waitMs?: number): Promise<T>;
}

export interface ListsOptions {
  /** Lists at once: as many as the pool has connections, since a list asks one statement at a time. */
  readonly slots: number;
  readonly timeoutMs?: number;
}

/** Lists that wait for a slot. Above it another one would only wait for its refusal. */
const WAITING_MAX = 256;
/** Pages of a download wait for their turn longer than a person does: a refusal would end the file in its middle. */
export const DOWNLOAD_WAIT_MS = 20_000;
/** Lists at once over a pool that is shared, as in tests. */
export const SHARED_SLOTS = 4;
const RETRY_AFTER_SECONDS = 1;
/** The server ended the statement: it ran into its limit of time. */
const QUERY_CANCELED = '57014';

interface Waiting {
  readonly accountId: AccountId;
  readonly begin: () => void;
  /** Gives up its place to a list of another account. */
  readonly yield: () => void;
}

function unavailable(reason: 'list_timeout' | 'lists_busy'): Refused {
  return new Refused(refuse('SERVICE_UNAVAILABLE', { reason, retryAfterSeconds: RETRY_AFTER_SECONDS }));
}

/** Lists over a pool that nothing else uses (`openLists` in sql.ts). */
export function createLists(sql: Sql, { slots, timeoutMs = LIST_TIMEOUT_MS }: ListsOptions): Lists {
  const running = new Map<AccountId, number>();
  const waiting = new Set<Waiting>();
  let taken = 0;

  const runningOf = (accountId: AccountId): number => running.get(accountId) ?? 0;

  function take(accountId: AccountId): void {
    taken += 1;
    running.set(accountId, runningOf(accountId) + 1);
  }

  function release(accountId: AccountId): void {
    taken -= 1;
    const left = runningOf(accountId) - 1;
    if (left === 0) running.delete(accountId);
    else running.set(accountId, left);
    let next: Waiting | undefined;
    for (const one of waiting)
      if (next === undefined || runningOf(one.accountId) < runningOf(next.accountId)) next = one;
    next?.begin();
  }

  /** False where no account has more waiting than this one would have. */
  function makeRoom(accountId: AccountId): boolean {
    const counts = new Map<AccountId, number>();
    for (const one of waiting) counts.set(one.accountId, (counts.get(one.accountId) ?? 0) + 1);
    const [most, count] = [...counts].reduce((first, next) => (next[1] > first[1] ? next : first));
    if (count <= (counts.get(accountId) ?? 0) + 1) return false;
    [...waiting].findLast((one) => one.accountId === most)!.yield();
    return true;
  }

  function slot(accountId: AccountId, waitMs: number): Promise<void> {
    if (taken < slots) {
      take(accountId);
      return Promise.resolve();
    }
    if (waiting.size >= WAITING_MAX && !makeRoom(accountId)) return Promise.reject(unavailable('lists_busy'));
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(one);
        reject(unavailable('lists_busy'));
      }, waitMs);
      const one: Waiting = {
        accountId,
        begin: () => {
          waiting.delete(one);
          clearTimeout(timer);
          take(accountId);
          resolve();
        },
        yield: () => {
          waiting.delete(one);
          clearTimeout(timer);
          reject(unavailable('lists_busy'));
        },
      };
      waiting.add(one);
    });
  }

  return {
    sql,
    async run(accountId, work, waitMs = timeoutMs) {
      await slot(accountId, waitMs);
      try {
        return await work();
      } catch (error) {
        throw sqlstateOf(error) === QUERY_CANCELED ? unavailable('list_timeout') : error;
      } finally {
        release(accountId);
      }
    },
  };
}
