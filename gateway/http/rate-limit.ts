/**
 * Requests per minute: a window opens with an account's first request and holds the band's number. Spec §8.
 * In memory here, so that each of several nodes takes its part of the limit; with REDIS_URL it is counted in
 * persistence/redis/rate-limit.ts.
 */
import type { AccountState } from '../../model/account/capabilities.ts';
import { type AccountId, environmentOf } from '../../protocol/ids.ts';
import { requestsPerMinuteOf, SANDBOX_REQUESTS_PER_MINUTE } from '../../protocol/plans.ts';
import type { RateLimiter } from '../../model/ports/rate-limiter.ts';
import type { Accounts } from '../../model/ports/accounts.ts';

export const WINDOW_MS = 60_000;
/** Windows that are open at one time, about 20 MB. */
export const WINDOWS_MAX = 200_000;

/**
 * Counts in this process: the limit's part of one of so many `gateways`. Console B20. Limit: `WINDOWS_MAX` open
 * windows; the oldest is forgotten first.
 */
export function createMemoryRateLimiter(gateways: () => number = () => 1): RateLimiter {
  const windows = new Map<string, { endsMs: number; count: number }>();
  return {
    async take(key, whole, nowMs, windowMs = WINDOW_MS, cost = 1) {
      const limit = Math.ceil(whole / gateways());
      let window = windows.get(key);
      // over, or the clock was set back
      if (window === undefined || nowMs >= window.endsMs || nowMs < window.endsMs - windowMs) {
        windows.delete(key);
        if (windows.size >= WINDOWS_MAX) windows.delete(windows.keys().next().value!);
        window = { endsMs: nowMs + windowMs, count: 0 };
        windows.set(key, window);
      }
      window.count += cost;
      return {
        allowed: window.count <= limit || window.count === cost,
        remaining: Math.max(0, limit - window.count),
        resetSeconds: Math.max(1, Math.ceil((window.endsMs - nowMs) / 1_000)),
      };
    },
  };
}

/** A plan changes rarely; a new band counts after at most this long. */
const PLAN_CACHE_MS = 5_000;
const PLANS_MAX = 100_000;
/** While an account cannot be asked, its reads are still served. */
const LIMIT_UNKNOWN = 300;

export interface RequestLimits {
  of(accountId: AccountId): Promise<number>;
}

/** Requests per minute of accounts, by their plan; sandbox accounts share one protective ceiling. */
export function createRequestLimits(
  accounts: Pick<Accounts, 'ask'>,
  sandboxPerMinute = SANDBOX_REQUESTS_PER_MINUTE,
  elapsedMs: () => number = () => performance.now(),
): RequestLimits {
  const cache = new Map<AccountId, { limit: number; untilMs: number }>();
  /** Questions under way: requests that come meanwhile share the answer. */
  const asking = new Map<AccountId, Promise<number>>();
  const ask = async (accountId: AccountId): Promise<number> => {
    const answer = await accounts.ask(accountId, { type: 'inspect' });
    if (answer.ok !== true) return LIMIT_UNKNOWN;
    const limit = requestsPerMinuteOf((answer.reply as AccountState).plan);
    cache.delete(accountId);
    if (cache.size >= PLANS_MAX) cache.delete(cache.keys().next().value!);
    cache.set(accountId, { limit, untilMs: elapsedMs() + PLAN_CACHE_MS });
    return limit;
  };
  return {
    async of(accountId) {
      if (environmentOf(accountId) === 'sandbox') return sandboxPerMinute;
      const cached = cache.get(accountId);
      if (cached !== undefined && elapsedMs() < cached.untilMs) return cached.limit;
      const known = asking.get(accountId);
      if (known !== undefined) return known;
      const asked = ask(accountId).finally(() => asking.delete(accountId));
      asking.set(accountId, asked);
      return asked;
    },
  };
}
