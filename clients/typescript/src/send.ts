/** One call: its attempts, their limits, and what an answer means. X4, X5, X8–X11. */
import { backoffMs } from '../../../protocol/backoff.ts';
import { FlockError, type ErrorFields } from './error.ts';
import { VERSION } from './generated/version.ts';
import type { WriteOptions } from './kinds.ts';

/** One line of the table of operations. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly marks: string;
}

export interface Settings {
  readonly base: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly isLocalKey: boolean | null;
  readonly fetch: typeof fetch;
  readonly retries: number;
  readonly timeoutMs: number;
  readonly deadlineMs: number;
  readonly clock: Clock;
}

/** What passes and what is random: tests give their own. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** In [0, 1). */
  random(): number;
  /** Ends early, without an error, when the signal is aborted. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>;
}

const REPEATED = new Set([429, 500, 502, 503, 504]);
/** A service that asks for more patience than this, seconds, is not waited for. */
const PATIENCE_SECONDS = 60;
const PAUSE = { firstMs: 500, mostMs: 8_000, jitterPercent: 100 };
const USER_REF_CHARS_MAX = 255;
/** Blanks at its ends would be lost on the way, and two keys be one. */
const KEY_FORM = /^[!-~](?:[ -~]{0,253}[!-~])?$/;
/** A timer of more is over at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

type Argument = Readonly<Record<string, unknown>>;
/** How an attempt went wrong, and whether another one may go right. */
interface Failed {
  readonly fields: Pick<ErrorFields, 'code' | 'message' | 'status' | 'details' | 'requestId' | 'retryAfter'>;
  readonly mayRepeat: boolean;
}
type Outcome = { readonly value: unknown } | Failed;

/** The answer's data. Throws: FlockError. */
export async function send(
  settings: Settings,
  operation: Operation,
  argument: Argument = {},
  options: WriteOptions = {},
): Promise<unknown> {
  const { clock } = settings;
  const isKeyed = operation.marks.includes('k');
  const idempotencyKey = isKeyed ? (options.idempotencyKey ?? newKey()) : null;
  let attempts = 0;
  let last: Failed['fields'] = own('CLIENT_TIMEOUT', 'the time of the call was over before it was sent', 'timeout');
  const error = (fields: Failed['fields']): FlockError =>
    new FlockError({
      ...fields,
      attempts,
      idempotencyKey,
      docUrl: settings.isLocalKey === true ? null : `${settings.base}/docs#${operation.id}`,
    });
  const wrong = problemOf(settings, operation, argument, options);
  if (wrong !== null) throw error(own('CLIENT_INVALID', wrong));

  const { url, init } = requestOf(settings, operation, argument, idempotencyKey);
  const endsAt = clock.now() + (options.deadlineMs ?? settings.deadlineMs);
  const mayRepeat = operation.method === 'GET' || isKeyed;
  for (;;) {
    if (options.signal?.aborted) throw error(ABORTED);
    const limitMs = Math.min(options.timeoutMs ?? settings.timeoutMs, endsAt - clock.now(), TIMER_MS_MAX);
    // A pause may have been longer than it should: of a machine that slept, or a busy one.
    if (!(limitMs > 0)) throw error(last);
    attempts += 1;
    const outcome = await attempt(settings, operation, url, init, limitMs, options.signal);
    if ('value' in outcome) return outcome.value;
    const { fields } = outcome;
    last = fields;
    if (!outcome.mayRepeat || !mayRepeat || attempts > settings.retries) throw error(fields);
    const least = fields.retryAfter ?? 0;
    const pauseMs = Math.max(least * 1_000, backoffMs(attempts - 1, PAUSE, clock.random()));
    if (least > PATIENCE_SECONDS || clock.now() + pauseMs >= endsAt) throw error(fields);
    await clock.sleep(pauseMs, options.signal);
  }
}

const own = (code: string, message: string, reason = '', status = 0): Failed['fields'] => ({
  code,
  message,
  status,
  details: reason === '' ? {} : { reason },
  requestId: null,
  retryAfter: null,
});
const ABORTED = own('CLIENT_ABORTED', 'the signal of the caller was aborted');

function problemOf(
  { isLocalKey }: Settings,
  { id, path, marks }: Operation,
  argument: Argument,
  { idempotencyKey }: WriteOptions,
): string | null {
  if (isLocalKey === true && marks.includes('c'))
    return `${id} is served by the cloud alone: give its address as baseUrl, and an flk_ key`;
  if (isLocalKey === false && marks.includes('e'))
    return `${id} is served by an edge alone: give its address as baseUrl, and a loc_ key`;
  if (idempotencyKey !== undefined && !marks.includes('k')) return `${id} takes no idempotencyKey: it is sent once`;
  if (!KEY_FORM.test(idempotencyKey ?? '-'))
    return 'idempotencyKey is 1 to 255 printable characters of ASCII, without blanks at its ends';
  const { userRef } = argument;
  if (userRef != null && typeof userRef !== 'string') return 'userRef is text: 42 is another customer than "042"';
  if (String(userRef ?? '').length > USER_REF_CHARS_MAX)
    return `userRef has more than ${USER_REF_CHARS_MAX} characters`;
  for (const [, name] of path.matchAll(/\{(\w+)\}/g))
    // Dots alone are steps in the tree of addresses: the request would be of another operation.
    if (/^\.{0,2}$/.test(String(argument[name!] ?? '')))
      return `${name} is a part of the path: text, and not only dots`;
  for (const [name, value] of Object.entries(argument)) {
    if (!marks.includes('b') && typeof value === 'object') return `${name} is text, a number or a boolean`;
    if (!isSendable(value)) return `${name} has half of a surrogate pair, NaN or what is no JSON in it`;
  }
  return null;
}

