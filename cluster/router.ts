/**
 * Work for an account, done where the account lives. Who owns it is what this node read last; a node that does not own
 * it says so, then the database is asked. A takeover is a pause for the caller, no error.
 *
 *   the owner is           what is done
 *   this node              the work itself; when the shard left meanwhile, once more elsewhere; UNKNOWN as below
 *   another node           a call; MOVED or never reached: look again, then once more
 *   another, no answer     unknown: once more under the same key, which the owner does once
 *   nobody                 look again, until the limit
 */
import type { Clock } from '../actors/kernel/timers.ts';
import type { AccountId } from '../protocol/ids.ts';
import { refuse, type Refusal } from '../protocol/errors.ts';
import { shardOf } from '../protocol/node/ids.ts';
import { MOVED, UNKNOWN } from './listener.ts';
import type { Membership, Owner } from './membership.ts';
import type { Called, Peers } from './peers.ts';

/** A lease, the two seconds in which it is noticed, and some for the work itself. Below the 30 s of a request. */
const ROUTE_MS_MAX = 25_000;
const CALL_MS_MAX = 12_000;
const PAUSE_MS_FIRST = 20;
const PAUSE_MS_MAX = 250;

export interface RouterDeps {
  readonly membership: Pick<Membership, 'ownerOf' | 'refresh'>;
  readonly peers: Pick<Peers, 'call'>;
  readonly nodeId: string;
  readonly clock: Clock;
  /** A forwarded call, and how it ended. */
  readonly onForwarded?: (outcome: Called['kind'], elapsedMs: number) => void;
}

export interface Work<T> {
  readonly path: string;
  readonly message: object;
  /**
   * Does it on this node; MOVED when the account is not here any more and nothing was done, UNKNOWN when it may have
   * been done, and may be asked for again. `isDoubtful`: it may have been done before.
   */
  local(isDoubtful: boolean): Promise<T | typeof MOVED | typeof UNKNOWN>;
  /** Work that changes something, and must be done once, has a key of its own. */
  readonly once?: boolean;
  /** Milliseconds in all; `ROUTE_MS_MAX` where absent. */
  readonly limitMs?: number;
}

/** `unanswered`: a node may have done it. */
export type Routed<T> =
  { readonly kind: 'done'; readonly reply: T } | { readonly kind: 'unavailable' } | { readonly kind: 'unanswered' };

export class Router {
  readonly #deps: RouterDeps;
  #calls = 0;

  constructor(deps: RouterDeps) {
    this.#deps = deps;
  }

  /** Who answers for an account; waits until somebody does. Null when nobody did in time. */
  async ownerOf(accountId: AccountId, limitMs: number = ROUTE_MS_MAX): Promise<Owner | null> {
    const { membership, clock, nodeId } = this.#deps;
    const untilMs = clock.elapsedMs() + limitMs;
    for (let pauseMs = PAUSE_MS_FIRST; ; pauseMs = Math.min(PAUSE_MS_MAX, pauseMs * 2)) {
      const owner = membership.ownerOf(shardOf(accountId));
      if (owner !== null && (owner.url !== null || owner.node === nodeId)) return owner;
      if (clock.elapsedMs() + pauseMs >= untilMs) return null;
      await this.#pause(pauseMs);
      await membership.refresh().catch(() => undefined);
    }
  }

  /** Rejects with what the work on this node rejects with. */
  async route<T>(accountId: AccountId, work: Work<T>): Promise<Routed<T>> {
    const { membership, nodeId, clock } = this.#deps;
    const untilMs = clock.elapsedMs() + (work.limitMs ?? ROUTE_MS_MAX);
    const key = work.once === true ? `${nodeId} ${(this.#calls += 1)}` : undefined;
    let pauseMs = PAUSE_MS_FIRST,
      isDoubtful = false;
    for (;;) {
      const owner = membership.ownerOf(shardOf(accountId));
      if (owner?.node === nodeId) {
        const reply = await work.local(isDoubtful);
        if (reply !== MOVED && reply !== UNKNOWN) return { kind: 'done', reply };
        isDoubtful ||= reply === UNKNOWN;
      } else if (owner !== null && owner.url !== null) {
        const called = await this.#call(owner.url, work, { key, epoch: owner.epoch }, untilMs);
        if (called.kind === 'answered') return { kind: 'done', reply: called.reply as T };
        isDoubtful ||= called.kind === 'unknown';
      }
      if (clock.elapsedMs() + pauseMs >= untilMs) return { kind: isDoubtful ? 'unanswered' : 'unavailable' };
      await this.#pause(pauseMs);
      pauseMs = Math.min(PAUSE_MS_MAX, pauseMs * 2);
      await membership.refresh().catch(() => undefined);
    }
  }

  async #call<T>(
    url: string,
    { path, message }: Work<T>,
    { key, epoch }: { key: string | undefined; epoch: number },
    untilMs: number,
  ): Promise<Called> {
    const { peers, clock, onForwarded } = this.#deps;
    const startedMs = clock.elapsedMs();
    const timeoutMs = Math.max(1, Math.min(CALL_MS_MAX, untilMs - startedMs));
    const called = await peers.call(url, path, { ...message, epoch, ...(key === undefined ? {} : { key }) }, timeoutMs);
    onForwarded?.(called.kind, clock.elapsedMs() - startedMs);
    return called;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#deps.clock.setTimer(ms, resolve);
    });
  }
}

/** What a caller reads when its account had no owner in time, or nobody knows what became of the work. */
export const unrouted = (kind: 'unavailable' | 'unanswered'): Refusal =>
  refuse('SERVICE_UNAVAILABLE', {
    reason:
      kind === 'unavailable' ? 'no node serves this account at this moment' : 'the node of this account did not answer',
    retryAfterSeconds: 1,
  });
