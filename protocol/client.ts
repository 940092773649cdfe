/**
 * A typed client, derived from the route table: `client.call('createAddress', { body: { chain: 'eth' } })` returns the
 * reply's `data` or the `Refusal`. It works against cloud and edge, and retries nothing by itself: with an idempotency
 * key the caller may. Its types come from the schemas; what runs holds none, so that it is small in a browser.
 */
import { isRefusal, Refused, type ErrorCode, type ERRORS, type Refusal } from './errors.ts';
import { pathOf, placeOf } from './place.ts';
import type { Method } from './route.ts';
import type { OperationId, ReplyOf, ROUTES, SentOf } from './routes.ts';
import type { Environment } from './slugs.ts';
import { readHints, type Hint, type StreamEnd } from './stream.ts';

type Table = typeof ROUTES;
type Field<O extends OperationId, K extends 'params' | 'query' | 'body'> =
  Table[O] extends Record<K, unknown>
    ? object extends SentOf<O, K>
      ? { readonly [P in K]?: SentOf<O, K> }
      : { readonly [P in K]: SentOf<O, K> }
    : unknown;

export interface CallOptions {
  readonly idempotencyKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}
export type Call<O extends OperationId> = Field<O, 'params'> & Field<O, 'query'> & Field<O, 'body'> & CallOptions;
type Args<O extends OperationId> = object extends Call<O> ? [call?: Call<O>] : [call: Call<O>];

export interface ClientOptions {
  /** Origin of a cloud or an edge. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly bearer?: string;
  /** The environment that a bearer works in. */
  readonly environment?: Environment;
  /** Headers of a signature over the request, for the edge (`signRequest`). */
  readonly sign?: (request: { method: Method; url: string; body: string }) => Readonly<Record<string, string>>;
  /**
   * A refusal with another code becomes UPSTREAM_UNAVAILABLE: for the edge, which acts on codes. Absent: it is handed
   * on as it came: a newer service refuses for reasons that an older client can still show.
   */
  readonly knownCodes?: ReadonlySet<string>;
  /** Bound of one call, milliseconds. */
  readonly timeoutMs?: number;
  readonly fetch?: typeof fetch;
}

/** One answer with what surrounds its data. */
export interface Answered<T> {
  readonly status: number;
  readonly requestId: string | null;
  /** The answer of an earlier request with the same idempotency key. */
  readonly replayed: boolean;
  /** Seconds, when the service asks for patience. */
  readonly retryAfterSeconds: number | null;
  readonly outcome: T | Refusal;
}

export interface Client {
  call<O extends OperationId>(operationId: O, ...call: Args<O>): Promise<ReplyOf<O> | Refusal>;
  /** Throws: Refused. */
  must<O extends OperationId>(operationId: O, ...call: Args<O>): Promise<ReplyOf<O>>;
  ask<O extends OperationId>(operationId: O, ...call: Args<O>): Promise<Answered<ReplyOf<O>>>;
  /**
   * Listens to what happens in the account (`GET /v1/stream`), and answers why that ended: the caller comes again, with
   * `place` of its last hint as `lastEventId`. Throws what `signal` is aborted with.
   */
  listen(hear: (hint: Hint) => void, options?: ListenOptions): Promise<StreamEnd>;
  /** The same client with other credentials or another base address. */
  with(options: Partial<ClientOptions>): Client;
}

export interface ListenOptions {
  /** `place` of the last hint that was heard; absent for what happens from now on. */
  readonly lastEventId?: string;
  readonly signal?: AbortSignal;
}

const TIMEOUT_MS_DEFAULT = 30_000;

// The table of errors has a kilobyte of texts, of which a client says these two itself.
const UNAVAILABLE: (typeof ERRORS)['UPSTREAM_UNAVAILABLE'][1] = 'cloud unreachable from edge';
const NOTHING: (typeof ERRORS)['NOT_FOUND'][1] = 'no such resource for this account';
const unavailable = (details: Readonly<Record<string, unknown>>): Refusal => ({
  ok: false,
  code: 'UPSTREAM_UNAVAILABLE',
  message: UNAVAILABLE,
  details,
});

interface Sent extends CallOptions {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

/**
 * A client of one deployment. An answer that is no envelope, or none at all, is UPSTREAM_UNAVAILABLE. A refusal keeps
 * its code, also one that this release does not know: none of `ErrorCode` then.
 */
export function createClient(options: ClientOptions): Client {
  const ask = async (operationId: OperationId, sent: Sent = {}): Promise<Answered<unknown>> => {
    const nothing = unaddressable(sent.params ?? {});
    if (nothing !== null)
      return { status: 404, requestId: null, replayed: false, retryAfterSeconds: null, outcome: nothing };
    const request = requestOf(options, operationId, sent);
    const timeout = AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS_DEFAULT);
    const signal = sent.signal === undefined ? timeout : AbortSignal.any([timeout, sent.signal]);
    try {
      const response = await (options.fetch ?? fetch)(request.url, { ...request.init, signal });
      return read(options, response, await response.text(), placeOf(operationId).isBare);
    } catch (error) {
      sent.signal?.throwIfAborted();
      const reason = timeout.aborted ? 'timeout' : causeOf(error);
      return {
        status: 503,
        requestId: null,
        replayed: false,
        retryAfterSeconds: null,
        outcome: unavailable({ reason }),
      };
    }
  };
  const client: Client = {
    ask: ask as Client['ask'],
    call: (async (operationId: OperationId, sent?: Sent) => (await ask(operationId, sent)).outcome) as Client['call'],
    must: (async (operationId: OperationId, sent?: Sent) => {
      const { outcome } = await ask(operationId, sent);
      if (isRefusal(outcome)) throw new Refused(outcome);
      return outcome;
    }) as Client['must'],
    listen: (hear, how = {}) => listen(options, hear, how),
    with: (changed) => createClient({ ...options, ...changed }),
  };
  return client;
}

