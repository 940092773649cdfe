/** Timers of one edge: all of them end when it stops, so that none holds the process or fires into a closed one. */
export interface Timers {
  /** Resolves after `ms`, or at once when the edge stops. */
  pause(ms: number): Promise<void>;
  /** Calls `work` every `ms`, the first time after `ms`. Returns a function that ends it. */
  every(ms: number, work: () => void): () => void;
  after(ms: number, work: () => void): () => void;
  stop(): void;
}

export function createTimers(): Timers {
  const ends = new Set<() => void>();
  let stopped = false;

  const after = (ms: number, work: () => void, onStop: () => void = () => undefined): (() => void) => {
    if (stopped) {
      onStop();
      return () => undefined;
    }
    const timer = setTimeout(() => {
      ends.delete(end);
      work();
    }, ms);
    const end = () => {
      clearTimeout(timer);
      if (ends.delete(end)) onStop();
    };
    ends.add(end);
    return end;
  };

  return {
    after: (ms, work) => after(ms, work),
    pause: (ms) => new Promise((resolve) => after(ms, resolve, resolve)),
    every(ms, work) {
      let end: () => void = () => undefined;
      let ended = false;
      const again = () => {
        if (!ended)
          end = after(ms, () => {
            again();
            work();
          });
      };
      again();
      return () => {
        ended = true;
        end();
      };
    },
    stop() {
      stopped = true;
      for (const end of [...ends]) end();
    },
  };
}
