/** The head of a request: where it goes, how large it is, which key it carries. Nothing of the body. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { JSON_TYPE } from '../../protocol/envelope.ts';
import { Refused, refuse, type Refusal } from '../../protocol/errors.ts';
import { bodyBytesOf } from '../../protocol/route.ts';
import { ROUTE_LIST } from '../../protocol/routes.ts';
import { unknownPath } from '../../protocol/unknown-path.ts';
import type { SignedHead } from './auth/edge-signature.ts';
import { guardHead } from './body.ts';
import { KEY_CHARS_MAX } from './idempotency.ts';

export type Listed = (typeof ROUTE_LIST)[number];

/** The head as it is signed. */
export function headOf(request: {
  readonly raw: { readonly url?: string | undefined; readonly method?: string | undefined };
  readonly headers: FastifyRequest['headers'];
}): SignedHead {
  const url = request.raw.url ?? '/';
  const at = url.indexOf('?');
  return {
    method: request.raw.method ?? 'GET',
    authority: request.headers.host ?? '',
    path: at === -1 ? url : url.slice(0, at),
    query: at === -1 ? '?' : url.slice(at),
    headers: request.headers,
  };
}

/** Size and media type, from the headers alone. Throws: Refused PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE. */
export function checkHead(route: Listed, { headers }: FastifyRequest): void {
  const limit = bodyBytesOf(route);
  const length = Number(headers['content-length'] ?? 0);
  if (length > limit) throw new Refused(refuse('PAYLOAD_TOO_LARGE', { maxBytes: limit }));
  if (length === 0 && headers['transfer-encoding'] === undefined) return;
  const json = JSON_TYPE.test(headers['content-type'] ?? '');
  if (!json || headers['content-encoding'] !== undefined) {
    throw new Refused(refuse('UNSUPPORTED_MEDIA_TYPE', { expected: 'application/json' }));
  }
}

/** Refuses: INVALID_INPUT for a key that is empty or too long; null where there is none. */
export function idempotencyKeyOf({ headers }: FastifyRequest): string | null | Refusal {
  const key = headers['idempotency-key'];
  if (key === undefined) return null;
  const text = Array.isArray(key) ? key.join() : key;
  if (text.length >= 1 && text.length <= KEY_CHARS_MAX) return text;
  return refuse('INVALID_INPUT', { header: 'Idempotency-Key', expected: `1 to ${KEY_CHARS_MAX} characters` });
}

const CLIENT_CHARS_MAX = 200;

/** `User-Agent` without what cannot be shown in a line. */
export function clientOf(header: string | undefined): string {
  const plain = (header ?? '').replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\uFFFD]+/gu, ' ').trim();
  return [...plain].slice(0, CLIENT_CHARS_MAX).join('');
}

/** Cookies by name; the last of one name counts. */
export function cookiesOf(header: string | undefined): Record<string, string> {
  const pairs = (header ?? '')
    .split(';')
    .map((pair) => pair.split('=', 2).map((part) => part.trim()) as [string, string | undefined]);
  const named = pairs.filter(([name, value]) => name !== '' && value !== undefined);
  return Object.fromEntries(named) as Record<string, string>;
}

const SERVED = ROUTE_LIST.filter(({ where }) => where !== 'edge');

/**
 * What a path that is not served gets: 405 where another method is. Throws: Refused KEY_MATERIAL_REJECTED, as for every
 * path.
 */
export function unmatched(request: FastifyRequest, reply: FastifyReply): Refusal {
  const { allow, refusal } = unknownPath(request.method, headOf(request).path, SERVED, 'edge');
  if (allow === null)
    guardHead(request.raw.url ?? '', {}); // what is repeated is looked through first
  else void reply.header('allow', allow);
  return refusal;
}
