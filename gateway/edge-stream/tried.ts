/**
 * Deliveries that are in no ledger: a caller waits for what becomes of one. They are known here alone, on the node of
 * the account's room, and go the way of all others: the leader's queue, its rules, its outbox. What is reported when
 * nobody waits any more is a report of a delivery that there is not, which the store leaves out. Ecosystem X21.
 */
import type { Attempt } from '../../actors/webhook/ports.ts';
import type { Clock } from '../../actors/kernel/timers.ts';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { Acknowledgement } from '../../protocol/frames.ts';
import type { AccountId } from '../../protocol/ids.ts';

/** Of one account at the same time. */
export const TRIED_AT_ONCE_MAX = 10;
/** Below what a call between nodes takes: the attempt itself is cut earlier. */
const WAIT_MS = 10_000;

interface Tried {
  readonly accountId: AccountId;
  readonly outcome: Promise<Attempt | Refusal>;
  settle(outcome: Attempt | Refusal): void;
}

export class TriedDeliveries {
  readonly #clock: Pick<Clock, 'setTimer' | 'clearTimer'>;
  readonly #waiting = new Map<string, Tried>();

  constructor(clock: Pick<Clock, 'setTimer' | 'clearTimer'>) {
    this.#clock = clock;
  }

  /**
   * Sends it, and waits for its attempt. Asked twice for one delivery it is sent once. Refuses: RATE_LIMIT_EXCEEDED
   * above TRIED_AT_ONCE_MAX, SERVICE_UNAVAILABLE where the edge did not take it or says nothing in time.
   */
  attempt(
    accountId: AccountId,
    deliveryId: string,
    send: () => Promise<Acknowledgement | null>,
  ): Promise<Attempt | Refusal> {
    const known = this.#waiting.get(deliveryId);
    if (known !== undefined) return known.outcome;
    const running = [...this.#waiting.values()].filter((tried) => tried.accountId === accountId).length;
    if (running >= TRIED_AT_ONCE_MAX)
      return Promise.resolve(refuse('RATE_LIMIT_EXCEEDED', { limit: TRIED_AT_ONCE_MAX, retryAfterSeconds: 1 }));
    const { promise: outcome, resolve } = Promise.withResolvers<Attempt | Refusal>();
    const timer = this.#clock.setTimer(WAIT_MS, () => settle(unheard('the edge did not say what became of it')));
    const settle = (said: Attempt | Refusal): void => {
      this.#clock.clearTimer(timer);
      this.#waiting.delete(deliveryId);
      resolve(said);
    };
    this.#waiting.set(deliveryId, { accountId, outcome, settle });
    send().then(
      (answer) => {
        if (answer?.ok !== true) settle(unheard('the edge did not take it'));
      },
      () => settle(unheard('the edge did not take it')),
    );
    return outcome;
  }

  /** Answers those who wait, and what is left of a report. */
  reported(accountId: AccountId, attempts: readonly Attempt[]): readonly Attempt[] {
    if (this.#waiting.size === 0) return attempts;
    return attempts.filter((attempt) => {
      const tried = this.#waiting.get(attempt.deliveryId);
      if (tried?.accountId !== accountId) return true;
      tried.settle(attempt);
      return false;
    });
  }
}

const unheard = (reason: string): Refusal => refuse('SERVICE_UNAVAILABLE', { reason, retryAfterSeconds: 5 });
