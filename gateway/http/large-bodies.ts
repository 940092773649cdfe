/**
 * What takes the event loop long, one piece after the other, with time for everybody else between them: to look through
 * 2 MB for keys takes a tenth of a second and more, from any sender. Each waits after the one before for so many times
 * what that took, so that they have a part of the loop together, however many tenants send them.
 *
 *   bodies above 64 KiB       whole   rest of three times their work   a quarter of the loop   64 wait
 *   files that are uploaded   64 KiB  rest of once their work          half of it              as many as are open
 */
import { Refused, refuse } from '../../protocol/errors.ts';

/** Bodies up to this take their turn with everything else. */
export const LARGE_BYTES = 64 * 1_024;
/** `restTimes`: the rest after a turn, in times of its work. `waitingMax`: what more comes is refused. */
export interface TurnTerms {
  readonly restTimes: number;
  readonly waitingMax: number;
}
/** Bodies that wait at one time have 160 MB at most. */
export const OF_BODIES: TurnTerms = { restTimes: 3, waitingMax: 64 };
/** A piece of a file waits for as long as it takes: its writer is answered at the end. */
export const OF_FILES: TurnTerms = { restTimes: 1, waitingMax: Number.POSITIVE_INFINITY };

/** Throws: what `work` throws, Refused SERVICE_UNAVAILABLE where too many wait. */
export type InTurn = <T>(work: () => T) => Promise<T>;

export function createTurns(
  { restTimes, waitingMax }: TurnTerms,
  rest: (ms: number) => Promise<void>,
  elapsedMs: () => number = () => performance.now(),
): InTurn {
  let waiting = 0;
  let last: Promise<void> = Promise.resolve();
  return async (work) => {
    if (waiting >= waitingMax)
      throw new Refused(refuse('SERVICE_UNAVAILABLE', { reason: 'large bodies wait', retryAfterSeconds: 1 }));
    waiting += 1;
    const before = last,
      mine = Promise.withResolvers<void>();
    last = mine.promise;
    await before;
    const beganMs = elapsedMs();
    try {
      return work();
    } finally {
      waiting -= 1;
      void rest(restTimes * (elapsedMs() - beganMs)).then(mine.resolve);
    }
  };
}
