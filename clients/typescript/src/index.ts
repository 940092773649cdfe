/** `createFlock({ baseUrl, apiKey })`: a method for each operation of a cloud or an edge. */
import { FlockError } from './error.ts';
import { OPERATIONS } from './generated/operations.ts';
import type { Operations } from './generated/api.ts';
import type { CallOptions, WriteOptions } from './kinds.ts';
import { send, userAgent, type Clock, type Operation, type Settings } from './send.ts';

export { FlockError, isFlockError } from './error.ts';
export type { ClientCode, ErrorCode, ErrorFields } from './error.ts';
export type { Call, CallOptions, List, Open, Write, WriteOptions } from './kinds.ts';
export type { Clock } from './send.ts';
export type * from './generated/api.ts';

export type Flock = Operations;

export interface FlockOptions {
  /** Address of your edge, or of the cloud: `http://127.0.0.1:8081`. */
  readonly baseUrl: string;
  /** `loc_…` at an edge, `flk_…` at the cloud. */
  readonly apiKey?: string | undefined;
  /** An access token of a person, in place of a key. */
  readonly bearer?: string | undefined;
  /** The environment that a person works in. A key has its own. */
  readonly environment?: 'live' | 'sandbox' | undefined;
  /** A key of the other environment is refused at once. */
  readonly expect?: 'live' | 'sandbox' | undefined;
  /** Attempts beside the first, of a GET and of a write with a key. 2 where absent. */
  readonly retries?: number | undefined;
  /** Milliseconds of one attempt, its body included. 30,000 where absent. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds of a whole call. 60,000 where absent. */
  readonly deadlineMs?: number | undefined;
  /** Pages that `all` of a list asks for at most. 10,000 where absent. */
  readonly pagesMax?: number | undefined;
  readonly fetch?: typeof fetch | undefined;
  /** For tests. */
  readonly clock?: Clock | undefined;
}

const RETRIES = 2;
const TIMEOUT_MS = 30_000;
const DEADLINE_MS = 60_000;
const PAGES_MAX = 10_000;

/** A client. Throws: FlockError CLIENT_INVALID for options that cannot work, without their values. */
export function createFlock(options: FlockOptions): Flock {
  const settings = settingsOf(options);
  const flock: Record<string, unknown> = {};
  for (const line of OPERATIONS.split('\n')) {
    const [id, method, path, marks = ''] = line.split(' ') as [string, string, string, string?];
    const operation: Operation = { id, method, path, marks };
    const call = (argument?: Argument, how?: WriteOptions): Promise<unknown> =>
      send(settings, operation, argument, how);
    flock[id] = marks.includes('l') ? Object.assign(call, { all: walk(call, options.pagesMax ?? PAGES_MAX) }) : call;
  }
  return flock as unknown as Flock;
}

type Argument = Readonly<Record<string, unknown>>;
interface Page {
  readonly content: readonly unknown[];
  readonly next: string | null;
}

function walk(call: (argument?: Argument, how?: CallOptions) => Promise<unknown>, pagesMax: number) {
  return async function* all(argument: Argument = {}, how?: CallOptions): AsyncGenerator<unknown> {
    const seen = new Set<string>();
    let from = argument;
    for (let pages = 0; pages < pagesMax; pages += 1) {
      const { content, next } = (await call(from, how)) as Page;
      yield* content;
      if (next === null || next === undefined) return;
      if (seen.has(next)) throw endless('cursor_repeats', 'the list goes in a circle: a cursor came twice');
      seen.add(next);
      from = { ...argument, after: next };
    }
    throw endless('pages', `the list has more than ${pagesMax} pages: go on with after, or ask for larger ones`);
  };
}

const plain = (code: string, message: string, details: Readonly<Record<string, unknown>>): FlockError =>
  new FlockError({
    code,
    message,
    details,
    status: 0,
    requestId: null,
    retryAfter: null,
    attempts: 0,
    idempotencyKey: null,
    docUrl: null,
  });
const endless = (reason: string, message: string): FlockError => plain('CLIENT_NETWORK', message, { reason });
const invalid = (field: string, message: string): FlockError => plain('CLIENT_INVALID', message, { field });

/** Values are not repeated: they are addresses with passwords and keys. */
function settingsOf(options: FlockOptions): Settings {
  const { baseUrl, apiKey, bearer, environment, expect } = options;
  const key = /^(flk|loc)_(live|test)_/.exec(apiKey ?? '');
  if (apiKey !== undefined && (key === null || /[^!-~]/.test(apiKey)))
    throw invalid('apiKey', 'apiKey begins with flk_live_, flk_test_, loc_live_ or loc_test_, and has no spaces');
  if (bearer !== undefined && (bearer === '' || /[^!-~]/.test(bearer)))
    throw invalid('bearer', 'bearer is a token without spaces');
  for (const name of ['retries', 'timeoutMs', 'deadlineMs', 'pagesMax'] as const)
    if (!(typeof (options[name] ?? 0) === 'number' && (options[name] ?? 0) >= 0))
      throw invalid(name, `${name} is a number, 0 or more`);
  const its = key === null ? environment : key[2] === 'live' ? 'live' : 'sandbox';
  if (expect !== undefined && its !== expect)
    throw invalid('expect', `${expect} is expected, and the ${key === null ? 'environment' : 'key'} is another one`);
  return {
    base: baseOf(baseUrl),
    headers: {
      ...userAgent(),
      ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }),
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...(environment === undefined ? {} : { 'x-environment': environment }),
    },
    isLocalKey: key === null ? null : key[1] === 'loc',
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    retries: options.retries ?? RETRIES,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    deadlineMs: options.deadlineMs ?? DEADLINE_MS,
    clock: options.clock ?? CLOCK,
  };
}

function baseOf(text: string): string {
  let url: URL | null = null;
  try {
    url = new URL(text);
  } catch {
    // said below
  }
  if (url === null || !/^https?:$/.test(url.protocol) || url.username + url.password + url.search + url.hash !== '')
    throw invalid('baseUrl', 'baseUrl is an http or https address without user, password, query and fragment');
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

const CLOCK: Clock = {
  now: () => Date.now(),
  random: () => Math.random(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener('abort', done);
      if (signal?.aborted) done();
    }),
};
