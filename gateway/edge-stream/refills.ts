/**
 * Refills of an account's pools, one under way for each chain. Pure: sessions by id, times are monotonic milliseconds;
 * the room sends the frames and passes the answers on. Issues ask for a refill as often as they like.
 *
 *   state of a chain  event                          next
 *   idle              ask                            under way at that session
 *   idle, in a pause  ask                            the same: the last one brought nothing, or began here
 *   under way         ask, the same session leads    the same: nothing is asked for twice
 *   under way         ask, another session leads     under way there; the former answer is ignored
 *   under way         answer, or none in time        idle, in a pause; one that brought some: look again
 *   under way         the session's stream closed    idle; the answer is ignored
 */
import type { PooledChain } from '../../protocol/slugs.ts';

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

/** A refill that one session was asked for. */
export interface Flight extends Wanted {
  readonly sessionId: string;
}

export class Refills {
  readonly #underWay = new Map<PooledChain, Flight>();
  readonly #last = new Map<PooledChain, Last>();

  /** What the leading session is to be asked for; null while it is at it, or in a pause. */
  ask(sessionId: string, { chain, from, count }: Wanted, nowMs: number): Flight | null {
    if (this.#underWay.get(chain)?.sessionId === sessionId) return null;
    const last = this.#last.get(chain),
      sinceMs = last === undefined ? Infinity : nowMs - last.endedMs;
    // An answer that brought nothing is not asked for again at once.
    if (last !== undefined && sinceMs < REFILL_PAUSE_MS && (!last.useful || last.from === from)) return null;
    const wanted =
      last !== undefined && sinceMs < FAST_USE_MS ? Math.max(count, Math.min(2 * last.count, REFILL_MAX)) : count;
    const flight = { sessionId, chain, from, count: wanted };
    this.#underWay.set(chain, flight);
    return flight;
  }

  /** The answer to a refill, or that none came in time. True when the stock may be low again. */
  answered(flight: Flight, useful: boolean, nowMs: number): boolean {
    const { chain, from, count } = flight;
    if (this.#underWay.get(chain) !== flight) return false;
    this.#underWay.delete(chain);
    this.#last.set(chain, { from, count, endedMs: nowMs, useful });
    return useful;
  }

  /** A session whose stream closed refills nothing any more. */
  closed(sessionId: string): void {
    for (const [chain, flight] of this.#underWay) if (flight.sessionId === sessionId) this.#underWay.delete(chain);
  }
}
