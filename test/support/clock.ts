/** A clock that stands still until it is turned by hand. */
import type { Clock, TimerHandle } from '../../actors/kernel/timers.ts';

interface Due {
  atMs: number;
  order: number;
  fire: () => void;
}

export class HandClock implements Clock {
  #nowMs: number;
  /** What the wall clock was set by. */
  #stepMs = 0;
  #order = 0;
  readonly #due = new Map<number, Due>();

  constructor(startMs = 1_700_000_000_000) {
    this.#nowMs = startMs;
  }

  nowMs = (): number => this.#nowMs + this.#stepMs;
  elapsedMs = (): number => this.#nowMs;

  /** Sets the wall clock forth, or back; timers and elapsed time go on as they were. */
  step(byMs: number): void {
    this.#stepMs += byMs;
  }

  /** Timers that have not fired and were not cancelled. */
  get pending(): number {
    return this.#due.size;
  }

  setTimer = (delayMs: number, fire: () => void): TimerHandle => {
    this.#order += 1;
    this.#due.set(this.#order, { atMs: this.#nowMs + Math.max(0, delayMs), order: this.#order, fire });
    return this.#order;
  };

  clearTimer = (handle: TimerHandle): void => {
    this.#due.delete(handle as number);
  };

  /** Milliseconds to the next timer; null when none is set. */
  get nextInMs(): number | null {
    const next = this.#next();
    return next === null ? null : next.atMs - this.#nowMs;
  }

  /** Turns the clock and fires what becomes due, in order, each at its own instant. */
  advance(byMs: number): void {
    const untilMs = this.#nowMs + byMs;
    for (let next = this.#next(); next !== null && next.atMs <= untilMs; next = this.#next()) {
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      this.#due.delete(next.order);
      next.fire();
    }
    this.#nowMs = untilMs;
  }

  #next(): Due | null {
    let first: Due | null = null;
    for (const due of this.#due.values()) if (first === null || due.atMs < first.atMs) first = due;
    return first;
  }
}
