/**
 * The edge's HTTP server: the same paths as the cloud, from the one route table (protocol/routes.ts), with local keys.
 * Requests to one's own edge are never rate limited (spec §8.4): nothing in here answers 429.
 *
 * Order: stopping? → path → method → local key, before the body is read → key material → the path.
 */
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { fail, succeed } from '../../protocol/envelope.ts';
import { isRefusal, refuse, Refused, statusOf, type ErrorCode, type Refusal } from '../../protocol/errors.ts';
import { newId } from '../../protocol/node/ids.ts';
import { limitBody } from '../../protocol/node/late-body.ts';
import { scrapeOf } from '../../protocol/node/metrics-access.ts';
import { findKeyMaterial, findKeyMaterialInFields } from '../../protocol/node/key-material.ts';
import { BODY_BYTES_MAX, bodyBytesOf, type Route } from '../../protocol/route.ts';
import { ROUTE_LIST, ROUTES, type OperationId } from '../../protocol/routes.ts';
import { unknownPath } from '../../protocol/unknown-path.ts';
import { validate } from '../../protocol/validation.ts';
import type { EdgeLog } from '../process/log.ts';
import type { KeyVerdict } from '../local-keys/local-keys.ts';
import { StorageFailed } from '../storage/failed.ts';
import { DeclaredCodes, type Undeclared } from './declared-codes.ts';
import type { Hearing } from './hearing.ts';
import { CONTENT_MS, CONTENT_ROUTE, CONTENT_URL, type ContentPath } from './uploads.ts';
import { jsonOf, queryOf, type EdgeAnswer, type EdgeCall, type EdgePath, type EdgeRoute } from './exchange.ts';

const PARAMETER_CHARACTERS_MAX = 400;
const REQUEST_TIMEOUT_MS = 60_000;
/** A caller whose request is none has this long to read why. */
const GONE_MS = 1_000;

/** Headers that a caller's request keeps on its way to the cloud. */
const REQUEST_HEADERS = ['content-type', 'accept', 'idempotency-key'] as const;
/** Longest pause that the cloud can ask a caller for, in seconds. */
const RETRY_AFTER_SECONDS_MAX = 3_600;
const COUNT = /^[0-9]{1,9}$/;
const JSON_UTF8 = 'application/json; charset=utf-8';
/**
 * Headers that an answer of the cloud keeps on its way back, in the one form that each may have. How a body is to be
 * read is not among them: it was read here as JSON in UTF-8, and in another set of characters its texts would say
 * something else.
 */
const ANSWER_HEADERS: Readonly<Record<string, (value: string) => string | null>> = {
  'x-request-id': (value) => (/^req_[a-z2-7]{26}$/.test(value) ? value : null),
  'idempotent-replayed': (value) => (value === 'true' ? value : null),
  'retry-after': (value) => (COUNT.test(value) ? String(Math.min(Number(value), RETRY_AFTER_SECONDS_MAX)) : null),
  'ratelimit-limit': (value) => (COUNT.test(value) ? value : null),
  'ratelimit-remaining': (value) => (COUNT.test(value) ? value : null),
  'ratelimit-reset': (value) => (COUNT.test(value) ? value : null),
};

export interface ServerSettings {
  /** Paths that are not simply forwarded, by operation. */
  readonly paths: Partial<Record<OperationId, EdgePath>>;
  readonly forward: EdgePath;
  /** Takes a file at the URL of its upload. */
  readonly content: ContentPath;
  /** What callers hear of withdrawals. */
  readonly hearing: Hearing;
  readonly statusPage: EdgePath;
  /** Id of the valid local key, or why it is not taken. */
  readonly judgeKey: (key: string) => KeyVerdict;
  readonly stopping: () => boolean;
  /** A refusal left whose route does not declare its code. */
  readonly onUndeclared: (refusal: Undeclared) => void;
  readonly nowMs: () => number;
  readonly log: EdgeLog;
}

/** Routes of the table that an edge serves, and `resync`, which its operator may ask for (spec §4.3). */
const EDGE_ROUTES: readonly EdgeRoute[] = [
  ...ROUTE_LIST.filter(({ where }) => where !== 'cloud'),
  { ...ROUTES.resyncEdge, operationId: 'resyncEdge', credential: 'application' },
];

/** What a request is answered with. */
interface Answering extends ServerSettings {
  readonly declared: DeclaredCodes;
}

