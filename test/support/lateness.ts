/**
 * How much later than on a quiet machine everything happens here: all the time something is asked that a node answers
 * at once, whatever its database does. What takes longer than that was taken by the machine.
 */
import { setTimeout as delay } from 'node:timers/promises';

/** Between two questions; and what an answer at once may take. Milliseconds. */
const PAUSE_MS = 25;
const AT_ONCE_MS = 25;

export interface Lateness {
  /** Milliseconds that the machine has taken since an instant of `performance.now()`. */
  since(beginMs: number): number;
  end(): Promise<void>;
}

/** Watches a cloud node until it is ended. */
export function watchLateness(cloudUrl: string): Lateness {
  const late: { atMs: number; ms: number }[] = [];
  let going = true;
  let askedMs = performance.now();
  const work = (async () => {
    while (going) {
      askedMs = performance.now();
      // The pause is measured too: this process may be what is late.
      await delay(PAUSE_MS);
      await fetch(`${cloudUrl}/health/live`).then(
        (answer) => answer.arrayBuffer(),
        () => undefined,
      );
      const atMs = performance.now();
      late.push({ atMs, ms: Math.max(0, atMs - askedMs - PAUSE_MS - AT_ONCE_MS) });
    }
  })();
  return {
    since: (beginMs) =>
      late.reduce((sum, { atMs, ms }) => (atMs < beginMs ? sum : sum + ms), 0) +
      Math.max(0, performance.now() - askedMs - PAUSE_MS - AT_ONCE_MS),
    async end() {
      going = false;
      await work;
    },
  };
}
