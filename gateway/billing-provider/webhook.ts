/**
 * Where a provider of payments calls. A call only rings: what was paid is asked of the provider, so that a call that is
 * repeated, late or out of order says nothing wrong. It is kept that the statement is due before the call is answered.
 * Console B18.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { lookAt } from '../../actors/billing/collect.ts';
import { Refused, refuse } from '../../protocol/errors.ts';
import type { GatewayDeps } from '../deps.ts';
import { notServing } from '../http/faults.ts';

export const PROVIDER_WEBHOOK_PATH = '/v1/billing/provider/webhook';
const BYTES_MAX = 262_144;

/** Without a provider the path is unknown. */
export async function serveProviderWebhook(app: FastifyInstance, deps: GatewayDeps): Promise<void> {
  const { collector } = deps.provider;
  if (collector === null) return;
  await app.register(async (calls) => {
    calls.removeAllContentTypeParsers();
    // The signature is over the bytes.
    calls.addContentTypeParser(
      '*',
      { parseAs: 'buffer', bodyLimit: BYTES_MAX },
      async (_: FastifyRequest, body: Buffer) => body,
    );
    calls.post(PROVIDER_WEBHOOK_PATH, { bodyLimit: BYTES_MAX }, async (request, reply) => {
      const trouble = deps.serving?.trouble() ?? null;
      if (trouble !== null) throw new Refused(notServing(trouble));
      const raw = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const said = collector.webhook(raw, request.headers, deps.nowMs());
      if ('refused' in said)
        throw new Refused(
          said.refused === 'body'
            ? refuse('INVALID_INPUT', { field: 'body' })
            : refuse('UNAUTHORIZED', { reason: said.refused, next: 'compare STRIPE_WEBHOOK_SECRET, and the clock' }),
        );
      const { reference } = said;
      const ref =
        reference === null ? null : await deps.stores.billing.ringRequest(collector.name, reference, deps.nowMs());
      if (ref !== null)
        await lookAt({ ...deps, collector }, ref).catch((error: unknown) =>
          deps.log.warn({ err: error, names: [ref.statementId] }, 'a payment is looked at again'),
        );
      return reply.code(204).send();
    });
  });
}
