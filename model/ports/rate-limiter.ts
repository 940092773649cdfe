/** Counts of requests. */

/** Requests of one account within a minute. In memory of a node, or in Redis for all of them. */
export interface RateLimiter {
  /** Counts one request in a window of a minute, or of `windowMs`. `resetSeconds` is the time until it ends. */
  take(
    key: string,
    limit: number,
    nowMs: number,
    windowMs?: number,
  ): Promise<{
    allowed: boolean;
    remaining: number;
    resetSeconds: number;
  }>;
}
