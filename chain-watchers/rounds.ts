/**
 * The life of one chain's watcher, round by round. No clock, no promise and no I/O here: each method is an input with
 * the facts of its moment; what it returns is for the shell (`live.ts`) to do, one step at a time, and to answer.
 * Losing all of this costs a look at the nodes' identity.
 *
 *   state        input                              becomes      step
 *   new          a round begins                     starting     make durable since when the chain is run
 *   starting     done                               identifying  look which networks the nodes are of (G14)
 *   starting     no answer of the store, a fault    new          the next round asks again
 *   following    a round begins, identity is due    identifying  the same look: every 5 minutes, for each doubt, and
 *                                                                each 30 s while an endpoint is of another network
 *   following    a round begins, nothing is due     ticking      the watcher's tick
 *   identifying  done, in its time                  checking     compare tokens with the chain (K4)
 *   identifying  done, for a doubt                  ticking      the watcher's tick
 *   identifying  the chain cannot say               following    look at the endpoints; the next round identifies again
 *   checking     done                               ticking      the watcher's tick
 *   ticking      its report                         following    pause
 *   ticking      its report: another one was first  superseded   pause: the height's compare-and-set refused ours, and
 *                                                                what the other one recorded is read
 *   ticking      its report: too deep a reorg       stopped      pause: only a person starts it again (G17)
 *   superseded, stopped                                          as following: the next report says what it is then
 *   any          the process ends                   ended        none, whatever is answered later
 *
 * One step is under way at a time. It has a number, and an answer to another number changes nothing: it belongs to a
 * round that a fault ended.
 */
import { backoffMs } from '../protocol/backoff.ts';

/** G14. */
export const IDENTITY_EVERY_MS = 300_000;
/** An endpoint that is of another network, or named one once, is looked at again so often: blocks may wait for it. */
export const WRONG_NETWORK_EVERY_MS = 30_000;
const FAILURE_PAUSE_MS_MAX = 10_000;

export type Work = 'begin' | 'identify' | 'check_tokens' | 'tick';

export interface Step {
  readonly number: number;
  readonly work: Work;
}

export type RoundsState =
  'new' | 'starting' | 'identifying' | 'checking' | 'ticking' | 'following' | 'superseded' | 'stopped' | 'ended';

/** What the shell knows when a round begins or a step was done. */
export interface Moment {
  readonly elapsedMs: number;
  /** How often the networks of the nodes were doubted. */
  readonly doubts: number;
  /** An endpoint is of another network. */
  readonly isOut: boolean;
}

/** What of a tick's report decides the next round. */
export interface Ticked {
  readonly more: boolean;
  /** Blocks could not be followed. A job that waits (for another endpoint, say) does not slow the following. */
  readonly failed: boolean;
  readonly superseded: boolean;
  readonly stopped: boolean;
}

const STATE_OF: Readonly<Record<Work, RoundsState>> = {
  begin: 'starting',
  identify: 'identifying',
  check_tokens: 'checking',
  tick: 'ticking',
};

export class Rounds {
  readonly #pollMs: number;
  #state: RoundsState = 'new';
  #step: Step | null = null;
  #numbers = 0;
  #hasBegun = false;
  #identifiedAtMs: number | null = null;
  #lookedAtMs = 0;
  #doubtsSeen = 0;
  /** Doubts as they were when the look at the identity began: one that is raised meanwhile asks for another. */
  #doubtsAtLook = 0;
  /** Whether this round's look is the one of every 5 minutes. */
  #isDue = false;
  #failures = 0;
  #more = false;

  constructor(pollMs: number) {
    this.#pollMs = pollMs;
  }

  get state(): RoundsState {
    return this.#state;
  }

  /** A round begins. Its first step; null once the process ends. A step of before that had no answer is forgotten. */
  begin(moment: Moment): Step | null {
    if (this.#state === 'ended') return null;
    return this.#hasBegun ? this.#afterBeginning(moment) : this.#take('begin');
  }

  /** A step that is not the tick was done: the next one of the round, null where the answer is of another round. */
  done({ number, work }: Step, moment: Moment): Step | null {
    if (this.#step?.number !== number) return null;
    if (work === 'begin') {
      this.#hasBegun = true;
      return this.#afterBeginning(moment);
    }
    if (work === 'identify') {
      this.#doubtsSeen = this.#doubtsAtLook;
      if (this.#isDue) return this.#take('check_tokens');
    }
    if (work === 'check_tokens') this.#identifiedAtMs = moment.elapsedMs;
    return this.#take('tick');
  }

  /** The tick's report: the round is over. */
  ticked({ number }: Step, { more, failed, superseded, stopped }: Ticked): void {
    if (this.#step?.number !== number) return;
    this.#step = null;
    this.#more = more;
    this.#failures = stopped || failed ? this.#failures + 1 : 0;
    this.#state = stopped ? 'stopped' : superseded ? 'superseded' : 'following';
  }

  /** The chain could not be asked, or is another one: the round is over, the next one comes later. */
  failed({ number }: Step): void {
    if (this.#step?.number !== number) return;
    this.#abandon();
    this.#failures += 1;
  }

  /** A fault ended the round: what was under way has no answer. */
  faulted(): void {
    if (this.#step !== null) this.#abandon();
  }

  /** The process ends: nothing begins any more. */
  end(): void {
    this.#step = null;
    this.#state = 'ended';
  }

  /** Pause before the next round, in milliseconds; null where there is none. */
  pauseMs(): number | null {
    return this.#state === 'ended' ? null : pauseMsOf(this.#pollMs, this.#failures, this.#more);
  }

  #abandon(): void {
    this.#step = null;
    this.#state = this.#hasBegun ? 'following' : 'new';
  }

  #afterBeginning({ elapsedMs, doubts, isOut }: Moment): Step {
    this.#isDue = this.#identifiedAtMs === null || elapsedMs - this.#identifiedAtMs >= IDENTITY_EVERY_MS;
    const isOutForLong = isOut && elapsedMs - this.#lookedAtMs >= WRONG_NETWORK_EVERY_MS;
    if (!this.#isDue && doubts === this.#doubtsSeen && !isOutForLong) return this.#take('tick');
    this.#lookedAtMs = elapsedMs;
    this.#doubtsAtLook = doubts;
    return this.#take('identify');
  }

  #take(work: Work): Step {
    this.#state = STATE_OF[work];
    return (this.#step = { number: (this.#numbers += 1), work });
  }
}

/** Pause before the next round, in milliseconds: none while there is more to read, longer while it fails. */
export function pauseMsOf(pollMs: number, failures: number, more: boolean): number {
  if (failures === 0) return more ? 0 : pollMs;
  return backoffMs(failures - 1, { firstMs: pollMs, mostMs: FAILURE_PAUSE_MS_MAX });
}
