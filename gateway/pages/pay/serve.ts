/**
 * The hosted pay page: `GET /pay/{slug}` opens nothing (S19), its form opens a payment, `GET /pay/{slug}/{paymentId}`
 * is that payment. payments part 5.
 *
 *   GET  /pay/{slug}                   what is asked, or why nothing is taken; the address of a shared link
 *   POST /pay/{slug}                   303 to the payment; the form again where something is missing
 *   GET  /pay/{slug}/{paymentId}       the payment
 *   GET  /pay/{slug}/{paymentId}/now   the same in words, for the page's script
 *   …    /embed/frame/…                the same in a page of the merchant's, `?origin=` a registered one (E10)
 *   GET  /invoices/{token}             an invoice (`invoice.ts`)
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { findKeyMaterial } from '../../../protocol/node/key-material.ts';
import { isRefusal, refuse, Refused, statusOf, type Refusal } from '../../../protocol/errors.ts';
import { environmentOf } from '../../../protocol/ids.ts';
import { donateBody, openSessionBody } from '../../../protocol/schema/payments.ts';
import type { GatewayDeps } from '../../deps.ts';
import { createClientAddress } from '../../http/client-address.ts';
import { notServing, refusalOrFault } from '../../http/faults.ts';
import type { Checkout, Payer, Place } from '../../http/payment/checkout.ts';
import { serveInvoices } from './invoice.ts';
import {
  FRAME_SCRIPT,
  ICON,
  INVOICE_STYLE,
  linkPage,
  paymentPage,
  placeOfPage,
  plainPage,
  SCRIPT,
  STYLE,
  type Problem,
  type Reader,
} from './page.ts';
import { modelOf, type Session } from './model.ts';
import type { Word } from './words/en.ts';
import { languageOf, sayIn } from './words.ts';

/** payments H12. */
export const PAY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');
const HEADERS = {
  'content-security-policy': PAY_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': '',
  'x-robots-tag': 'noindex, nofollow',
  'cache-control': 'no-store',
} as const;
/** Of a page in a frame: nobody but the page that it speaks to may frame it. payments E10. */
const framedHeaders = (frame: string) => {
  const { 'cross-origin-opener-policy': _, ...headers } = HEADERS;
  return {
    ...headers,
    'content-security-policy': PAY_POLICY.replace("frame-ancestors 'none'", `frame-ancestors ${frame}`),
  };
};
const FOREVER = 'public, max-age=31536000, immutable';
const FRAME = '/embed/frame';
/** Where the pages are: on their own, and in a page of the merchant's. */
const BASES = ['/pay', FRAME] as const;
const FORM_BYTES_MAX = 16_384;

type Params = { slug: string; paymentId: string };
type Query = Record<string, string | string[] | undefined>;

const textIn = (fields: object | null | undefined, name: string): string => {
  const value = (fields as Record<string, unknown> | null | undefined)?.[name];
  return typeof value === 'string' ? value.trim() : '';
};

/** The words of a refusal that a payer can read. */
function wordOf({ code, details }: Refusal): Word {
  if (code === 'RATE_LIMIT_EXCEEDED') return 'slow';
  if (code === 'MERCHANT_NOT_ACTIVE' || code === 'ACCOUNT_SUSPENDED' || code === 'NO_SUBSCRIPTION') return 'notActive';
  if (code === 'INVALID_AMOUNT') return 'badAmount';
  if (code === 'INVALID_INPUT') return details['field'] === 'amount' ? 'badAmount' : 'badEmail';
  if (code !== 'CONFLICT') return 'notNow';
  const words: Readonly<Record<string, Word>> = { paused: 'paused', max_uses: 'usedUp' };
  return words[String(details['reason'])] ?? 'closedManual';
}

/** A page of another site may not open payments for its visitors. payments H1. */
function isForeign({ headers }: FastifyRequest, own: ReadonlySet<string>): boolean {
  const { origin } = headers,
    site = headers['sec-fetch-site'];
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  // A page without referrers sends its forms as of no origin.
  return origin !== undefined && origin !== 'null' && !own.has(origin);
}

