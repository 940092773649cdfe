/** Counts of requests. */

/** Requests of one account within a minute. In memory of a node, or in Redis for all of them. */
export interface RateLimiter {
  /** Counts one request. `resetSeconds` is the time until the window ends. */
  take(
    key: string,
    limit: number,
    nowMs: number,
  ): Promise<{
    allowed: boolean;
    remaining: number;
    resetSeconds: number;
  }>;
}
