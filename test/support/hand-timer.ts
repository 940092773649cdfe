/** Timers that a test turns by hand: no wall clock. */
export class HandTimer {
  nowMs = 0;
  #set: { dueMs: number; then: () => void }[] = [];
  /** As `OpinionParts.timer`. */
  readonly timer = (ms: number, then: () => void): (() => void) => {
    const one = { dueMs: this.nowMs + ms, then };
    this.#set.push(one);
    return () => {
      this.#set = this.#set.filter((other) => other !== one);
    };
  };
  /**
   * Lets everything that needs no time happen, turning the clock to the next timer until the work is done. Answers what
   * it came to.
   */
  async until<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const done = () => {
      isDone = true;
    };
    work.then(done, done);
    while (!isDone) {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      if (isDone) break;
      const next = this.#set.toSorted((a, b) => a.dueMs - b.dueMs)[0];
      if (next === undefined) continue;
      this.#set = this.#set.filter((other) => other !== next);
      this.nowMs = Math.max(this.nowMs, next.dueMs);
      next.then();
    }
    return work;
  }
}
