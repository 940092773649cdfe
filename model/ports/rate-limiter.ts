/** Counts of requests. */

/** Requests of one account within a minute. In memory of a node, or in Redis for all of them. */
export interface RateLimiter {
  /**
   * Counts one request, or `cost` of them, in a window of a minute, or of `windowMs`. The first of a window is taken
   * whatever it costs. `resetSeconds` is the time until it ends.
   */
  take(
    key: string,
    limit: number,
    nowMs: number,
    windowMs?: number,
    cost?: number,
  ): Promise<{
    allowed: boolean;
    remaining: number;
    resetSeconds: number;
  }>;
}
