/**
 * The REST server. Each request passes the same checks in the order of the error table: path and method, size and media
 * type, API key or bearer, the edge's signature, the body against its digest, key material, rate limit, role, input. Then
 * a handler asks, and the answer is put in the envelope. The gateway decides nothing.
 */
import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { fail, succeed } from '../../protocol/envelope.ts';
import { isRefusal, Refused, refuse, statusOf, type Refusal } from '../../protocol/errors.ts';
import { newId } from '../../protocol/ids.ts';
import { pathMatches } from '../../protocol/route.ts';
import { ROUTE_LIST } from '../../protocol/routes.ts';
import type { GatewayDeps } from '../ports.ts';
import { createAuth, type Auth } from './auth/auth.ts';
import { roleRefusal } from './auth/credentials.ts';
import { checkDigest, guardHead, parseBody } from './body.ts';
import { NOBODY, type Asked, type Caller, type Handlers, type Replayable } from './context.ts';
import { refusalOrFault } from './faults.ts';
import { createHandlers } from './handlers.ts';
import { createIdempotency, KEY_CHARS_MAX, type Answered, type Outcome } from './idempotency.ts';
import { createRequestLimits } from './rate-limit.ts';
import { servePages } from '../pages/docs.ts';
import { validate } from './validation.ts';

type Listed = (typeof ROUTE_LIST)[number];

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller;
    bodyHash: string;
    bodyRead: boolean;
    code: string | null;
  }
  interface FastifyContextConfig { route?: Listed }
}

export interface Gateway {
  readonly app: FastifyInstance;
  /** For the edge stream's handshake. */
  readonly auth: Auth;
  /** Listens and answers the origin. */
  listen(host: string, port: number): Promise<string>;
  /** From now on new requests are answered SERVICE_UNAVAILABLE and `/health/ready` says no. */
  drain(): void;
  /** Waits for what is at work and closes. */
  close(): Promise<void>;
}

/** Bounds of one connection, milliseconds. */
const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_MS = 72_000;
const PARAMETER_CHARS_MAX = 600;
/** Signed edge calls have their own window, so that an application cannot keep its edge from reporting. */
const SIGNED_REQUESTS_PER_MINUTE = 6_000;

/** A gateway over its ports; nothing listens yet. */
export async function createGateway(deps: GatewayDeps): Promise<Gateway> {
  const auth = await createAuth(deps);
  const state = { draining: false };
  const handlers = createHandlers({ ...deps, auth, isDraining: () => state.draining });
  const app = Fastify({
    logger: false,
    genReqId: () => newId('req', deps.nowMs()),
    bodyLimit: deps.config.bodyLimitBytes,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    routerOptions: { maxParamLength: PARAMETER_CHARS_MAX },
    frameworkErrors: (error, request, reply) => { sendRefusal(deps, request as FastifyRequest, reply as FastifyReply, refusalOrFault(error, deps.log, request.id)); },
    clientErrorHandler: (_error, socket) => { socket.end(malformed(deps)); },
  });
  app.decorateRequest('caller', NOBODY);
  app.decorateRequest('bodyHash', '');
  app.decorateRequest('bodyRead', false);
  app.decorateRequest('code', null);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    checkDigest(request.caller, body);
    request.bodyRead = true;
    request.bodyHash = sha256(body);
    return parseBody(body);
  });
  app.addHook('onRequest', async (request, reply) => {
    void reply.header('x-request-id', request.id);
    const { route } = request.routeOptions.config;
    if (route === undefined) return;
    if (state.draining && route.tag !== 'Health') throw new Refused(refuse('SERVICE_UNAVAILABLE', { reason: 'stopping', retryAfterSeconds: 1 }));
    checkHead(route, request, reply, deps.config.bodyLimitBytes);
    const caller = await auth.credentials.authenticate(route, headOf(request));
    if (isRefusal(caller)) throw new Refused(caller);
    request.caller = caller;
    guardHead(request.raw.url ?? '', request.headers);
  });
  app.addHook('onResponse', async (request, reply) => report(deps, request, reply));
  app.setErrorHandler((error, request, reply) => { sendRefusal(deps, request, reply, refusalOrFault(error, deps.log, request.id)); });
  app.setNotFoundHandler((request, reply) => { sendRefusal(deps, request, reply, unknownPath(request, reply)); });

  const serve = createPipeline(deps, handlers);
  for (const route of ROUTE_LIST.filter(({ where }) => where !== 'edge')) {
    app.route({
      method: route.method,
      url: route.path.replace(/\{([a-zA-Z]+)\}/g, ':$1'),
      config: { route },
      ...(route.bodyLimitBytes === undefined ? {} : { bodyLimit: Math.max(route.bodyLimitBytes, deps.config.bodyLimitBytes) }),
      handler: (request, reply) => serve(route, request, reply),
    });
  }
  servePages(app, deps.config.publicUrl);
  return {
    app,
    auth,
    async listen(host, port) {
      await app.listen({ host, port });
      const { address, port: bound } = app.server.address() as AddressInfo;
      return `http://${address.includes(':') ? `[${address}]` : address}:${bound}`;
    },
    drain() { state.draining = true; },
    async close() {
      state.draining = true;
      await app.close();
    },
  };
}

