/** Looks again and again while somebody listens, one look at a time, and none while nobody does. */
import type { Logger } from 'pino';

export interface Looks {
  /** Somebody listens from now on. */
  begin(): void;
}

export function createLooks({
  look,
  isHeard,
  everyMs,
  log,
  failure,
}: {
  look(): Promise<void>;
  isHeard(): boolean;
  everyMs: number;
  log: Pick<Logger, 'warn'>;
  /** What the log says of the first look that fails, of several in a row. */
  failure: string;
}): Looks {
  let timer: NodeJS.Timeout | null = null,
    failed = 0;

  function again(): void {
    timer = null;
    if (!isHeard()) return;
    timer = setTimeout(() => {
      look()
        .then(
          () => {
            failed = 0;
          },
          (error: unknown) => {
            failed += 1;
            if (failed === 1) log.warn({ err: error }, failure);
          },
        )
        .finally(again);
    }, everyMs);
    timer.unref();
  }

  return {
    begin() {
      if (timer === null) again();
    },
  };
}
