/**
 * What a browser asks before a page of another origin may ask a checkout: answered for the origins that the link's
 * account registered, and for no other. payments E8.
 */
import type { FastifyInstance } from 'fastify';
import { isRefusal, notFound } from '../../../protocol/errors.ts';
import type { GatewayDeps } from '../../deps.ts';
import { sendRefusal } from '../answers.ts';
import { createClientAddress } from '../client-address.ts';
import type { Checkout, Payer } from './checkout.ts';

/** Seconds that a browser keeps the answer: an origin that is taken away is refused soon. */
const KEPT_SECONDS = 600;

/** `links/{slug}`, with a door or without, and `sessions/{id}`. */
function placeIn(path: string): { slug: string } | { paymentId: string } | null {
  const [, kind, name] = /^(links|sessions)\/([^/]+)(?:\/[a-z]+)?$/.exec(path) ?? [];
  if (name === undefined) return null;
  return kind === 'links' ? { slug: name } : { paymentId: name };
}

export function servePreflight(app: FastifyInstance, deps: GatewayDeps, checkout: Checkout): void {
  const addressOf = createClientAddress(deps.config.trustedProxies ?? []);
  app.options<{ Params: { '*': string } }>('/v1/checkout/*', async (request, reply) => {
    const { headers, socket, params } = request;
    const payer: Payer = {
      clientAddress: addressOf(socket.remoteAddress ?? '', headers['x-forwarded-for']?.toString()),
      origin: headers.origin,
      setHeader: (name, value) => void reply.header(name, value),
      wasThere: () => undefined,
    };
    const of = placeIn(params['*']);
    const place = of === null ? notFound('payment link', params['*']) : await checkout.placeOf(payer, of);
    if (isRefusal(place)) return sendRefusal(deps, request, reply, place);
    return reply
      .code(204)
      .headers({
        'access-control-allow-methods': 'GET, POST',
        'access-control-allow-headers': 'content-type',
        'access-control-max-age': String(KEPT_SECONDS),
      })
      .send();
  });
}