const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');

function headOf(request: FastifyRequest) {
  const url = request.raw.url ?? '/';
  const at = url.indexOf('?');
  return {
    method: request.method, authority: request.headers.host ?? '', path: at === -1 ? url : url.slice(0, at),
    query: at === -1 ? '?' : url.slice(at), headers: request.headers,
  };
}

/** Size and media type, from the headers alone. Throws: Refused PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE. */
function checkHead(route: Listed, { headers }: FastifyRequest, reply: FastifyReply, configuredLimit: number): void {
  const limit = Math.max(route.bodyLimitBytes ?? 0, configuredLimit);
  const length = Number(headers['content-length'] ?? 0);
  if (length > limit) {
    void reply.header('connection', 'close'); // what follows is not read
    throw new Refused(refuse('PAYLOAD_TOO_LARGE', { maxBytes: limit }));
  }
  if (length === 0 && headers['transfer-encoding'] === undefined) return;
  const json = /^application\/(?:json|[a-z0-9.+-]+\+json)\s*(?:;\s*charset=["']?utf-8["']?\s*)?$/i.test(headers['content-type'] ?? '');
  if (!json || headers['content-encoding'] !== undefined) throw new Refused(refuse('UNSUPPORTED_MEDIA_TYPE', { expected: 'application/json' }));
}

/** Everything between a read body and the answer. */
function createPipeline(deps: GatewayDeps, handlers: Handlers) {
  const limits = createRequestLimits(deps.accounts, deps.nowMs);
  const idempotency = createIdempotency({ reads: deps.stores.reads, secrets: deps.secrets });

  return async (route: Listed, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { caller } = request;
    if (!request.bodyRead) {
      checkDigest(caller);
      request.bodyHash = sha256('');
    }
    const slow = await rateRefusal(deps, limits, route, caller, reply);
    const refusal = slow ?? roleRefusal(route, caller);
    if (refusal !== null) return sendRefusal(deps, request, reply, refusal);
    const input = validate(route, { params: request.params, query: request.query, body: request.body });
    if (!input.ok) return sendRefusal(deps, request, reply, input);
    const key = idempotencyKeyOf(request);
    if (isRefusal(key)) return sendRefusal(deps, request, reply, key);

    const path = headOf(request).path;
    const use = key === null || caller.accountId === null || route.idempotent === undefined ? null
      : { accountId: caller.accountId, key, method: request.method, path, bodyHash: request.bodyHash, kept: route.idempotent };
    const asked = {
      params: input.params, query: input.query, body: input.body, caller, requestId: request.id,
      claim: use?.kept === 'actor' ? { key: use.key, method: use.method, path, bodyHash: use.bodyHash, successStatus: route.status } : undefined,
      cookies: cookiesOf(request.headers.cookie), remoteAddress: request.socket.remoteAddress ?? '',
      log: deps.log.child({ requestId: request.id }),
      setHeader: (name: string, value: string) => { void reply.header(name, value); },
    } as unknown as Asked;

    const entry = handlers[route.operationId] as Replayable<never> | ((asked: Asked) => Promise<unknown>);
    const handle = typeof entry === 'function' ? entry : entry.handle as unknown as (asked: Asked) => Promise<unknown>;
    const replay = (stored: unknown) => (typeof entry === 'function' ? Promise.resolve(stored) : entry.replay(stored, asked as never));
    const act = () => outcomeOf(handle, asked, route, deps.log);
    const answered = use === null ? { outcome: withoutDuplicate(await act()), replayed: false } : await idempotency.once(use, act, replay);
    return send(deps, route, request, reply, answered);
  };
}

async function outcomeOf(handle: (asked: Asked) => Promise<unknown>, asked: Asked, route: Listed, log: Logger): Promise<Outcome> {
  try {
    const result = await handle(asked);
    if (isRefusal(result)) return result;
    if ((result as { ok?: unknown } | null)?.ok === 'duplicate') return { ok: 'duplicate' };
    return { ok: true, status: route.status, reply: result };
  } catch (error) {
    return refusalOrFault(error, log, asked.requestId);
  }
}

const withoutDuplicate = (outcome: Outcome): Answered['outcome'] =>
  (outcome.ok === 'duplicate' ? refuse('INTERNAL_ERROR', { reason: 'duplicate without a key' }) : outcome);

/** Refuses: INVALID_INPUT for a key that is empty or too long; null where there is none. */
function idempotencyKeyOf({ headers }: FastifyRequest): string | null | Refusal {
  const key = headers['idempotency-key'];
  if (key === undefined) return null;
  const text = Array.isArray(key) ? key.join() : key;
  if (text.length >= 1 && text.length <= KEY_CHARS_MAX) return text;
  return refuse('INVALID_INPUT', { header: 'Idempotency-Key', expected: `1 to ${KEY_CHARS_MAX} characters` });
}

async function rateRefusal(deps: GatewayDeps, limits: ReturnType<typeof createRequestLimits>, route: Listed, caller: Caller, reply: FastifyReply): Promise<Refusal | null> {
  const { accountId } = caller;
  if (accountId === null) return null;
  const signed = route.credential === 'signed';
  const limit = signed ? SIGNED_REQUESTS_PER_MINUTE : await limits.of(accountId);
  const { allowed, remaining, resetSeconds } = await deps.rateLimiter.take(signed ? `edge:${accountId}` : accountId, limit, deps.nowMs());
  void reply.headers({ 'ratelimit-limit': limit, 'ratelimit-remaining': remaining, 'ratelimit-reset': resetSeconds });
  return allowed ? null : refuse('RATE_LIMIT_EXCEEDED', { limit, windowSeconds: 60, retryAfterSeconds: resetSeconds });
}

function cookiesOf(header: string | undefined): Record<string, string> {
  const pairs = (header ?? '').split(';').map((pair) => pair.split('=', 2).map((part) => part.trim()) as [string, string | undefined]);
  return Object.fromEntries(pairs.filter(([name, value]) => name !== '' && value !== undefined)) as Record<string, string>;
}

// ── Answers ──────────────────────────────────────────────────────────────────────────────────────────────────────

const metaOf = (deps: GatewayDeps, requestId: string) => ({ requestId, timestamp: new Date(deps.nowMs()).toISOString() });

/** The reply as its schema lists it: a field that is not listed does not leave, whatever a row holds. */
function send(deps: GatewayDeps, route: Listed, request: FastifyRequest, reply: FastifyReply, { outcome, replayed }: Answered): FastifyReply {
  if (replayed) void reply.header('idempotent-replayed', 'true');
  if (isRefusal(outcome)) return sendRefusal(deps, request, reply, outcome);
  void reply.code(outcome.status).header('cache-control', 'no-store').header('x-content-type-options', 'nosniff');
  if (route.bare !== undefined) {
    const text = typeof outcome.reply === 'string' ? outcome.reply : JSON.stringify(outcome.reply);
    return reply.type(`${route.bare}; charset=utf-8`).send(text);
  }
  const parsed = route.reply.safeParse(outcome.reply);
  if (!parsed.success) {
    const fields = parsed.error.issues.map((issue) => issue.path.join('.'));
    deps.log.error({ requestId: request.id, operationId: route.operationId, names: fields }, 'a reply has not the shape it promises');
    return sendRefusal(deps, request, reply, refuse('INTERNAL_ERROR'));
  }
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(succeed(parsed.data, metaOf(deps, request.id))));
}

function sendRefusal(deps: GatewayDeps, request: FastifyRequest, reply: FastifyReply, refusal: Refusal): FastifyReply {
  request.code = refusal.code;
  const { retryAfterSeconds } = refusal.details as { retryAfterSeconds?: unknown };
  if (typeof retryAfterSeconds === 'number') void reply.header('retry-after', String(retryAfterSeconds));
  if (statusOf(refusal.code) === 401) void reply.header('www-authenticate', 'Bearer realm="flock"');
  return reply.code(statusOf(refusal.code))
    .headers({ 'x-request-id': request.id, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(fail(refusal, metaOf(deps, request.id))));
}

function unknownPath(request: FastifyRequest, reply: FastifyReply): Refusal {
  const { path } = headOf(request);
  const methods = [...new Set(ROUTE_LIST.filter((route) => route.where !== 'edge' && pathMatches(route.path, path)).map(({ method }) => method))];
  if (methods.length === 0) return refuse('NOT_FOUND');
  void reply.header('allow', methods.join(', '));
  return refuse('METHOD_NOT_ALLOWED', { allowed: methods });
}

/** What a request that is not HTTP gets. */
function malformed(deps: GatewayDeps): string {
  const requestId = newId('req', deps.nowMs());
  const body = JSON.stringify(fail(refuse('INVALID_INPUT', {}, 'not an HTTP request'), metaOf(deps, requestId)));
  return `HTTP/1.1 400 Bad Request\r\nX-Request-Id: ${requestId}\r\nContent-Type: application/json; charset=utf-8\r\n`
    + `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`;
}

/** One line and one measurement for each request; nothing of what was sent. */
function report(deps: GatewayDeps, request: FastifyRequest, reply: FastifyReply): void {
  const route = request.routeOptions.config.route;
  const operationId = route?.operationId ?? 'none';
  const status = reply.statusCode;
  deps.metrics.observeRequest(operationId, status, reply.elapsedTime / 1_000);
  deps.log[status >= 500 ? 'warn' : 'info']({
    requestId: request.id, operationId, method: request.method, status, durationMs: Math.round(reply.elapsedTime),
    ...(request.caller.accountId === null ? {} : { accountId: request.caller.accountId }),
    ...(request.code === null ? {} : { code: request.code }),
  }, 'request');
}
