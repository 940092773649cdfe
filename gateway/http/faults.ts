/** What broke, as a refusal: a chain that does not answer, Fastify's own complaints, and everything else. */
import { ChainUnavailable } from '../../chains/chain.ts';
import { Refused, refuse, type Refusal } from '../../protocol/errors.ts';
import { BODY_BYTES_MAX } from '../../protocol/route.ts';
import type { GatewayDeps } from '../deps.ts';

type Faulty = Pick<GatewayDeps, 'log' | 'serving'>;

/** Codes of Fastify that a caller can cause. */
const FASTIFY: Readonly<Record<string, (maxBytes: number) => Refusal>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: (maxBytes) => refuse('PAYLOAD_TOO_LARGE', { maxBytes }),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => refuse('UNSUPPORTED_MEDIA_TYPE'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    refuse('INVALID_INPUT', { field: 'body' }, 'the body is not as long as announced'),
  FST_ERR_BAD_URL: () => refuse('INVALID_INPUT', { field: 'path' }, 'the path is not valid percent-encoding'),
  FST_ERR_MAX_PARAM_LENGTH: () => refuse('NOT_FOUND', { reason: 'a part of the path is longer than any id' }),
};

/** The refusal that an error stands for, or null when it is a fault of ours. `maxBytes` is what a body may have. */
export function refusalOf(error: unknown, maxBytes: number = BODY_BYTES_MAX): Refusal | null {
  if (error instanceof Refused) return error.refusal;
  if (error instanceof ChainUnavailable) {
    return refuse('CHAIN_UNAVAILABLE', { chain: error.chain, reason: error.reason });
  }
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? (FASTIFY[code]?.(maxBytes) ?? null) : null;
}

/** The answer while the node or its database does not serve: nothing is wrong with what was asked. */
export const notServing = (reason: string): Refusal => refuse('SERVICE_UNAVAILABLE', { reason, retryAfterSeconds: 1 });

/** The refusal of an error; one that the caller did not cause is logged and becomes INTERNAL_ERROR. */
export function refusalOrFault(
  error: unknown,
  { log, serving }: Faulty,
  requestId: string,
  maxBytes?: number,
): Refusal {
  const known = refusalOf(error, maxBytes);
  if (known !== null) return known;
  if (serving?.isAway(error) === true) {
    log.warn({ err: error, requestId }, 'the database did not serve a request');
    return notServing('database');
  }
  log.error({ err: error, requestId }, 'a request failed');
  return refuse('INTERNAL_ERROR');
}
