/**
 * What a caller may ask, counted as soon as it is known who asks and before anything of the request is looked through,
 * read or stored: what is over its limit costs a look at its head. So it is counted however it ends, also where its
 * body is no JSON.
 *
 *   who asks            window                     requests a minute    bytes of large bodies a minute
 *   an API key          account                    band; sandbox 6,000  32 MiB
 *   a person            user, all accounts         600                  32 MiB
 *   the enrolled edge   account, its own           6,000                64 MiB
 *   its streams         account, their own         3,000 handshakes
 *
 * Who has an API key can sign a call with a key of their own making: such a call counts as the API key's, so that it
 * keeps no edge from reporting. found F80, decisions 3.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { AccountId } from '../../protocol/ids.ts';
import { bodyBytesOf } from '../../protocol/route.ts';
import type { GatewayDeps } from '../deps.ts';
import type { Caller } from './context.ts';
import type { Listed } from './head.ts';
import { LARGE_BYTES } from './large-bodies.ts';
import { createRequestLimits, WINDOW_MS } from './rate-limit.ts';

/** Signed edge calls have their own window, so that an application cannot keep its edge from reporting. */
const SIGNED_REQUESTS_PER_MINUTE = 6_000;
/** A person at the console takes nothing from the window of the account's API keys. Decisions 3. */
const USER_REQUESTS_PER_MINUTE = 600;

const KIB = 1_024;
/** Of bodies above `LARGE_BYTES`: each byte is looked through for keys, which takes 50 ns and more. */
const LARGE_BYTES_PER_MINUTE = { caller: 32 * KIB * KIB, edge: 64 * KIB * KIB };

/** Null where the request is let in. Refuses: RATE_LIMIT_EXCEEDED. */
export type Admission = (
  route: Listed,
  request: Pick<FastifyRequest, 'headers'>,
  reply: Pick<FastifyReply, 'headers'>,
  caller: Pick<Caller, 'accountId' | 'bearer'>,
  isPinned: boolean,
) => Promise<Refusal | null>;

export function createAdmission({
  accounts,
  config,
  rateLimiter,
  nowMs,
}: Pick<GatewayDeps, 'accounts' | 'config' | 'rateLimiter' | 'nowMs'>): Admission {
  const limits = createRequestLimits(accounts, config.sandboxRequestsPerMinute);
  return async (route, request, reply, { accountId, bearer }, isPinned) => {
    if (accountId === null && bearer === null) return null;
    const isEdge = route.credential === 'signed' && isPinned;
    const ofAccount = async (id: AccountId) => (isEdge ? SIGNED_REQUESTS_PER_MINUTE : limits.of(id));
    const limit = bearer !== null ? USER_REQUESTS_PER_MINUTE : await ofAccount(accountId!);
    const key = bearer !== null ? `user:${bearer.userId}` : isEdge ? `edge:${accountId}` : accountId!;
    const { allowed, remaining, resetSeconds } = await rateLimiter.take(key, limit, nowMs());
    void reply.headers({ 'ratelimit-limit': limit, 'ratelimit-remaining': remaining, 'ratelimit-reset': resetSeconds });
    if (!allowed) return tooMany({ limit }, resetSeconds);
    const bytes = bytesToCome(route, request);
    if (bytes <= LARGE_BYTES) return null;
    const most = LARGE_BYTES_PER_MINUTE[isEdge ? 'edge' : 'caller'];
    const body = await rateLimiter.take(`bytes:${key}`, most / KIB, nowMs(), WINDOW_MS, Math.ceil(bytes / KIB));
    return body.allowed ? null : tooMany({ limit: most, of: 'bytes of large bodies' }, body.resetSeconds);
  };
}

/** Handshakes of the edge stream of one account within a minute: a thousand replicas may come at once, and again. */
const HANDSHAKES_PER_MINUTE = 3_000;

/** Counts the handshakes of an account, which each store a nonce and a session. */
export function createHandshakeLimit({
  rateLimiter,
  nowMs,
}: Pick<GatewayDeps, 'rateLimiter' | 'nowMs'>): (accountId: AccountId) => Promise<Refusal | null> {
  return async (accountId) => {
    const { allowed, resetSeconds } = await rateLimiter.take(`stream:${accountId}`, HANDSHAKES_PER_MINUTE, nowMs());
    return allowed ? null : tooMany({ limit: HANDSHAKES_PER_MINUTE }, resetSeconds);
  };
}

const tooMany = (details: object, resetSeconds: number): Refusal =>
  refuse('RATE_LIMIT_EXCEEDED', { ...details, windowSeconds: WINDOW_MS / 1_000, retryAfterSeconds: resetSeconds });

/** A body that does not say how long it is may be as long as its path takes. */
function bytesToCome(route: Listed, { headers }: Pick<FastifyRequest, 'headers'>): number {
  if (headers['transfer-encoding'] !== undefined) return bodyBytesOf(route);
  return Number(headers['content-length'] ?? 0);
}
