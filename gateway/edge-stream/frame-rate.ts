/**
 * How many frames one stream may send. An edge has one report in flight at a time and a heartbeat now and then, so that
 * only a broken or hostile one comes near the limit; each frame costs a parse and mostly a statement.
 */

/** Frames a second in the long run, and at once after a pause. */
export const FRAMES_PER_SECOND = 1_000;
export const FRAMES_AT_ONCE = 2_000;
/** Refused frames in a row after which the stream is closed: answering costs too. */
export const REFUSED_FRAMES_MAX = 1_000;

export type FrameVerdict = 'taken' | 'refused' | 'flood';

/** A bucket of frames, filled by the monotonic clock. */
export class FrameRate {
  #left = FRAMES_AT_ONCE;
  #atMs: number;
  #refused = 0;

  constructor(nowMs: number) {
    this.#atMs = nowMs;
  }

  take(nowMs: number): FrameVerdict {
    this.#left = Math.min(FRAMES_AT_ONCE, this.#left + ((nowMs - this.#atMs) * FRAMES_PER_SECOND) / 1_000);
    this.#atMs = nowMs;
    if (this.#left >= 1) {
      this.#left -= 1;
      this.#refused = 0;
      return 'taken';
    }
    this.#refused += 1;
    return this.#refused > REFUSED_FRAMES_MAX ? 'flood' : 'refused';
  }
}
