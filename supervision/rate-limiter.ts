/** Where a node counts requests: by itself, or in Redis with all others where REDIS_URL is set. */
import { createMemoryRateLimiter, WINDOW_MS } from '../gateway/http/rate-limit.ts';
import type { Metrics } from '../gateway/telemetry/metrics.ts';
import type { RateLimiter } from '../model/ports/rate-limiter.ts';
import { createRedisRateLimiter } from '../persistence/redis/rate-limit.ts';
import type { Logger } from 'pino';
import type { CloudConfig } from './config.ts';
import type { DrainStep } from './drain.ts';

interface Around {
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'set'>;
  /** Living nodes that answer requests: without Redis each takes its part. Console B20. */
  readonly gateways: () => number;
  later(name: string, limitMs: number, stop: DrainStep['stop']): void;
}

/** The node's limiter. The loss of Redis is logged once, and the node counts by itself until it is back. */
export function openRateLimiter(
  { REDIS_URL: url }: Pick<CloudConfig, 'REDIS_URL'>,
  { log, metrics, later, gateways }: Around,
): RateLimiter {
  if (url === undefined) return createMemoryRateLimiter(gateways);
  metrics.set('svc_redis_up', {}, 0); // until it has counted once
  const limiter = createRedisRateLimiter({
    url,
    windowMs: WINDOW_MS,
    gateways,
    onChange(state) {
      metrics.set('svc_redis_up', {}, state === 'back' ? 1 : 0);
      if (state === 'lost') log.warn("Redis does not answer; rate limits are this node's own until it does");
      else log.info('Redis counts the requests');
    },
  });
  later('redis', 100, async () => limiter.close());
  return limiter;
}
