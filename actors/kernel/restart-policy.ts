/** How often and how soon a crashed actor is restarted. Pure: instants and the random number come in. */
import type { RestartPolicy } from './fault.ts';
import { backoffMs, type Backoff } from '../../protocol/backoff.ts';

/**
 * Each further fault within the window doubles the pause before the restart. Jitter: actors that fell together do not
 * rise together.
 */
export interface RestartSettings extends Backoff {
  /** More faults than this within the window: given up. */
  readonly restartsMax: number;
  readonly windowMs: number;
  /** A given-up actor gets a new chance after this; null: only by hand. */
  readonly retryAfterMs: number | null;
}

/**
 * Entities fault when the database does, so their pause must be short and giving up must end by itself: an outage of a
 * minute must not need an operator for each account. A poisonous event is given up for good by the kernel itself.
 */
export const ENTITY_RESTARTS: RestartSettings = {
  firstMs: 50,
  mostMs: 5_000,
  jitterPercent: 50,
  restartsMax: 8,
  windowMs: 60_000,
  retryAfterMs: 15_000,
};

/** Watchers, publisher and schedules fault when something outside does; they are too few to give up on for long. */
export const WORKER_RESTARTS: RestartSettings = {
  firstMs: 200,
  mostMs: 30_000,
  jitterPercent: 50,
  restartsMax: 20,
  windowMs: 300_000,
  retryAfterMs: 60_000,
};

/**
 * Exponential backoff with jitter to a cap, then giving up. Faults older than the window are forgotten, so a healthy
 * window brings the first pause back; an actor that was given up and faults again within it is given up at once.
 */
export function restartPolicy(settings: RestartSettings): RestartPolicy {
  return (earlierMs, nowMs, random) => {
    const recentMs = [...earlierMs.filter((atMs) => nowMs - atMs < settings.windowMs), nowMs];
    const faultsMs = recentMs.slice(-(settings.restartsMax + 1)); // More would change no verdict.
    const { restartsMax, retryAfterMs } = settings;
    if (faultsMs.length > restartsMax) return { kind: 'give_up', retryAfterMs, faultsMs };
    return { kind: 'restart', delayMs: backoffMs(faultsMs.length - 1, settings, random), faultsMs };
  };
}
