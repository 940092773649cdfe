/**
 * The REST server. Each request passes the same checks in the order of the error table: path and method, size and media
 * type, API key or bearer, the edge's signature, the body against its digest, key material, role, input. What is over
 * its rate limit is refused as soon as it is known who asks, before it is looked through (`admission.ts`). Then a
 * handler asks, and the answer is put in the envelope. The gateway decides nothing.
 */
import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type ErrorCode, isRefusal, notFound, Refused, refuse } from '../../protocol/errors.ts';
import { STREAM_PATH } from '../../protocol/frames.ts';
import { newId } from '../../protocol/node/ids.ts';
import { BODY_BYTES_MAX, bodyBytesOf } from '../../protocol/route.ts';
import { limitBody } from '../../protocol/node/late-body.ts';
import { ROUTE_LIST } from '../../protocol/routes.ts';
import type { GatewayDeps } from '../deps.ts';
import { serveProviderWebhook } from '../billing-provider/webhook.ts';
import { serveConsole } from '../pages/console.ts';
import { serveDocs } from '../pages/docs.ts';
import { serveSamlPost } from '../pages/saml-post.ts';
import { serveExplorer } from '../pages/explorer.ts';
import { serveSecurityTxt } from '../pages/security-txt.ts';
import { serveElement } from '../pages/embed/serve.ts';
import { servePay } from '../pages/pay/serve.ts';
import { setTimeout as rest } from 'node:timers/promises';
import { createAdmission } from './admission.ts';
import { malformed, report, sendRefusal } from './answers.ts';
import { createAuth, type Auth } from './auth/auth.ts';
import { notOfOutsiders } from './auth/outside-issuer.ts';
import { checkDigest, guardHead, parseBody } from './body.ts';
import { NOBODY, type Caller } from './context.ts';
import { notServing, refusalOrFault } from './faults.ts';
import { createHandlers } from './handlers.ts';
import { checkHead, headOf, unmatched, type Listed } from './head.ts';
import { CONTENT_MS, CONTENT_PATH, serveContent } from './migration/content.ts';
import { createCheckout } from './payment/checkout.ts';
import { endConnections } from './end-connections.ts';
import { createTurns, LARGE_BYTES, OF_BODIES } from './large-bodies.ts';
import { createEconomics } from './payment/economics.ts';
import { servesOn } from './pay-host.ts';
import { servePreflight } from './payment/preflight.ts';
import { createPipeline, WITHOUT_DATABASE } from './pipeline.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller;
    bodyRead: boolean;
    code: ErrorCode | null;
  }
  interface FastifyContextConfig {
    route?: Listed;
  }
}

export interface Gateway {
  readonly app: FastifyInstance;
  /** For the edge stream's handshake. */
  readonly auth: Auth;
  /** Listens and answers the origin. */
  listen(host: string, port: number): Promise<string>;
  /**
   * From now on `/health/ready` says no. Requests are answered SERVICE_UNAVAILABLE, or as before where other nodes
   * serve them (`serving`).
   */
  drain(how?: { readonly serving: boolean }): void;
  /** Waits for what is at work and closes. Of a gateway that serves to the end no request is cut. */
  close(): Promise<void>;
}

/** Bounds of one connection, milliseconds. */
const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_MS = 72_000;
const PARAMETER_CHARS_MAX = 600;
/** A caller whose request is none has this long to read why. */
const GONE_MS = 1_000;

