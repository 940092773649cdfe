/**
 * Refills of an account's pools, one under way for each chain: it ends with the leader's answer, with its stream, or
 * with the time. Issues ask for a refill as often as they like; what is under way is not asked for again.
 */
import type { PooledChain } from '../../protocol/slugs.ts';
import type { Connection } from './sessions.ts';

/** A refill that was not answered in this time is asked for again; the edge joins what it is at. Milliseconds. */
export const REFILL_TIMEOUT_MS = 60_000;
/** After a refill that brought nothing. Milliseconds. */
export const REFILL_PAUSE_MS = 1_000;
/** A stock that is low again so soon after a refill is refilled with twice as much. Milliseconds. */
const FAST_USE_MS = 10_000;
/** Most addresses of one refill: what an edge derives for one frame. */
export const REFILL_MAX = 5_000;

export interface Wanted {
  readonly chain: PooledChain;
  readonly from: number;
  readonly count: number;
}

interface Last {
  readonly from: number;
  readonly count: number;
  readonly endedMs: number;
  readonly useful: boolean;
}

export class Refills {
  readonly #elapsedMs: () => number;
  readonly #onEnd: () => void;
  /** The stream over which a chain is being refilled. */
  readonly #underWay = new Map<PooledChain, Connection>();
  readonly #last = new Map<PooledChain, Last>();

  /** `onEnd` is called when a refill ended well: the stock may be low again. */
  constructor(elapsedMs: () => number, onEnd: () => void) {
    this.#elapsedMs = elapsedMs;
    this.#onEnd = onEnd;
  }

  /** Asks the leader, unless it is at it. */
  ask(connection: Connection, leaseEpoch: number, { chain, from, count }: Wanted): void {
    if (this.#underWay.get(chain) === connection) return;
    const last = this.#last.get(chain),
      sinceMs = last === undefined ? Infinity : this.#elapsedMs() - last.endedMs;
    // An answer that brought nothing is not asked for again at once.
    if (last !== undefined && sinceMs < REFILL_PAUSE_MS && (!last.useful || last.from === from)) return;
    const wanted =
      last !== undefined && sinceMs < FAST_USE_MS ? Math.max(count, Math.min(2 * last.count, REFILL_MAX)) : count;
    this.#underWay.set(chain, connection);
    void connection.ask('replenish', { leaseEpoch, chain, from, count: wanted }, REFILL_TIMEOUT_MS).then((answer) => {
      if (this.#underWay.get(chain) !== connection) return;
      this.#underWay.delete(chain);
      const useful = (answer as { ok?: unknown } | null)?.ok === true;
      this.#last.set(chain, { from, count: wanted, endedMs: this.#elapsedMs(), useful });
      if (useful) this.#onEnd();
    });
  }

  /** A stream that closed refills nothing any more. */
  closed(connection: Connection): void {
    for (const [chain, by] of this.#underWay) if (by === connection) this.#underWay.delete(chain);
  }
}
