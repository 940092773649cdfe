/**
 * Who may read `/metrics`: a peer in `METRICS_ALLOW`, or who has the token of `METRICS_TOKEN_FILE`. Figures show
 * how much a company takes in and when it is in trouble, so that everybody else is answered as if there were no such
 * path. What came through a proxy is never let in by its address: the peer is the proxy.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { entriesOf } from './setting-shapes.ts';
import { isNetwork, networksOf, plainAddress } from './networks.ts';

/** Peers that read without a token where nothing is set: this machine. */
export const METRICS_ALLOW_DEFAULT = ['127.0.0.0/8', '::1'];
/** Choice: a token that nobody guesses; `openssl rand -hex 32` has 64. */
const TOKEN_CHARS_MIN = 32;
const FORWARDED = [
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  'via',
] as const;

/** Why a scrape was refused, for the log. */
export const NOT_LET_IN =
  'a scrape was not let in: METRICS_ALLOW names the peers that may, METRICS_TOKEN_FILE the token';

/** A peer that asks without end does not fill the log. */
const SAID_EACH_MS = 60_000;

/**
 * For each scrape that was refused: how many have been since the line before, this one among them; null where no line
 * is due. The first is said at once, then at most one a minute.
 */
export function createRefusedScrapes(elapsedMs: () => number = () => performance.now()): () => number | null {
  let saidMs = Number.NEGATIVE_INFINITY,
    count = 0;
  return () => {
    count += 1;
    if (elapsedMs() - saidMs < SAID_EACH_MS) return null;
    const refused = count;
    saidMs = elapsedMs();
    count = 0;
    return refused;
  };
}

/** What a request to read says of who asks. */
export interface Scrape {
  readonly peer: string;
  readonly isForwarded: boolean;
  readonly authorization: string | undefined;
}

export function scrapeOf(
  peer: string | undefined,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): Scrape {
  const { authorization } = headers;
  return {
    peer: peer ?? '',
    isForwarded: FORWARDED.some((name) => headers[name] !== undefined),
    authorization: typeof authorization === 'string' ? authorization : undefined,
  };
}

export type MetricsAccess = (scrape: Scrape) => boolean;

export function createMetricsAccess(allow: readonly string[], token: string | null): MetricsAccess {
  const isAllowed = networksOf(allow);
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const expected = token === null ? null : digest(`Bearer ${token}`);
  return ({ peer, isForwarded, authorization }) =>
    (!isForwarded && isAllowed(plainAddress(peer))) ||
    (expected !== null && authorization !== undefined && timingSafeEqual(digest(authorization), expected));
}

/** Settings of either process. */
export const METRICS_SETTINGS = ['METRICS_ALLOW', 'METRICS_TOKEN_FILE'] as const;
type Env = Readonly<Record<string, string | undefined>>;

/** Who may read, by the settings. Problems are added to the list. */
export function readMetricsAccess(env: Env, problems: string[]): MetricsAccess {
  const allow = env['METRICS_ALLOW'] === undefined ? METRICS_ALLOW_DEFAULT : entriesOf(env['METRICS_ALLOW']);
  const wrong = allow.flatMap((text, at) => (isNetwork(text) ? [] : [at + 1]));
  for (const at of wrong) problems.push(`METRICS_ALLOW: entry ${at} is no address and no network such as 10.0.0.0/8`);
  return createMetricsAccess(wrong.length > 0 ? [] : allow, readToken(env['METRICS_TOKEN_FILE'], problems));
}

/** The token in a file; null where there is none. */
function readToken(file: string | undefined, problems: string[]): string | null {
  if (file === undefined) return null;
  try {
    const token = readFileSync(file, 'utf8').trim();
    if (token.length < TOKEN_CHARS_MIN || !/^[\x21-\x7e]+$/.test(token)) {
      problems.push(
        `METRICS_TOKEN_FILE: holds one word of at least ${TOKEN_CHARS_MIN} printable characters ("openssl rand -hex 32" makes one)`,
      );
    }
    return token;
  } catch (error) {
    problems.push(`METRICS_TOKEN_FILE: cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
    return null;
  }
}