/** A gateway over its ports; nothing listens yet. */
export async function createGateway(deps: GatewayDeps): Promise<Gateway> {
  const auth = await createAuth(deps);
  const state = { draining: false, serving: false, ending: false };
  const app = createApp(deps);
  const admit = createAdmission(deps);
  const isServed = servesOn(deps.config.publicUrl, deps.config.payUrl);
  app.addHook('onRequest', async (request, reply) => {
    void reply.header('x-request-id', request.id);
    const { path } = headOf(request);
    if (!isServed(request.headers.host, path)) {
      sendRefusal(deps, request, reply, notFound('path', path));
      request.code = null; // no route of this host has refused anything
      return reply;
    }
    const { route } = request.routeOptions.config;
    if (route === undefined) return;
    const elsewhere = notOfOutsiders(deps.config, route);
    if (elsewhere !== null) {
      sendRefusal(deps, request, reply, elsewhere);
      request.code = null; // as of a path that is none
      return reply;
    }
    if (state.draining && !state.serving && route.tag !== 'Health') {
      throw new Refused(refuse('SERVICE_UNAVAILABLE', { reason: 'stopping', retryAfterSeconds: 1 }));
    }
    const trouble = deps.serving?.trouble() ?? null;
    if (trouble !== null && !WITHOUT_DATABASE.has(route.operationId)) throw new Refused(notServing(trouble));
    checkHead(route, request);
    const authenticated = auth.credentials.authenticate(route, headOf(request), (caller, isPinned) =>
      admit(route, request, reply, caller, isPinned),
    );
    const caller = await (WITHOUT_DATABASE.has(route.operationId)
      ? authenticated
      : (deps.serving?.whileServing(authenticated) ?? authenticated));
    if (isRefusal(caller)) throw new Refused(caller);
    request.caller = caller;
    guardHead(request.raw.url ?? '', request.headers);
  });
  app.addHook('onSend', async (_request, reply) => {
    if (state.ending) void reply.header('connection', 'close');
  });
  const economics = createEconomics(deps),
    checkout = createCheckout(deps, economics);
  const serve = createPipeline(
    deps,
    createHandlers({ ...deps, auth, isDraining: () => state.draining, economics, checkout }),
    auth,
  );
  for (const route of ROUTE_LIST.filter(({ where }) => where !== 'edge')) {
    app.route({
      method: route.method,
      url: route.path.replace(/\{([a-zA-Z]+)\}/g, ':$1'),
      config: { route },
      bodyLimit: bodyBytesOf(route),
      handler: (request, reply) => serve(route, request, reply),
    });
  }
  serveDocs(app, deps.docs);
  serveSecurityTxt(app, {
    contact: deps.config.securityContact ?? null,
    origin: deps.config.publicUrl,
    nowMs: deps.nowMs,
  });
  serveConsole(app, deps.console);
  await serveSamlPost(app, deps);
  await serveProviderWebhook(app, deps);
  serveExplorer(app, deps.sandbox, deps.chains.tokens);
  await servePay(app, deps, checkout, () => state.draining && !state.serving);
  servePreflight(app, deps, checkout);
  serveElement(app);
  serveContent(app, deps);
  return {
    app,
    auth,
    async listen(host, port) {
      await app.listen({ host, port });
      const { address, port: bound } = app.server.address() as AddressInfo;
      return `http://${address.includes(':') ? `[${address}]` : address}:${bound}`;
    },
    drain(how = { serving: false }) {
      state.draining = true;
      state.serving = how.serving;
    },
    async close() {
      if (state.serving) {
        state.ending = true;
        await endConnections(app.server);
      }
      state.draining = true;
      await app.close();
    },
  };
}

/** Fastify without its logger, its parsers and its answers: bodies, errors and unknown paths are ours. */
function createApp(deps: GatewayDeps): FastifyInstance {
  const failed = (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    sendRefusal(deps, request, reply, refusalOrFault(error, deps, request.id, request.routeOptions.bodyLimit));
  };
  const app = Fastify({
    logger: false,
    genReqId: () => newId('req', deps.nowMs()),
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: CONTENT_MS, // of the file of an import; the others have `limitBody`
    keepAliveTimeout: KEEP_ALIVE_MS,
    return503OnClosing: false, // our own answer, in the envelope
    // Only the edge stream is a WebSocket. Elsewhere an offer of another protocol (h2c) is passed over: RFC 9110 §7.8.
    http: {
      headersTimeout: REQUEST_TIMEOUT_MS,
      shouldUpgradeCallback: ({ url }) => url?.startsWith(STREAM_PATH) === true,
      requireHostHeader: false,
    },
    routerOptions: { maxParamLength: PARAMETER_CHARS_MAX },
    frameworkErrors: failed as never,
    clientErrorHandler: (_error, socket) => {
      socket.end(malformed(deps));
      setTimeout(() => socket.destroy(), GONE_MS).unref(); // a client that does not close holds no socket
    },
  });
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.decorateRequest('caller');
  app.decorateRequest('bodyRead', false);
  app.decorateRequest('code', null);
  app.addHook('onRequest', async (request) => {
    request.caller = NOBODY;
    if (request.routeOptions.url !== CONTENT_PATH) limitBody(app.server, request.raw, REQUEST_TIMEOUT_MS);
    const { headers, raw } = request;
    if (headers.host === undefined && raw.httpVersion === '1.1')
      throw new Refused(refuse('INVALID_INPUT', { header: 'Host' }));
  });
  app.removeAllContentTypeParsers();
  const inTurn = createTurns(OF_BODIES, (ms) => rest(ms, undefined, { ref: false }));
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    checkDigest(request.caller, body);
    request.bodyRead = true;
    return body.length > LARGE_BYTES ? inTurn(() => parseBody(body)) : parseBody(body);
  });
  app.addHook('onResponse', async (request, reply) => report(deps, request, reply));
  app.setErrorHandler(failed);
  app.setNotFoundHandler((request, reply) => {
    sendRefusal(deps, request, reply, unmatched(request, reply));
  });
  return app;
}
