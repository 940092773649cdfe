/**
 * How often somebody may guess a password, counted before it is checked. Console A17, A18:
 *
 *   address                     60 a minute
 *   email from one network      10 a minute (/24, /56)
 *   email from everywhere       100 an hour
 *   a device that signed in     10 a minute of its own, in place of the two windows of the email
 *
 * So strangers, however many, keep nobody out who has signed in with this browser before. What is refused does not say
 * whether the email is known.
 */
import { createHash, randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import type { RateLimiter } from '../../../model/ports/rate-limiter.ts';
import type { SecretBox } from '../../../model/ports/secret-box.ts';
import { refuse, type Refusal } from '../../../protocol/errors.ts';
import type { GatewayConfig } from '../../deps.ts';
import { signInCookie } from './cookie.ts';

const PER_ADDRESS = 60;
const PER_NETWORK = 10;
const PER_EMAIL = 100;
const PER_DEVICE = 10;
/** Links that an address tries, and letters that it asks for. Console A7. */
const LINKS_PER_ADDRESS = 20;
/** Letters to one mailbox that requests cause, and those of one organization. Console A10. */
const LETTERS_PER_MAILBOX = 5;
const LETTERS_PER_ORGANIZATION = 20;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

export const DEVICE_COOKIE = 'flock_device';
const DEVICE_BYTES = 16;
/** A device is forgotten after a year without a sign-in. */
const DEVICE_SECONDS = 365 * 86_400;
/** Longer cookies are none of ours. */
const DEVICE_CHARS_MAX = 400;

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
const contextOf = (email: string): string => `device|${hashOf(email)}`;

export interface Guess {
  readonly address: string;
  /** Lowercase. */
  readonly email: string;
  /** Value of the device cookie. */
  readonly device: string | undefined;
}

export interface Throttles {
  /** Counts one guess. Refuses: RATE_LIMIT_EXCEEDED. */
  refusal(guess: Guess): Promise<Refusal | null>;
  /** Counts one guess of an address where no email is named. Refuses: RATE_LIMIT_EXCEEDED. */
  ofAddress(address: string): Promise<Refusal | null>;
  /** Counts one try of a link. Refuses: RATE_LIMIT_EXCEEDED. */
  ofLinks(address: string): Promise<Refusal | null>;
  /**
   * Counts a letter that a request causes: false where its mailbox, or the organization, has had enough for an hour. A
   * device that signed in as the email has letters of its own, so that strangers keep none from it.
   */
  mayWrite(letter: Omit<Guess, 'address'> & { organizationId?: string }): Promise<boolean>;
  /** The `Set-Cookie` with which a browser that signed in as the email is known again. */
  deviceCookie(email: string): string;
}

export function createThrottles({
  rateLimiter,
  secrets,
  nowMs,
  config,
}: {
  rateLimiter: RateLimiter;
  secrets: SecretBox;
  nowMs: () => number;
  config: Pick<GatewayConfig, 'publicUrl'>;
}): Throttles {
  const deviceOf = (sealed: string | undefined, email: string): string | null => {
    if (sealed === undefined || sealed === '' || sealed.length > DEVICE_CHARS_MAX) return null;
    try {
      return secrets.open(sealed, contextOf(email));
    } catch {
      return null; // another email's, another deployment's, or made up
    }
  };
  return {
    async refusal({ address, email, device }) {
      const known = deviceOf(device, email);
      const windows: readonly (readonly [key: string, limit: number, windowMs: number])[] = [
        [`login:${address}`, PER_ADDRESS, MINUTE_MS],
        ...(known === null
          ? ([
              [`login:${hashOf(email)}:${networkOf(address)}`, PER_NETWORK, MINUTE_MS],
              [`login:${hashOf(email)}`, PER_EMAIL, HOUR_MS],
            ] as const)
          : ([[`login:device:${known}`, PER_DEVICE, MINUTE_MS]] as const)),
      ];
      for (const [key, limit, windowMs] of windows) {
        const { allowed, resetSeconds } = await rateLimiter.take(key, limit, nowMs(), windowMs);
        if (!allowed) {
          return refuse('RATE_LIMIT_EXCEEDED', { windowSeconds: windowMs / 1_000, retryAfterSeconds: resetSeconds });
        }
      }
      return null;
    },
    async ofAddress(address) {
      const { allowed, resetSeconds } = await rateLimiter.take(`login:${address}`, PER_ADDRESS, nowMs(), MINUTE_MS);
      return allowed
        ? null
        : refuse('RATE_LIMIT_EXCEEDED', { windowSeconds: MINUTE_MS / 1_000, retryAfterSeconds: resetSeconds });
    },
    async ofLinks(address) {
      const { allowed, resetSeconds } = await rateLimiter.take(
        `links:${address}`,
        LINKS_PER_ADDRESS,
        nowMs(),
        MINUTE_MS,
      );
      return allowed
        ? null
        : refuse('RATE_LIMIT_EXCEEDED', { windowSeconds: MINUTE_MS / 1_000, retryAfterSeconds: resetSeconds });
    },
    async mayWrite({ email, device, organizationId }) {
      const known = deviceOf(device, email);
      const mailbox = known === null ? `letters:${hashOf(email)}` : `letters:device:${known}`;
      const windows = [
        [mailbox, LETTERS_PER_MAILBOX],
        ...(organizationId === undefined ? [] : [[`letters:${organizationId}`, LETTERS_PER_ORGANIZATION] as const]),
      ] as const;
      for (const [key, limit] of windows)
        if (!(await rateLimiter.take(key, limit, nowMs(), HOUR_MS)).allowed) return false;
      return true;
    },
    deviceCookie(email) {
      const sealed = secrets.seal(randomBytes(DEVICE_BYTES).toString('base64url'), contextOf(email));
      return signInCookie(config, DEVICE_COOKIE, sealed, DEVICE_SECONDS);
    },
  };
}

/** The network of an address: the first 24 bits of IPv4, the first 56 of IPv6; any other text is its own network. */
export function networkOf(address: string): string {
  const version = isIP(address);
  if (version === 4) return `${address.split('.').slice(0, 3).join('.')}.0/24`;
  if (version !== 6) return address;
  const bytes = bytesOf(address).slice(0, 7);
  return `${bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')}/56`;
}

/** The sixteen bytes of an IPv6 address. */
function bytesOf(address: string): number[] {
  const plain = address
    .split('%')[0]!
    .replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...parts: string[]) =>
      [0, 2].map((at) => (Number(parts[at]) * 256 + Number(parts[at + 1])).toString(16)).join(':'),
    );
  const [head = '', tail] = plain.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  const [first, last] = [groups(head), tail === undefined ? [] : groups(tail)];
  const middle = new Array<number>(8 - first.length - last.length).fill(0);
  return [...first, ...middle, ...last].flatMap((group) => [group >> 8, group & 0xff]);
}
