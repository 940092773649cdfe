/**
 * What follows from an attempt. Pure. Spec §6: "first delivery, then 2 minutes, 5 minutes, 30 minutes, then the
 * dead-letter queue". Decisions 4.
 *
 *   2xx                      delivered
 *   410                      dead_lettered, and the endpoint is disabled
 *   anything else, 3xx too   failed, the next attempt at the next rung or at Retry-After, whichever is later
 *   no rung left             dead_lettered
 */
import type { DeliveryStatus } from '../../protocol/slugs.ts';

export interface Ladder {
  /** Pause after the first failed attempt, after the second, and so on; as many attempts follow. */
  readonly pausesMs: readonly number[];
  /**
   * A pause is shortened by a random part of at most this, so that a receiver that comes back is not hit at once by
   * all.
   */
  readonly jitterPercent: number;
  /** A Retry-After beyond this is not waited for. */
  readonly retryAfterMsMax: number;
}

const MINUTE_MS = 60_000;

/** Attempts of the longest ladder that can be configured; the store takes no more. */
export const ATTEMPTS_MAX = 21;

export const LADDER: Ladder = {
  pausesMs: [2 * MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS],
  jitterPercent: 5,
  retryAfterMsMax: 1_440 * MINUTE_MS,
};

export interface Answer {
  /** From one. */
  readonly attempt: number;
  /** Null when no answer came. */
  readonly statusCode: number | null;
  readonly retryAfterSeconds: number | null;
}

export interface NextStep {
  readonly status: DeliveryStatus;
  readonly nextAttemptAtMs: number | null;
  readonly disableEndpoint: boolean;
}

const GONE = 410;

/** The delivery's status and when it is tried again. `random` is in [0, 1). */
export function nextStep(
  ladder: Ladder,
  { attempt, statusCode, retryAfterSeconds }: Answer,
  nowMs: number,
  random: number,
): NextStep {
  const taken = statusCode !== null && statusCode >= 200 && statusCode < 300;
  if (taken) return { status: 'delivered', nextAttemptAtMs: null, disableEndpoint: false };
  const pauseMs = ladder.pausesMs[attempt - 1];
  const gone = statusCode === GONE;
  if (gone || pauseMs === undefined) return { status: 'dead_lettered', nextAttemptAtMs: null, disableEndpoint: gone };
  const jitteredMs = pauseMs - Math.floor((pauseMs * ladder.jitterPercent * random) / 100);
  const askedMs = Math.min((retryAfterSeconds ?? 0) * 1_000, ladder.retryAfterMsMax);
  return { status: 'failed', nextAttemptAtMs: nowMs + Math.max(jitteredMs, askedMs), disableEndpoint: false };
}
