/**
 * Large bodies one after the other, with time for everybody else between them: to look through 2 MB for keys takes the
 * event loop a tenth of a second and more, whoever sends it. Each waits after the one before for three times what that
 * took, so that they have a quarter of the loop together, however many tenants send them.
 */
import { Refused, refuse } from '../../protocol/errors.ts';

/** Bodies up to this take their turn with everything else. */
export const LARGE_BYTES = 64 * 1_024;
/** Rests of a turn, in times of its work. */
const REST_TIMES = 3;
/** Bodies that wait at one time, 160 MB at most. */
const WAITING_MAX = 64;

export interface LargeBodies {
  /** Throws: what `work` throws, Refused SERVICE_UNAVAILABLE where too many wait. */
  inTurn<T>(bytes: number, work: () => T): Promise<T>;
}

export function createLargeBodies(
  rest: (ms: number) => Promise<void>,
  elapsedMs: () => number = () => performance.now(),
): LargeBodies {
  let waiting = 0;
  let last: Promise<void> = Promise.resolve();
  return {
    async inTurn(bytes, work) {
      if (bytes <= LARGE_BYTES) return work();
      if (waiting >= WAITING_MAX)
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
        void rest(REST_TIMES * (elapsedMs() - beganMs)).then(mine.resolve);
      }
    },
  };
}