export async function servePay(
  app: FastifyInstance,
  deps: Pick<GatewayDeps, 'config' | 'serving' | 'log' | 'rateLimiter' | 'nowMs'> & {
    readonly stores: Pick<GatewayDeps['stores'], 'reads' | 'invoices'>;
  },
  checkout: Checkout,
  isDraining: () => boolean,
): Promise<void> {
  const { config, serving } = deps;
  const addressOf = createClientAddress(config.trustedProxies ?? []),
    own = new Set([config.publicUrl, config.payUrl ?? config.publicUrl].map((url) => new URL(url).origin));
  const client = ({ socket, headers }: FastifyRequest): string =>
    addressOf(socket.remoteAddress ?? '', headers['x-forwarded-for']?.toString());
  const payerOf = (request: FastifyRequest): Payer => ({
    clientAddress: client(request),
    origin: undefined,
    setHeader: () => undefined,
    wasThere: () => undefined,
  });
  const send = (reply: FastifyReply, status: number, page: string, frame: string | null = null): FastifyReply =>
    reply
      .code(status)
      .headers(frame === null ? HEADERS : framedHeaders(frame))
      .type('text/html; charset=utf-8')
      .send(page);
  const readerIn = (
    request: FastifyRequest,
    of: { readonly payment: string | null; readonly merchant: string | null },
    environment: Reader['environment'],
    frame: string | null = null,
  ): Reader => {
    const asked = textIn(request.query as Query, 'lang') || textIn(request.body as object | null, 'lang');
    const language = languageOf({
      lang: asked === '' ? null : asked,
      accepted: request.headers['accept-language'],
      ...of,
    });
    return { language, say: sayIn(language), environment, frame };
  };
  const isFramed = ({ routeOptions }: FastifyRequest): boolean => routeOptions.url?.startsWith(FRAME) === true;
  /** The page that frames this one, where the account registered it: checked with each request. */
  const frameOf = (request: FastifyRequest, { state }: Place): string | null => {
    const origin = textIn(request.query as Query, 'origin');
    return isFramed(request) && state.paymentSettings.origins.includes(origin) ? origin : null;
  };
  /** The link that is meant, for a page that may show it. */
  const placeOf = async (request: FastifyRequest, of: Parameters<Checkout['placeOf']>[1]): Promise<Place | Refusal> => {
    const place = await checkout.placeOf(payerOf(request), of);
    if (isRefusal(place) || !isFramed(request) || frameOf(request, place) !== null) return place;
    return refuse('ORIGIN_NOT_REGISTERED');
  };
  const readerOf = (request: FastifyRequest, place: Place | null): Reader =>
    readerIn(
      request,
      { payment: null, merchant: place?.state.paymentSettings.language ?? null },
      place === null ? 'live' : environmentOf(place.link.accountId),
      place === null ? null : frameOf(request, place),
    );
  /** The same page whatever there is none of. */
  const none = (request: FastifyRequest, reply: FastifyReply, refusal: Refusal): FastifyReply => {
    const reader = readerOf(request, null),
      isUnknown = refusal.code === 'NOT_FOUND';
    const retry = refusal.details['retryAfterSeconds'];
    if (typeof retry === 'number') void reply.header('retry-after', String(retry));
    const title = reader.say(isUnknown ? 'unknown' : wordOf(refusal));
    return send(reply, statusOf(refusal.code), plainPage(title, isUnknown ? reader.say('unknownHelp') : '', reader));
  };
  /** The payment of this very link. */
  const sessionOf = async (request: FastifyRequest): Promise<{ place: Place; session: Session } | Refusal> => {
    const { slug, paymentId } = request.params as Params;
    const place = await placeOf(request, { paymentId });
    if (isRefusal(place)) return place;
    const session = await checkout.paymentOf(place, paymentId);
    if (isRefusal(session)) return session;
    return place.link.slug === slug ? { place, session } : checkout.none(paymentId);
  };

  await app.register(async (pages) => {
    const files: ReadonlySet<string> = new Set(
      [STYLE, SCRIPT, FRAME_SCRIPT, ICON, INVOICE_STYLE].map(({ path }) => path),
    );
    // A node that may own nothing, or stops, decides nothing: for a page as for the API.
    pages.addHook('onRequest', async ({ routeOptions }) => {
      if (files.has(routeOptions.url ?? '')) return;
      if (isDraining()) throw new Refused(notServing('stopping'));
      const trouble = serving?.trouble() ?? null;
      if (trouble !== null) throw new Refused(notServing(trouble));
    });
    pages.setErrorHandler((error, request, reply) => none(request, reply, refusalOrFault(error, deps, request.id)));
    /** Work that a trouble which begins meanwhile ends, as that of the API. */
    const whole =
      (work: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>) =>
      (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> =>
        serving?.whileServing(work(request, reply)) ?? work(request, reply);
    pages.removeAllContentTypeParsers();
    pages.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'buffer', bodyLimit: FORM_BYTES_MAX },
      async (_request: FastifyRequest, body: Buffer) =>
        findKeyMaterial(body) === null ? Object.fromEntries(new URLSearchParams(body.toString('utf8'))) : null,
    );
    for (const [file, type] of [
      [STYLE, 'text/css; charset=utf-8'],
      [INVOICE_STYLE, 'text/css; charset=utf-8'],
      [SCRIPT, 'text/javascript; charset=utf-8'],
      [FRAME_SCRIPT, 'text/javascript; charset=utf-8'],
      [ICON, 'image/svg+xml'],
    ] as const)
      pages.get(file.path, async (_request, reply) =>
        reply.headers({ 'cache-control': FOREVER, 'x-content-type-options': 'nosniff' }).type(type).send(file.body),
      );

    serveInvoices(pages, deps, {
      client,
      send,
      none,
      whole,
      readerOf: (request, language, environment) =>
        readerIn(request, { payment: language, merchant: null }, environment),
    });

    for (const base of BASES) servePages(base);
    function servePages(base: string): void {
      pages.get(
        `${base}/:slug`,
        whole(async (request, reply) => {
          const place = await placeOf(request, { slug: (request.params as Params).slug });
          if (isRefusal(place)) return none(request, reply, place);
          return showLink(request, reply, place, null);
        }),
      );

      pages.post(
        `${base}/:slug`,
        whole(async (request, reply) => {
          const { slug } = request.params as Params,
            payer = payerOf(request);
          const place = await placeOf(request, { slug });
          if (isRefusal(place)) return none(request, reply, place);
          const reader = readerOf(request, place);
          if (isForeign(request, own)) return send(reply, 403, plainPage(reader.say('notNow'), '', reader));
          const fields = request.body as object | null;
          const given = {
            email: textIn(fields, 'email'),
            name: textIn(fields, 'name'),
            amount: textIn(fields, 'amount'),
          };
          const opened = fields === null ? null : await open(place, payer, given, reader.language);
          if (opened === null || isRefusal(opened))
            return showLink(
              request,
              reply,
              place,
              {
                ...given,
                text: reader.say(opened === null ? 'badEmail' : wordOf(opened)),
              },
              opened === null ? 400 : statusOf(opened.code),
            );
          const amount = opened.paymentId === null ? `&amount=${encodeURIComponent(given.amount)}` : '';
          return reply.headers(HEADERS).redirect(`${placeOfPage(reader, slug, opened.paymentId)}${amount}`, 303);
        }),
      );

      pages.get(
        `${base}/:slug/:paymentId`,
        whole(async (request, reply) => {
          const found = await sessionOf(request);
          if (isRefusal(found)) return none(request, reply, found);
          const { slug, paymentId } = request.params as Params;
          const reader = readerOf(request, found.place);
          return send(reply, 200, paymentPage(found.session, `/pay/${slug}/${paymentId}`, reader), reader.frame);
        }),
      );
    }

    pages.get(
      '/pay/:slug/:paymentId/now',
      whole(async (request, reply) => {
        const found = await sessionOf(request);
        if (isRefusal(found)) return none(request, reply, found);
        return reply
          .headers(HEADERS)
          .send(modelOf(found.session, readerOf(request, found.place).say, environmentOf(found.place.link.accountId)));
      }),
    );
  });

  /** The form, or the address of a shared link: what is shown of that needs no payment. payments S4. */
  async function showLink(
    request: FastifyRequest,
    reply: FastifyReply,
    place: Place,
    problem: Problem | null,
    status = 200,
  ): Promise<FastifyReply> {
    const view = checkout.linkOf(place),
      reader = readerOf(request, place);
    if (place.link.addressMode !== 'shared' || !view.open || problem !== null)
      return send(reply, status, linkPage(view, problem, reader), reader.frame);
    const session = await checkout.sharedOf(place, textIn(request.query as Query, 'amount'));
    return send(reply, status, paymentPage(session, null, reader), reader.frame);
  }

  /** Null for what the form does not take. */
  async function open(
    { link }: Place,
    payer: Payer,
    { email, name, amount }: Omit<Problem, 'text'>,
    lang: string,
  ): Promise<Session | Refusal | null> {
    const said = { ...(email === '' ? {} : { email }), ...(name === '' ? {} : { name }), lang };
    const params = { slug: link.slug };
    if (link.mode === 'fixed') {
      const body = openSessionBody.safeParse(said);
      return body.success ? checkout.open({ ...payer, params, body: body.data }, null, 'fixed') : null;
    }
    const body = donateBody.safeParse({ ...said, ...(amount === '' ? {} : { amount }) });
    return body.success
      ? checkout.open({ ...payer, params, body: body.data }, body.data.amount ?? null, 'donation')
      : null;
  }
}