async function listen(
  options: ClientOptions,
  hear: (hint: Hint) => void,
  { lastEventId, signal }: ListenOptions,
): Promise<StreamEnd> {
  const headers: Record<string, string> = { accept: 'text/event-stream' };
  if (lastEventId !== undefined) headers['last-event-id'] = lastEventId;
  const request = requestOf(options, 'openStream', { headers });
  const silence = new AbortController();
  const silent = (): void => silence.abort();
  const head = setTimeout(silent, options.timeoutMs ?? TIMEOUT_MS_DEFAULT);
  const stop = signal === undefined ? silence.signal : AbortSignal.any([silence.signal, signal]);
  try {
    const response = await (options.fetch ?? fetch)(request.url, { ...request.init, signal: stop });
    if (!response.ok || response.body === null) {
      const { outcome } = read(options, response, await response.text(), false);
      return { why: 'refused', refusal: isRefusal(outcome) ? outcome : unavailable({}) };
    }
    clearTimeout(head);
    await readHints(response.body, hear, silent);
    return { why: 'ended' };
  } catch {
    signal?.throwIfAborted();
    return { why: 'lost' };
  } finally {
    clearTimeout(head);
  }
}

/**
 * Refuses NOT_FOUND, and nothing is sent, where a parameter of the path is empty or dots alone: a URL takes those for
 * steps in the tree of paths, and another operation would be asked.
 */
function unaddressable(params: Readonly<Record<string, string>>): Refusal | null {
  const found = Object.entries(params).find(([, value]) => /^\.{0,2}$/.test(value));
  if (found === undefined) return null;
  const [name, value] = found;
  const details = { [name]: value, reason: 'not_an_id', next: 'send an id as the service gave it' };
  return { ok: false, code: 'NOT_FOUND', message: NOTHING, details };
}

function requestOf(options: ClientOptions, operationId: OperationId, sent: Sent): { url: string; init: RequestInit } {
  const route = placeOf(operationId);
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(sent.query ?? {})) if (value !== undefined) query.set(name, String(value));
  const search = query.size === 0 ? '' : `?${query.toString()}`;
  const url = `${options.baseUrl.replace(/\/+$/, '')}${pathOf(route.path, sent.params ?? {})}${search}`;
  const body = sent.body === undefined ? '' : JSON.stringify(sent.body);
  const headers: Record<string, string> = { accept: 'application/json', ...sent.headers };
  if (body !== '') headers['content-type'] = 'application/json';
  if (options.apiKey !== undefined) headers['x-api-key'] = options.apiKey;
  if (options.bearer !== undefined) headers['authorization'] = `Bearer ${options.bearer}`;
  if (options.environment !== undefined) headers['x-environment'] = options.environment;
  if (sent.idempotencyKey !== undefined) headers['idempotency-key'] = sent.idempotencyKey;
  if (options.sign !== undefined) Object.assign(headers, options.sign({ method: route.method, url, body }));
  return { url, init: { method: route.method, headers, redirect: 'manual', ...(body === '' ? {} : { body }) } };
}

function read({ knownCodes }: ClientOptions, response: Response, text: string, bare: boolean): Answered<unknown> {
  const around = {
    status: response.status,
    requestId: response.headers.get('x-request-id'),
    replayed: response.headers.get('idempotent-replayed') === 'true',
    retryAfterSeconds: /^[0-9]{1,9}$/.test(response.headers.get('retry-after') ?? '')
      ? Number(response.headers.get('retry-after'))
      : null,
  };
  if (bare && response.ok) {
    // Not of JSON Lines, which are a text of many of them.
    const isJson = /^application\/(?:[\w.-]+\+)?json\b/i.test(response.headers.get('content-type') ?? '');
    return { ...around, outcome: isJson ? (JSON.parse(text) as unknown) : text };
  }
  const unknown = (reason: string, more: object = {}) => ({
    ...around,
    outcome: unavailable({ reason, status: response.status, ...more }),
  });
  const parsed = envelopeOf(text);
  if (parsed === null) return unknown('no envelope');
  if (parsed.success) return { ...around, outcome: parsed.data };
  const { code, message, details } = parsed.error;
  // The status still says which kind it is.
  if (knownCodes?.has(code) === false) return unknown('unknown code', { code });
  return { ...around, outcome: { ok: false, code: code as ErrorCode, message, details } as Refusal };
}

type Parsed =
  { success: true; data: unknown } | { success: false; error: { code: string; message: string; details: object } };

function envelopeOf(text: string): Parsed | null {
  try {
    const value = JSON.parse(text) as {
      success?: unknown;
      data?: unknown;
      error?: { code?: unknown; message?: unknown; details?: unknown };
    };
    if (value.success === true) return { success: true, data: value.data };
    const { code, message, details } = value.error ?? {};
    if (value.success !== false || typeof code !== 'string') return null;
    return { success: false, error: { code, message: String(message), details: (details ?? {}) as object } };
  } catch {
    return null;
  }
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return (cause as { code?: string }).code ?? (cause instanceof Error ? cause.name : 'unknown');
}
