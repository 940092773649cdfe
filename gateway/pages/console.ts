/**
 * The web console under /console/: a shell for every page of it, and its files by name. It asks the public API from
 * the browser; nothing of it is rendered here. Console C1, C2.
 */
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { ConsoleFile, OpenConsole } from '../../model/ports/console-files.ts';
import { Refused, refuse } from '../../protocol/errors.ts';

/** No inline script or style, no text that becomes markup, nothing of another host. */
export const CONSOLE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': CONSOLE_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-robots-tag': 'noindex',
  vary: 'accept-encoding',
} as const;

/** Files are named by their content; the shell is asked for again each time. */
const FOREVER = 'public, max-age=31536000, immutable';
/** A name with an ending is a file of the console, never one of its pages. */
const FILE = /^[^/]*\.[a-z0-9]{2,5}$/;

/** Serves the console; where there is none its paths are answered as unknown ones. */
export function serveConsole(app: FastifyInstance, open: OpenConsole | undefined): void {
  if (open === undefined) return;
  app.get('/', async (_request, reply) => reply.redirect('/console/')); // what a person opens first
  app.get('/console', async (_request, reply) => reply.redirect('/console/'));
  app.get<{ Params: { '*': string } }>('/console/*', async (request, reply) => {
    const files = await open().catch(() => {
      throw new Refused(refuse('SERVICE_UNAVAILABLE', { reason: 'no console', next: 'npm run console:build' }));
    });
    const name = request.params['*'],
      accepted = String(request.headers['accept-encoding'] ?? '');
    const file = files.get(name);
    if (file !== undefined && name !== 'index.html') {
      return send(reply.header('cache-control', FOREVER), file, accepted);
    }
    if (FILE.test(name) && name !== 'index.html') {
      return reply.code(404).headers(HEADERS).type('text/plain; charset=utf-8').send('There is no such file.\n');
    }
    return send(reply.header('cache-control', 'no-cache'), files.get('index.html')!, accepted);
  });
}

function send(reply: FastifyReply, { type, body, br, gzip }: ConsoleFile, accepted: string): FastifyReply {
  const [encoding, bytes] = /\bbr\b/.test(accepted)
    ? (['br', br] as const)
    : /\bgzip\b/.test(accepted)
      ? (['gzip', gzip] as const)
      : ([null, body] as const);
  if (encoding !== null) void reply.header('content-encoding', encoding);
  return reply.headers(HEADERS).type(type).send(bytes);
}
