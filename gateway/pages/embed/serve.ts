/**
 * `<flock-pay>` for pages of merchants: `GET /embed/{hash}/flock-pay.js`, under a name that is its content, for ever.
 * A page pins the bytes (`integrity`), so that each one that was released is served for two years. payments E2.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';

const KEPT = new URL('kept/', import.meta.url);
const HEADERS = {
  'cache-control': 'public, max-age=31536000, immutable',
  'x-content-type-options': 'nosniff',
  // What is pinned by its bytes must be readable by whichever page loads it.
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
} as const;

export interface KeptElement {
  readonly path: string;
  /** As a `script` names it. */
  readonly integrity: string;
  readonly body: string;
}

/** Every release of the element. Throws: Error where a file is not what its name says. */
export function keptElements(): KeptElement[] {
  return readdirSync(KEPT)
    .filter((file) => file.endsWith('.js'))
    .map((file) => {
      const body = readFileSync(new URL(file, KEPT), 'utf8'),
        name = createHash('sha256').update(body).digest('hex').slice(0, 16);
      if (file !== `${name}.js`) throw new Error(`gateway/pages/embed/kept/${file} is not what its name says`);
      const integrity = `sha384-${createHash('sha384').update(body).digest('base64')}`;
      return { path: `/embed/${name}/flock-pay.js`, integrity, body };
    });
}

export function serveElement(app: FastifyInstance): void {
  for (const { path, body } of keptElements())
    app.get(path, async (_request, reply) => reply.headers(HEADERS).type('text/javascript; charset=utf-8').send(body));
}
