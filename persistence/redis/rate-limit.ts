/**
 * Requests per minute, counted in Redis: the same window on every node, and after a node's restart. Redis is asked,
 * never waited for: without an answer in time the node counts by itself, so that losing Redis loses no fact, and costs
 * a limit that is each node's own until it is back.
 */
import { Redis } from 'ioredis';
import { backoffMs, type Backoff } from '../../protocol/backoff.ts';
import type { RateLimiter } from '../../model/ports/rate-limiter.ts';

export interface RedisRateLimiterOptions {
  readonly url: string;
  readonly windowMs: number;
  /** Longest wait for a count. */
  readonly answerMs?: number;
  /** Counts while Redis does not answer. */
  readonly local: RateLimiter;
  /** Called after the first count with its result, then when Redis is lost and when it is back. */
  onChange(state: 'lost' | 'back'): void;
}

export interface RedisRateLimiter extends RateLimiter {
  close(): void;
}

/** Choice: a hundred times what Redis takes, little beside a request's own limit. */
const ANSWER_MS = 100;
/**
 * A Redis that is frozen keeps its connection: after so many waits in vain it is given up, with all that was sent to
 * it.
 */
const WAITS_MAX = 10;
const CONNECT_MS = 2_000;
const RECONNECT: Backoff = { firstMs: 50, mostMs: 2_000 };
const PREFIX = 'flock:rate:';

// KEYS[1] the window, ARGV[1] its length in ms → { count with this one, ms left }. A key without an end gets one, so
// that no window stays closed for ever.
const TAKE = `
local count = redis.call('INCR', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  left = tonumber(ARGV[1])
end
return { count, left }`;

interface Counting {
  takeFromWindow(key: string, windowMs: number): Promise<[count: number, leftMs: number]>;
}

/**
 * A limiter over one Redis. It connects and goes on trying by itself; a Redis that is away is no error of a request.
 */
export function createRedisRateLimiter({
  url,
  windowMs: usualMs,
  answerMs = ANSWER_MS,
  local,
  onChange,
}: RedisRateLimiterOptions): RedisRateLimiter {
  const redis = new Redis(url, {
    // A command must not wait for the next connection, nor be sent twice: it would count twice.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    commandTimeout: answerMs,
    socketTimeout: WAITS_MAX * answerMs,
    connectTimeout: CONNECT_MS,
    retryStrategy: (tries) => backoffMs(tries, RECONNECT),
    scripts: { takeFromWindow: { lua: TAKE, numberOfKeys: 1 } },
  });
  redis.on('error', () => undefined); // each command that fails of it says so
  const counting = redis as unknown as Counting;
  let known: 'lost' | 'back' | null = null;
  const note = (state: 'lost' | 'back'): void => {
    if (known === state) return;
    known = state;
    onChange(state);
  };
  return {
    async take(key, limit, nowMs, windowMs = usualMs) {
      try {
        const [count, leftMs] = await counting.takeFromWindow(`${PREFIX}${key}`, windowMs);
        note('back');
        return {
          allowed: count <= limit,
          remaining: Math.max(0, limit - count),
          resetSeconds: Math.max(1, Math.ceil(leftMs / 1_000)),
        };
      } catch {
        note('lost');
        return local.take(key, limit, nowMs, windowMs);
      }
    },
    close: () => redis.disconnect(),
  };
}
