/**
 * How many frames one stream may send. An edge has one report in flight at a time and a heartbeat now and then, so that
 * only a broken or hostile one comes near the limit; each frame costs a parse and mostly a statement.
 */

/** Frames a second in the long run, and at once after a pause. */
export const FRAMES_PER_SECOND = 1_000;
export const FRAMES_AT_ONCE = 2_000;
/** Refused frames after which the stream is closed: answering costs too. */
export const REFUSED_FRAMES_MAX = 1_000;
/** Refused frames a second that are forgiven: a stream that is a little too fast is only held to the limit. */
export const FORGIVEN_PER_SECOND = 100;

export type FrameVerdict = 'taken' | 'refused' | 'flood';

/** A bucket of frames, filled by the monotonic clock, and one of refused frames, which leaks. */
export class FrameRate {
  #left = FRAMES_AT_ONCE;
  #atMs: number;
  #refused = 0;

  constructor(nowMs: number) {
    this.#atMs = nowMs;
  }

  take(nowMs: number): FrameVerdict {
    const seconds = (nowMs - this.#atMs) / 1_000;
    this.#left = Math.min(FRAMES_AT_ONCE, this.#left + seconds * FRAMES_PER_SECOND);
    this.#refused = Math.max(0, this.#refused - seconds * FORGIVEN_PER_SECOND);
    this.#atMs = nowMs;
    if (this.#left >= 1) {
      this.#left -= 1;
      return 'taken';
    }
    this.#refused += 1;
    return this.#refused > REFUSED_FRAMES_MAX ? 'flood' : 'refused';
  }
}
