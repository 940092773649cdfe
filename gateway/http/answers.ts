/** Answers: the envelope, its headers, and one line and one measurement for each. */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { fail, succeed } from '../../protocol/envelope.ts';
import { isRefusal, refuse, statusOf, type Refusal } from '../../protocol/errors.ts';
import { newId } from '../../protocol/node/ids.ts';
import { codesOf } from '../../protocol/route.ts';
import type { GatewayDeps } from '../deps.ts';
import type { Listed } from './head.ts';
import type { Answered } from './idempotency.ts';

type Answering = Pick<GatewayDeps, 'nowMs' | 'log' | 'metrics'>;

const metaOf = (deps: Answering, requestId: string) => ({ requestId, timestamp: new Date(deps.nowMs()).toISOString() });

/** The reply as its schema lists it: a field that is not listed does not leave, whatever a row holds. */
export function send(
  deps: Answering,
  route: Listed,
  request: FastifyRequest,
  reply: FastifyReply,
  { outcome, replayed }: Answered,
): FastifyReply {
  if (replayed) void reply.header('idempotent-replayed', 'true');
  if (isRefusal(outcome)) return sendRefusal(deps, request, reply, outcome);
  void reply.code(outcome.status).header('cache-control', 'no-store').header('x-content-type-options', 'nosniff');
  if (route.bare !== undefined) {
    // A document in several formats names its own.
    const type = String(reply.getHeader('content-type') ?? `${route.bare}; charset=utf-8`);
    if (outcome.reply instanceof Readable) return reply.type(type).send(outcome.reply);
    const isMade = typeof outcome.reply === 'string' || Buffer.isBuffer(outcome.reply);
    return reply.type(type).send(isMade ? outcome.reply : JSON.stringify(outcome.reply));
  }
  const parsed = route.reply.safeParse(outcome.reply);
  if (!parsed.success) {
    const fields = parsed.error.issues.map((issue) => issue.path.join('.'));
    deps.log.error(
      { requestId: request.id, operationId: route.operationId, names: fields },
      'a reply has not the shape it promises',
    );
    return sendRefusal(deps, request, reply, refuse('INTERNAL_ERROR'));
  }
  const envelope = succeed(parsed.data, metaOf(deps, request.id));
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(envelope));
}

/** The failure envelope of a refusal. */
export function sendRefusal(
  deps: Answering,
  request: FastifyRequest,
  reply: FastifyReply,
  refusal: Refusal,
): FastifyReply {
  request.code = refusal.code;
  const { retryAfterSeconds } = refusal.details as { retryAfterSeconds?: unknown };
  if (typeof retryAfterSeconds === 'number') void reply.header('retry-after', String(retryAfterSeconds));
  // A connection that is closed under a writer is reset, and the answer with it: the rest is read and dropped, until
  // the timeout.
  if (refusal.code === 'PAYLOAD_TOO_LARGE') void reply.removeHeader('connection');
  if (statusOf(refusal.code) === 401) void reply.header('www-authenticate', 'Bearer realm="flock"');
  return reply
    .code(statusOf(refusal.code))
    .headers({ 'x-request-id': request.id, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(fail(refusal, metaOf(deps, request.id))));
}

/** What a request that is not HTTP gets. */
export function malformed(deps: Answering): string {
  const requestId = newId('req', deps.nowMs());
  const body = JSON.stringify(fail(refuse('INVALID_INPUT', {}, 'not an HTTP request'), metaOf(deps, requestId)));
  return (
    `HTTP/1.1 400 Bad Request\r\nX-Request-Id: ${requestId}\r\nContent-Type: application/json; charset=utf-8\r\n` +
    `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`
  );
}

/** Of a refusal that the route table does not list: clients cannot have prepared for it. */
export const UNDOCUMENTED = 'a refusal that the API description does not name';
const codesByRoute = new Map<Listed, ReadonlySet<string>>();

function documented(route: Listed): ReadonlySet<string> {
  const known = codesByRoute.get(route) ?? new Set<string>(codesOf(route));
  codesByRoute.set(route, known);
  return known;
}

/** One line and one measurement for each request; nothing of what was sent. */
export function report(deps: Answering, request: FastifyRequest, reply: FastifyReply): void {
  const route = request.routeOptions.config.route;
  const operationId = route?.operationId ?? 'none';
  const status = reply.statusCode;
  if (route !== undefined && request.code !== null && !documented(route).has(request.code)) {
    deps.log.error({ requestId: request.id, operationId, code: request.code }, UNDOCUMENTED);
  }
  deps.metrics.observeRequest(operationId, status, request.code, reply.elapsedTime / 1_000);
  deps.log[status >= 500 ? 'warn' : 'info'](
    {
      requestId: request.id,
      operationId,
      method: request.method,
      status,
      durationMs: Math.round(reply.elapsedTime),
      ...(request.caller.accountId === null ? {} : { accountId: request.caller.accountId }),
      ...(request.code === null ? {} : { code: request.code }),
    },
    'request',
  );
}