/** The server, not listening yet. */
export function createEdgeServer(serverSettings: ServerSettings): FastifyInstance {
  const settings: Answering = { ...serverSettings, declared: new DeclaredCodes() };
  const server = Fastify({
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    exposeHeadRoutes: true, // as the cloud
    return503OnClosing: false,
    requestTimeout: CONTENT_MS, // of the file of an import; the others have `limitBody`
    http: { headersTimeout: REQUEST_TIMEOUT_MS },
    forceCloseConnections: 'idle',
    genReqId: () => newId('req', settings.nowMs()),
    routerOptions: { maxParamLength: PARAMETER_CHARACTERS_MAX },
    frameworkErrors: (error, request, reply) => sendError(settings, request, reply, error),
    clientErrorHandler(_error, socket) {
      if (!socket.writable) return void socket.destroy();
      const requestId = newId('req', settings.nowMs());
      const body = JSON.stringify(
        fail(refuse('INVALID_INPUT', { reason: 'malformed_http' }), metaOf(requestId, settings.nowMs())),
      );
      socket.end(
        `HTTP/1.1 400 Bad Request\r\nx-request-id: ${requestId}\r\ncontent-type: application/json\r\nconnection: close\r\n` +
          `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
      setTimeout(() => socket.destroy(), GONE_MS).unref(); // a client that does not close keeps no place here
    },
  });
  server.removeAllContentTypeParsers();
  // Bodies stay bytes: they are forwarded as they came, and signed over.
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  server.setErrorHandler((error, request, reply) => sendError(settings, request, reply, error));
  server.setNotFoundHandler((request, reply) =>
    sendRefusal(settings, request, reply, unmatched(settings, request, reply)),
  );
  server.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'x-request-id': request.id, 'x-content-type-options': 'nosniff' });
    if (settings.stopping()) throw new Refused(refuse('SERVICE_UNAVAILABLE', { reason: 'stopping' }));
    if (request.routeOptions.url !== CONTENT_URL) limitBody(server.server, request.raw, REQUEST_TIMEOUT_MS);
  });
  server.addHook('onResponse', async (request, reply) => {
    settings.log.info('request', {
      requestId: request.id,
      method: request.method,
      route: request.routeOptions.url ?? 'unmatched',
      status: reply.statusCode,
      durationMs: Math.round(reply.elapsedTime),
    });
    const undeclared = settings.declared.undeclared(request, request.method, request.routeOptions.url);
    if (undeclared !== null) settings.onUndeclared(undeclared);
  });
  server.get('/', async (request, reply) =>
    send(
      settings,
      request,
      reply,
      await settings.statusPage(callOf(request, { ...ROUTES.getEdgeHealth, operationId: 'getEdgeHealth' }, null)),
    ),
  );
  for (const route of EDGE_ROUTES) bind(server, settings, route);
  takeContent(server, settings);
  return server;
}

function bind(server: FastifyInstance, settings: Answering, route: EdgeRoute): void {
  const path = settings.paths[route.operationId] ?? settings.forward,
    url = route.path.replace(/\{([a-zA-Z]+)\}/g, ':$1');
  settings.declared.serves(url, route);
  server.route({
    method: route.method,
    url,
    bodyLimit: bodyBytesOf(route),
    // Before the body is read. Spec §5.3: authentication fails before the payload is read.
    onRequest: async (request) => {
      const refusal = isNormalPath(request.raw.url ?? '')
        ? null
        : refuse('NOT_FOUND', {
            reason: 'not_a_plain_path',
            next: 'send the path without //, backslashes and dot segments',
          });
      if (refusal !== null) {
        settings.declared.isOfNone(request);
        throw new Refused(refusal);
      }
      keyIdOf(settings, request, route);
    },
    handler: async (request, reply) => {
      const keyId = keyIdOf(settings, request, route); // It may have been revoked while the body was read.
      refuseKeyMaterial(settings, request);
      const refusal = path === settings.forward ? null : notTaken(request, route);
      if (refusal !== null) throw new Refused(refusal);
      const call = callOf(request, route, keyId),
        answer = await path(call);
      const unkept = await settings.hearing.before(call, answer);
      if (unkept !== null) throw new Refused(unkept);
      // Where the connection is closed before the last byte there is no such event.
      if (request.method !== 'HEAD')
        reply.raw.once('finish', () => void (call.isGone() ? null : settings.hearing.after(call, answer)));
      return send(settings, request, reply, settings.hearing.besideSigned(call, answer));
    },
  });
}

/** The PUT of a file: raw bytes that stream through. Its credential is its URL, which the cloud signed. */
function takeContent(server: FastifyInstance, settings: Answering): void {
  void server.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.put(CONTENT_URL, async (request, reply) => {
      const call = callOf(request, CONTENT_ROUTE, null);
      return send(settings, request, reply, await settings.content({ call, raw: request.raw }));
    });
  });
}

/** Query and body of a path that has none, as the cloud looks at what is passed on. Refuses: INVALID_INPUT. */
function notTaken(request: FastifyRequest, route: Route): Refusal | null {
  const { url = '/' } = request.raw,
    { body } = request;
  const query = route.query === undefined ? queryOf(url) : {};
  // What is no JSON is no empty body either.
  const sent =
    route.body === undefined && Buffer.isBuffer(body) && body.length > 0
      ? (jsonOf(body) ?? body.toString('latin1'))
      : undefined;
  const read = validate({}, { params: {}, query, body: sent });
  return isRefusal(read) ? read : null;
}

/** Throws: Refused with UNAUTHORIZED. */
function keyIdOf(settings: Answering, request: FastifyRequest, route: EdgeRoute): string | null {
  if (route.credential === 'none') return null;
  const key = request.headers['x-api-key'];
  if (typeof key !== 'string')
    throw new Refused(
      refuse('UNAUTHORIZED', {
        reason: 'no_key',
        next: 'send a local key as X-API-Key; flock-edge local-keys mint makes one',
      }),
    );
  const verdict = settings.judgeKey(key);
  if ('reason' in verdict) throw new Refused(refuse('UNAUTHORIZED', adviceOnKey(key, verdict.reason)));
  return verdict.id;
}

function callOf(request: FastifyRequest, route: EdgeRoute, keyId: string | null): EdgeCall {
  const headers = Object.fromEntries(
    REQUEST_HEADERS.flatMap((name) => {
      const value = request.headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
  return {
    requestId: request.id,
    keyId,
    route,
    params: request.params as Record<string, string>,
    host: request.headers.host ?? '',
    pathAndQuery: request.raw.url ?? '/',
    headers,
    body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
    scrape: scrapeOf(request.raw.socket.remoteAddress, request.headers),
    isGone: () => request.raw.socket.destroyed,
  };
}

/**
 * A path whose parser at the other end would read another path (`%2e%2e`, a backslash) must not be signed: the caller
 * would reach what only the edge may ask for.
 */
function isNormalPath(url: string): boolean {
  const path = url.split('?')[0]!;
  return URL.parse(url, 'http://edge')?.pathname === path && !path.includes('//');
}

/** Throws: Refused KEY_MATERIAL_REJECTED. */
function refuseKeyMaterial(settings: Answering, request: FastifyRequest): void {
  const rule = keyMaterialIn(request);
  if (rule === null) return;
  if (Buffer.isBuffer(request.body)) request.body.fill(0);
  settings.log.alarm('key_material_rejected', { requestId: request.id, reason: rule });
  throw new Refused(refuse('KEY_MATERIAL_REJECTED'));
}

function keyMaterialIn(request: FastifyRequest): string | null {
  const url = new URL(request.raw.url ?? '/', 'http://edge');
  const fields = [
    ...[...url.searchParams].map(([name, text]) => ({ name, text })),
    ...pathPartsOf(url.pathname).map((text) => ({ name: '', text })),
    ...Object.entries(request.headers)
      .filter(([name]) => name !== 'x-api-key')
      .map(([name, text]) => ({ name, text: Array.isArray(text) ? text.join(' ') : (text ?? '') })),
  ];
  return findKeyMaterialInFields(fields) ?? (Buffer.isBuffer(request.body) ? findKeyMaterial(request.body) : null);
}

/** Parts of a path as they are meant; one that is no percent-encoding as it came. */
function pathPartsOf(path: string): string[] {
  return path.split('/').map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
}

/** Throws: Refused KEY_MATERIAL_REJECTED, as for every path. */
function unmatched(settings: Answering, request: FastifyRequest, reply: FastifyReply): Refusal {
  const { allow, refusal } = unknownPath(request.method, (request.raw.url ?? '/').split('?')[0]!, EDGE_ROUTES, 'cloud');
  if (allow === null)
    refuseKeyMaterial(settings, request); // what is repeated is looked through first
  else reply.header('allow', allow);
  return refusal;
}

function send(settings: Answering, request: FastifyRequest, reply: FastifyReply, answer: EdgeAnswer): FastifyReply {
  switch (answer.kind) {
    case 'refused':
      return sendRefusal(settings, request, reply, answer.refusal);
    case 'answered':
      return reply.code(answer.status).send(succeed(answer.data, metaOf(request.id, settings.nowMs())));
    case 'bare':
      return reply
        .code(200)
        .headers(answer.headers ?? {})
        .type(answer.contentType)
        .send(answer.text);
    case 'streamed':
      reply.code(200).headers(answer.headers).type(answer.contentType);
      // A question without an answer's body reads none.
      if (request.method === 'HEAD') answer.body.destroy();
      return request.method === 'HEAD' ? reply.send('') : reply.send(answer.body);
    case 'passed': {
      for (const [name, formOf] of Object.entries(ANSWER_HEADERS)) {
        const given = answer.answer.headers[name];
        const value = typeof given === 'string' ? formOf(given) : null;
        if (value !== null) reply.header(name, value);
      }
      if (answer.code !== undefined) settings.declared.note(request, answer.code, 'cloud');
      return reply.code(answer.answer.status).type(JSON_UTF8).send(answer.answer.body);
    }
  }
}

function sendRefusal(
  settings: Answering,
  request: FastifyRequest,
  reply: FastifyReply,
  refusal: Refusal,
): FastifyReply {
  settings.declared.note(request, refusal.code, 'edge');
  if (refusal.code === 'SERVICE_UNAVAILABLE' || refusal.code === 'UPSTREAM_UNAVAILABLE')
    reply.header('retry-after', '1');
  // A connection that is closed under a writer is reset, and the answer with it: the rest is read and dropped, until
  // the timeout.
  if (refusal.code === 'PAYLOAD_TOO_LARGE') reply.removeHeader('connection');
  if (settings.stopping()) reply.header('connection', 'close');
  reply.header('x-request-id', request.id); // also where no hook has run: a path that is no path
  return reply.code(statusOf(refusal.code)).send(fail(refusal, metaOf(request.id, settings.nowMs())));
}

function sendError(settings: Answering, request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
  const refusal = refusalOf(error, request.routeOptions.bodyLimit);
  if (error instanceof StorageFailed)
    settings.log.warn('storage_failed', {
      requestId: request.id,
      reason: error.reason,
      setting: 'EDGE_DATA_DIR',
      next: error.next,
    });
  else if (refusal.code === 'INTERNAL_ERROR') settings.log.fault('request_fault', error, { requestId: request.id });
  return sendRefusal(settings, request, reply, refusal);
}

function refusalOf(error: unknown, maxBytes: number = BODY_BYTES_MAX): Refusal {
  if (error instanceof Refused) return error.refusal;
  if (isRefusal(error)) return error;
  // Full disk: the edge can promise nothing that it would have to keep.
  if (error instanceof StorageFailed)
    return refuse('EDGE_OUTBOX_FULL', { reason: error.reason, next: error.next }, error.message);
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return refuse('PAYLOAD_TOO_LARGE', { maxBytes });
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500)
    return refuse('INVALID_INPUT' satisfies ErrorCode);
  return refuse('INTERNAL_ERROR');
}

function metaOf(requestId: string, nowMs: number): { requestId: string; timestamp: string } {
  return { requestId, timestamp: new Date(nowMs).toISOString() };
}

const LOCAL_KEY = /^loc_(?:live|test)_[a-z2-7]{39}$/;

/** What to do about a key that is not taken. That it is revoked is said to its holder. */
function adviceOnKey(key: string, reason: Extract<KeyVerdict, { reason: string }>['reason']): Record<string, string> {
  if (/^flk_(?:live|test)_/.test(key))
    return {
      reason: 'cloud_key',
      next: 'this is a key of the cloud: send a local key; flock-edge local-keys mint makes one',
    };
  switch (reason) {
    case 'unknown':
      return LOCAL_KEY.test(key)
        ? {
            reason: 'unknown_key',
            next: 'the key is mistyped, or of another edge or environment: compare it with the one that was minted; flock-edge local-keys mint makes one',
          }
        : {
            reason: 'malformed_key',
            expected: 'loc_live_ or loc_test_ and 39 characters of a–z and 2–7',
            next: 'send the key whole and alone: no quotes, no "Bearer", X-API-Key once',
          };
    case 'revoked':
      return {
        reason: 'revoked',
        next: 'the key was revoked: mint another one (flock-edge local-keys mint) and give it to the application',
      };
    case 'expired':
      return { reason: 'expired', next: 'mint a new key' };
    case 'not_vouched':
      return {
        reason: 'not_vouched',
        setting: 'EDGE_KEY_SET_TTL',
        next: 'another replica minted this key and no leader has vouched for it lately: look whether the replicas reach the cloud; use a key that was minted here',
      };
  }
}
