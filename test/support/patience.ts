/**
 * Patience with a machine that is slower than a promise: the cloud answers 503 within two seconds when its database is
 * late, and on a loaded machine it is late now and then. A careful application asks again, under the same key.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient, type Client, type ClientOptions } from '../../protocol/client.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { startReceiver, type Receiver } from '../../gateway/cli/webhook-receiver.ts';

/** Far above what anything takes; what does not happen at all is said after it. */
export const PATIENCE_MS = 300_000;
const PAUSE_MS = 50;
/** Between two tries of a request that the account's limit refused. */
const LIMITED_MS = 1_000;
/** Of 503 SERVICE_UNAVAILABLE: the database, or a list of it, was late. */
const LATE: ReadonlySet<unknown> = new Set(['database', 'list_timeout', 'lists_busy']);

/** Asks again while parts are down, as a careful application does: same call, same idempotency key. */
export async function patiently<T>(
  what: string,
  ask: () => Promise<T>,
  good: (value: T) => boolean = () => true,
): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS;
  let last: unknown;
  while (performance.now() < deadline) {
    try {
      const value = await ask();
      if (!isRefusal(value) && good(value)) return value;
      last = value;
    } catch (error) {
      last = error;
    }
    await delay(PAUSE_MS);
  }
  throw new Error(
    `${what}: not within ${PATIENCE_MS} ms; last ${last instanceof Error ? last.message : JSON.stringify(last)}`,
  );
}

/** Whether an answer says that the database was late. Any other 503 is what it is. */
async function isLate(response: Response): Promise<boolean> {
  if (response.status !== 503) return false;
  const text = await response.clone().text();
  try {
    const { error } = JSON.parse(text) as { error?: { code?: unknown; details?: { reason?: unknown } } };
    return error?.code === 'SERVICE_UNAVAILABLE' && LATE.has(error.details?.reason);
  } catch {
    return false;
  }
}

/** The same request again while its answer says that the database was late. */
export async function patientFetch(url: string | URL | Request, init?: RequestInit): Promise<Response> {
  return repeated(url, init, isLate);
}

async function repeated(
  url: string | URL | Request,
  init: RequestInit | undefined,
  passes: (response: Response) => boolean | Promise<boolean>,
): Promise<Response> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const response = await fetch(url, init);
    if (performance.now() > deadline || !(await passes(response))) return response;
    await delay(PAUSE_MS, undefined, init?.signal == null ? {} : { signal: init.signal });
  }
}

/** What changes something has one Idempotency-Key for all tries. */
function withKey(init: RequestInit = {}): RequestInit {
  const headers = new Headers(init.headers);
  if (init.method !== 'GET' && !headers.has('idempotency-key')) headers.set('idempotency-key', randomUUID());
  return { ...init, headers };
}

/** A client that repeats what is answered 503 because the database was late. */
export const patientClient = (options: ClientOptions): Client =>
  createClient({ timeoutMs: PATIENCE_MS, fetch: (url, init) => repeated(url, withKey(init), isLate), ...options });

/** The same for tests to which no 503 means anything: it repeats every one. */
export const calmClient = (options: ClientOptions): Client =>
  patientClient({ fetch: (url, init) => repeated(url, withKey(init), ({ status }) => status === 503), ...options });

/** The same for checkers, which ask for more than the band of their account allows: they wait until it does. */
export const checkersClient = (options: ClientOptions): Client =>
  patientClient({ fetch: (url, init) => repeated(url, withKey(init), isLateOrLimited), ...options });

async function isLateOrLimited(response: Response): Promise<boolean> {
  if (response.status !== 429) return isLate(response);
  await delay(LIMITED_MS);
  return true;
}

/** A receiver that waits as long as everybody here does. */
export async function startPatientReceiver(): Promise<Receiver> {
  const receiver = await startReceiver();
  return { ...receiver, next: (match, timeoutMs = PATIENCE_MS) => receiver.next(match, timeoutMs) };
}