/** Whether it arrives as it is: of half of a surrogate pair and of NaN something else is made on the way. */
function isSendable(value: unknown): boolean {
  try {
    JSON.stringify(value, (name, one: unknown) => {
      encodeURIComponent(typeof one === 'string' ? `${name} ${one}` : name);
      if (typeof one === 'number' && !Number.isFinite(one)) throw one;
      return one;
    });
    return true;
  } catch {
    return false;
  }
}

/** `randomUUID` is only there where the page came by https. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 15) | 64;
  bytes[8] = (bytes[8]! & 63) | 128;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function requestOf(
  { base, headers }: Settings,
  { method, path, marks }: Operation,
  argument: Argument,
  key: string | null,
): { url: string; init: RequestInit } {
  const rest = { ...argument };
  const place = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name];
    delete rest[name];
    return encodeURIComponent(String(value ?? ''));
  });
  const query = new URLSearchParams();
  const hasBody = marks.includes('b');
  if (!hasBody)
    for (const [name, value] of Object.entries(rest)) if (value !== undefined) query.set(name, String(value));
  const sent: Record<string, string> = { ...headers, accept: 'application/json' };
  if (hasBody) sent['content-type'] = 'application/json';
  if (key !== null) sent['idempotency-key'] = key;
  const search = String(query) === '' ? '' : `?${query}`;
  return {
    url: `${base}${place}${search}`,
    init: { method, headers: sent, redirect: 'manual', ...(hasBody ? { body: JSON.stringify(rest) } : {}) },
  };
}

/** One request and its whole answer, within `limitMs`. */
async function attempt(
  settings: Settings,
  { marks }: Operation,
  url: string,
  init: RequestInit,
  limitMs: number,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  const stop = new AbortController();
  const abort = (): void => stop.abort();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    abort();
  }, limitMs);
  signal?.addEventListener('abort', abort);
  try {
    const response = await settings.fetch(url, { ...init, signal: stop.signal });
    return answerOf(response, await response.text(), marks.includes('d'), settings.clock);
  } catch (error) {
    if (signal?.aborted) return { fields: ABORTED, mayRepeat: false };
    if (isLate)
      return { fields: own('CLIENT_TIMEOUT', `no whole answer within ${limitMs} ms`, 'timeout'), mayRepeat: true };
    return { fields: own('CLIENT_NETWORK', 'no whole answer came', reasonOf(error)), mayRepeat: true };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

/** A system's code, never its text: that may have the address in it. */
function reasonOf(error: unknown): string {
  const { code } = ((error as { cause?: unknown }).cause ?? error) as { code?: unknown };
  return typeof code === 'string' ? code : 'connection';
}

function answerOf(response: Response, text: string, isDocument: boolean, clock: Clock): Outcome {
  const { status, ok, headers, type } = response;
  if (type === 'opaqueredirect' || (status >= 300 && status < 400))
    return {
      fields: own(
        'CLIENT_NETWORK',
        'a redirect is not followed: give the address itself as baseUrl',
        'redirect',
        status,
      ),
      mayRepeat: false,
    };
  // Not of JSON Lines, which are a text of many of them.
  const isJson = /^application\/(?:[\w.-]+\+)?json\b/i.test(headers.get('content-type') ?? '');
  if (isDocument && ok && !isJson) return { value: text };
  const parsed = parse(text);
  if (isDocument && ok && parsed !== undefined) return { value: parsed };
  const envelope = parsed as { success?: unknown; data?: unknown; error?: Partial<ErrorFields> } | null | undefined;
  if (ok && envelope?.success === true) return { value: envelope.data };
  const around = { status, requestId: headers.get('x-request-id'), retryAfter: retryAfterOf(headers, clock) };
  const code = envelope?.error?.code;
  if (!ok && typeof code === 'string') {
    const { message, details } = envelope!.error!;
    const fields = { code, message: String(message), details: details ?? {}, ...around };
    return { fields, mayRepeat: REPEATED.has(status) };
  }
  const fields = own('CLIENT_NETWORK', `status ${status} without an answer of Flock: is baseUrl right?`, 'no_envelope');
  return { fields: { ...fields, ...around }, mayRepeat: ok || REPEATED.has(status) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Seconds: of a number, or until a date. Null for anything else, and for what is over. */
function retryAfterOf(headers: Headers, clock: Clock): number | null {
  const text = headers.get('retry-after') ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const seconds = /[a-z]/i.test(text) ? Math.ceil((Date.parse(text) - clock.now()) / 1_000) : NaN;
  return seconds > 0 ? seconds : null;
}

/** Null where a page runs: it says itself who it is, and a header of its own would need the service's consent. */
export const userAgent = (): Record<string, string> =>
  'document' in globalThis || 'importScripts' in globalThis ? {} : { 'user-agent': `flock-typescript/${VERSION}` };
