/**
 * `/.well-known/security.txt` (RFC 9116): where those who found a fault write to. Served where the operator says where
 * that is, `SECURITY_CONTACT`.
 */
import type { FastifyInstance } from 'fastify';

/** What may be a contact. */
export const CONTACT = /^(?:mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/;
/** RFC 9116 2.5.5 asks for less than a year. */
const GOOD_FOR_MS = 180 * 86_400_000;
const DAY_MS = 86_400_000;

/** Serves the file. `contact`: an address to write to, a URL or a `mailto:`; null: there is no such file. */
export function serveSecurityTxt(
  app: FastifyInstance,
  {
    contact,
    origin,
    nowMs,
  }: { readonly contact: string | null; readonly origin: string; readonly nowMs: () => number },
): void {
  if (contact === null) return;
  app.get('/.well-known/security.txt', async (_request, reply) => {
    const until = new Date(Math.ceil((nowMs() + GOOD_FOR_MS) / DAY_MS) * DAY_MS);
    return reply
      .header('x-content-type-options', 'nosniff')
      .type('text/plain; charset=utf-8')
      .send(
        [
          `Contact: ${contact}`,
          `Expires: ${until.toISOString().replace('.000Z', 'Z')}`,
          'Preferred-Languages: en',
          `Canonical: ${origin}/.well-known/security.txt`,
          '',
        ].join('\n'),
      );
  });
}
