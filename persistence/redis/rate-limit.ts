/**
 * Requests per minute, counted in Redis: the same window on every node, and after a node's restart. Redis is asked,
 * never waited for: without an answer in time the node counts by itself until the window ends, from what it last knew,
 * and takes its part of what is left. So losing Redis loses no fact, and no window begins anew by it. Console B20.
 */
import { Redis } from 'ioredis';
import { backoffMs, type Backoff } from '../../protocol/backoff.ts';
import type { RateLimiter } from '../../model/ports/rate-limiter.ts';

export interface RedisRateLimiterOptions {
  readonly url: string;
  readonly windowMs: number;
  /** Longest wait for a count. */
  readonly answerMs?: number;
  /** Living nodes that answer requests. */
  readonly gateways?: () => number;
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
/** Windows that are remembered at one time, about 20 MB; the oldest is forgotten first. */
const WINDOWS_MAX = 200_000;
// KEYS[1] the window, ARGV[1] its length in ms, ARGV[2] what to count → { count with this one, ms left }. A key without
// an end gets one, so that no window stays closed for ever.
const TAKE = `
local count = redis.call('INCRBY', KEYS[1], ARGV[2])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  left = tonumber(ARGV[1])
end
return { count, left }`;

interface Counting {
  takeFromWindow(key: string, windowMs: number, cost: number): Promise<[count: number, leftMs: number]>;
}

/** A window that has not ended, as this node knows it. */
interface Window {
  readonly endsMs: number;
  /** The highest count that Redis gave. */
  count: number;
  /** Since Redis did not answer, or had forgotten it: what this node may take, and took. */
  own: { readonly part: number; taken: number } | null;
}

/**
 * A limiter over one Redis. It connects and goes on trying by itself; a Redis that is away is no error of a request.
 */
export function createRedisRateLimiter({
  url,
  windowMs: usualMs,
  answerMs = ANSWER_MS,
  gateways = () => 1,
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
  const windows = new Map<string, Window>();
  const windowOf = (key: string, nowMs: number, windowMs: number): Window | null => {
    const window = windows.get(key);
    if (window === undefined) return null;
    if (nowMs < window.endsMs && nowMs >= window.endsMs - windowMs) return window;
    windows.delete(key); // over, or the clock was set back
    return null;
  };
  const begin = (key: string, endsMs: number, count: number): Window => {
    if (windows.size >= WINDOWS_MAX) windows.delete(windows.keys().next().value!);
    const window: Window = { endsMs, count, own: null };
    windows.set(key, window);
    return window;
  };
  /** By this node alone, until the window ends. */
  const byItself = (window: Window, limit: number, nowMs: number, cost: number) => {
    window.own ??= { part: Math.ceil(Math.max(0, limit - window.count) / gateways()), taken: 0 };
    window.own.taken += cost;
    return {
      allowed: window.own.taken <= window.own.part || (window.count === 0 && window.own.taken === cost),
      remaining: Math.max(0, window.own.part - window.own.taken),
      resetSeconds: Math.max(1, Math.ceil((window.endsMs - nowMs) / 1_000)),
    };
  };
  return {
    async take(key, limit, nowMs, windowMs = usualMs, cost = 1) {
      try {
        const [count, leftMs] = await counting.takeFromWindow(`${PREFIX}${key}`, windowMs, cost);
        note('back');
        const before = windowOf(key, nowMs, windowMs);
        // Answers come in the order in which Redis counted: one that is not higher is of a window that it began anew.
        if (before !== null && (before.own !== null || count <= before.count))
          return byItself(before, limit, nowMs, cost);
        const window = before ?? begin(key, nowMs + leftMs, count);
        window.count = count;
        return {
          allowed: count <= limit || count === cost,
          remaining: Math.max(0, limit - count),
          resetSeconds: Math.max(1, Math.ceil(leftMs / 1_000)),
        };
      } catch {
        note('lost');
        return byItself(windowOf(key, nowMs, windowMs) ?? begin(key, nowMs + windowMs, 0), limit, nowMs, cost);
      }
    },
    close: () => redis.disconnect(),
  };
}
