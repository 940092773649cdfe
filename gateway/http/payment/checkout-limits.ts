/**
 * How much one client may ask and open: by its address, an IPv6 one by its network. It counts for nobody's API limit.
 * payments S20.
 *
 *   anything         24,000 a minute, before its link is looked up: the environment is not known until then
 *   view             240 a minute
 *   opening          6 a minute, 30 an hour; 120 a minute on one link
 *   unknown          30 slugs and payments a minute that there are none of
 *   without money    10 open of one client, 3 of one e-mail; on one link 200, on a fixed one 10
 */
import { isIP } from 'node:net';
import type { RateLimiter } from '../../../model/ports/rate-limiter.ts';
import { refuse, type Refusal } from '../../../protocol/errors.ts';
import type { Environment, LinkMode } from '../../../protocol/slugs.ts';

const MINUTE_MS = 60_000,
  HOUR_MS = 3_600_000;
const VIEWS = 240,
  OPENINGS_A_MINUTE = 6,
  OPENINGS_AN_HOUR = 30,
  OPENINGS_OF_LINK = 120,
  UNKNOWN = 30;
const WITHOUT_MONEY = { client: 10, email: 3, donation: 200, fixed: 10 };
/** A sandbox is for trying, in loops too. */
const SANDBOX_TIMES = 100;

const timesIn = (environment: Environment): number => (environment === 'sandbox' ? SANDBOX_TIMES : 1);

/** Who counts as one: an IPv4 address, the /64 of an IPv6 one. */
export function clientNetwork(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = '', tail] = address.split('%')[0]!.split('::');
  const left = head === '' ? [] : head.split(':'),
    right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = tail === undefined ? left : [...left, ...Array(8 - left.length - right.length).fill('0'), ...right];
  return groups
    .slice(0, 4)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))
    .join(':');
}

export interface CheckoutLimits {
  /** Anything at all, before the database is read. */
  asked(client: string): Promise<Refusal | null>;
  /** A look at what is public. */
  view(client: string, environment: Environment): Promise<Refusal | null>;
  /** A slug or a payment that there is none of. */
  unknown(client: string): Promise<Refusal | null>;
  opening(client: string, slug: string, environment: Environment): Promise<Refusal | null>;
}

export function createCheckoutLimits(limiter: RateLimiter, nowMs: () => number): CheckoutLimits {
  const take = async (key: string, limit: number, windowMs: number): Promise<Refusal | null> => {
    const { allowed, resetSeconds } = await limiter.take(key, limit, nowMs(), windowMs);
    return allowed
      ? null
      : refuse('RATE_LIMIT_EXCEEDED', { limit, windowSeconds: windowMs / 1_000, retryAfterSeconds: resetSeconds });
  };
  return {
    asked: (client) => take(`pay:asked:${client}`, VIEWS * SANDBOX_TIMES, MINUTE_MS),
    view: (client, environment) => take(`pay:view:${environment}:${client}`, VIEWS * timesIn(environment), MINUTE_MS),
    unknown: (client) => take(`pay:none:${client}`, UNKNOWN, MINUTE_MS),
    async opening(client, slug, environment) {
      const times = timesIn(environment);
      return (
        (await take(`pay:open:${environment}:${client}`, OPENINGS_A_MINUTE * times, MINUTE_MS)) ??
        (await take(`pay:hour:${environment}:${client}`, OPENINGS_AN_HOUR * times, HOUR_MS)) ??
        (await take(`pay:link:${slug}`, OPENINGS_OF_LINK * times, MINUTE_MS))
      );
    },
  };
}

interface Counts {
  readonly waiting: number;
  readonly ofEmail: number;
  readonly ofClient: number;
}

/** The most that is looked at: what is above any limit. */
export const countedTo = (environment: Environment): number => WITHOUT_MONEY.donation * timesIn(environment) + 1;

/** Refuses: PAYMENT_SESSION_LIMIT_EXCEEDED by link or client. S2, S3, S20. */
export function tooManyOpen(
  { waiting, ofEmail, ofClient }: Counts,
  mode: LinkMode,
  environment: Environment,
): Refusal | null {
  const times = timesIn(environment),
    ofLink = WITHOUT_MONEY[mode] * times,
    over = (scope: string, limit: number) => refuse('PAYMENT_SESSION_LIMIT_EXCEEDED', { scope, limit });
  if (waiting >= ofLink) return over('link', ofLink);
  if (ofEmail >= WITHOUT_MONEY.email) return over('client', WITHOUT_MONEY.email);
  return ofClient >= WITHOUT_MONEY.client * times ? over('client', WITHOUT_MONEY.client * times) : null;
}
