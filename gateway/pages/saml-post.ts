/**
 * Where SAML providers post their answers: what came is kept with the sign-in that it names, and the browser is led to
 * the page of the console that asks for the rest, with its own cookie. Nobody is signed in here. Console A39, A40.
 */
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Refused } from '../../protocol/errors.ts';
import type { GatewayDeps } from '../deps.ts';
import { SAML_BYTES_MAX } from '../http/auth/saml.ts';
import { createThrottles } from '../http/auth/throttles.ts';
import { createClientAddress } from '../http/client-address.ts';
import { notServing } from '../http/faults.ts';

const PATH = '/console/sso';
/** Base64, with every sign of it as three of a form. */
const FORM_BYTES_MAX = 3 * SAML_BYTES_MAX;
const STATE = /^[A-Za-z0-9_-]{43}$/;

export async function serveSamlPost(app: FastifyInstance, deps: GatewayDeps): Promise<void> {
  const addressOf = createClientAddress(deps.config.trustedProxies ?? []);
  const throttles = createThrottles(deps);
  await app.register(async (pages) => {
    pages.removeAllContentTypeParsers();
    pages.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: FORM_BYTES_MAX },
      async (_request: FastifyRequest, body: string) => new URLSearchParams(body),
    );
    // Before the form is read: it is as long as it may be, and anybody may send one.
    const onRequest = async ({ socket, headers }: FastifyRequest): Promise<void> => {
      const trouble = deps.serving?.trouble() ?? null;
      if (trouble !== null) throw new Refused(notServing(trouble));
      const slow = await throttles.ofAddress(
        addressOf(socket.remoteAddress ?? '', headers['x-forwarded-for']?.toString()),
      );
      if (slow !== null) throw new Refused(slow);
    };
    pages.post(PATH, { bodyLimit: FORM_BYTES_MAX, onRequest }, async (request, reply) => {
      const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
      const [state, response] = [form.get('RelayState') ?? '', (form.get('SAMLResponse') ?? '').replace(/\s+/g, '')];
      const isKept = STATE.test(state) && response !== '' && response.length <= (SAML_BYTES_MAX * 4) / 3 + 4;
      const hash = createHash('sha256').update(state).digest('hex');
      if (isKept) await deps.stores.sso.bring(hash, response, deps.nowMs());
      return reply
        .header('cache-control', 'no-store')
        .header('referrer-policy', 'no-referrer')
        .redirect(isKept ? `${PATH}?state=${state}` : PATH, 303);
    });
  });
}
