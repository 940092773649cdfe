/**
 * The documentation under /docs/: files by name, pages also without their ending. Nothing of it is made here, and no
 * page of it asks anything of another host. Ecosystem X37, X45.
 */
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { OpenDocs } from '../../model/ports/doc-files.ts';
import { Refused, refuse } from '../../protocol/errors.ts';

/** No inline script or style, nothing of another host, and no form. */
export const DOCS_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': DOCS_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  vary: 'accept-encoding',
} as const;

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  md: 'text/markdown; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
};

/** Files that are named by their content are asked for once. */
const HASHED = /-[0-9a-f]{8}\.[a-z]+$/;
/** Smaller ones travel as they are. */
const PLAIN_BYTES_MAX = 1_024;
const BROTLI_QUALITY = 6;
const compress = promisify(brotliCompress);

/** Serves the documentation; where there is none its paths are answered as unknown ones. */
export function serveDocs(app: FastifyInstance, open: OpenDocs | undefined): void {
  if (open === undefined) return;
  const compressed = new Map<string, Promise<Buffer>>();
  app.get('/docs', async (_request, reply) => reply.redirect('/docs/'));
  app.get<{ Params: { '*': string } }>('/docs/*', async (request, reply) => {
    const fileOf = await open().catch(() => {
      throw new Refused(refuse('SERVICE_UNAVAILABLE', { reason: 'no documentation', next: 'npm run docs:build' }));
    });
    const asked = request.params['*'];
    const name = [asked === '' ? 'index.html' : asked, `${asked}.html`, `${asked}index.html`].find(
      (one) => TYPES[endingOf(one)] !== undefined && fileOf(one) !== undefined,
    );
    if (name === undefined) {
      const said = 'There is no such page. The documentation begins at /docs/.\n';
      return reply.code(404).headers(HEADERS).type(TYPES['txt']!).send(said);
    }
    const body = fileOf(name)!;
    void reply.header('cache-control', HASHED.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache');
    if (body.length <= PLAIN_BYTES_MAX || !/\bbr\b/.test(String(request.headers['accept-encoding'] ?? '')))
      return send(reply, name, body);
    const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
    let small = compressed.get(name);
    if (small === undefined) compressed.set(name, (small = compress(body, { params })));
    return send(reply.header('content-encoding', 'br'), name, await small);
  });
}

const endingOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

const send = (reply: FastifyReply, name: string, body: Uint8Array): FastifyReply =>
  reply.headers(HEADERS).type(TYPES[endingOf(name)]!).send(body);
