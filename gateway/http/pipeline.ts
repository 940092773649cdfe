/** Everything between a read body and the answer: role, input, idempotency, handler. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import { organizationOf } from '../../protocol/ids.ts';
import type { GatewayDeps } from '../deps.ts';
import { send, sendRefusal } from './answers.ts';
import type { Auth } from './auth/auth.ts';
import { roleRefusal, supportRefusal } from './auth/credentials.ts';
import { bodyHashOf } from './body-hash.ts';
import { checkDigest } from './body.ts';
import { noteOf, type Asking } from './audit-note.ts';
import { withAmountExample } from './chain/chain-input.ts';
import { withChainCondition } from './chain/unavailable.ts';
import { createClientAddress } from './client-address.ts';
import type { Asked, Caller, Handlers, Replayable } from './context.ts';
import { refusalOrFault } from './faults.ts';
import { clientOf, cookiesOf, headOf, idempotencyKeyOf, type Listed } from './head.ts';
import { createIdempotency, type Answered, type KeyUse, type Outcome } from './idempotency.ts';
import { isFresh, staleRefusal } from './organization/second-factor.ts';
import { scrapeOf } from '../../protocol/node/metrics-access.ts';
import { plainPath } from '../../protocol/route.ts';
import { validate } from '../../protocol/validation.ts';

/** What is answered whatever the database does. */
export const WITHOUT_DATABASE: ReadonlySet<string> = new Set(['getLive', 'getReady', 'getMetrics', 'getDescription']);

type Serve = (route: Listed, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** The rest of the way of a request whose body was read. */
export function createPipeline(
  deps: GatewayDeps,
  handlers: Handlers,
  auth: Pick<Auth, 'apiKeys' | 'credentials' | 'standings'>,
): Serve {
  const clientAddress = createClientAddress(deps.config.trustedProxies ?? []);
  const whileServing = <T>(work: Promise<T>): Promise<T> => deps.serving?.whileServing(work) ?? work;
  const idempotency = createIdempotency({ reads: deps.stores.reads, secrets: deps.secrets, nowMs: deps.nowMs });

  return async (route, request, reply) => {
    const { caller } = request;
    if (!request.bodyRead) checkDigest(caller);
    const client = clientOf(request.headers['user-agent']);
    const address = clientAddress(request.socket.remoteAddress ?? '', request.headers['x-forwarded-for']?.toString());
    const asking = { caller, requestId: request.id, client, clientAddress: address };
    const forbidden =
      supportRefusal(route, caller) ??
      roleRefusal(route, caller, deps.config) ??
      (await whileServing(staleRefusal(deps, route, caller)));
    if (forbidden !== null) {
      await whileServing(recordRefusal(deps, route, asking, forbidden));
      return sendRefusal(deps, request, reply, forbidden);
    }
    if (caller.apiKeyId !== null) auth.apiKeys.used(caller.apiKeyId);
    const input = validate(route, { params: request.params, query: request.query, body: request.body });
    if (!input.ok)
      return sendRefusal(deps, request, reply, withAmountExample(input, askedOf(request), deps.chains.tokens));
    const key = idempotencyKeyOf(request);
    if (isRefusal(key)) return sendRefusal(deps, request, reply, key);
    const use = mayRepeat(route, caller, input.body, deps.nowMs()) ? useOf(route, request, key) : null;
    const success: Success = { status: route.status };
    const asked = {
      params: input.params as Asked['params'],
      query: input.query as Asked['query'],
      body: input.body as Asked['body'],
      caller,
      requestId: request.id,
      claim: use?.kept === 'actor' ? claimOf(use, route.status) : undefined,
      answerOf: (reply: unknown) =>
        use?.kept === 'statement' ? idempotency.answerOf(use, route.status, reply) : undefined,
      cookies: cookiesOf(request.headers.cookie),
      clientAddress: address,
      scrape: scrapeOf(request.socket.remoteAddress, request.headers),
      client,
      note: noteOf(route, asking, targetOf(input.params)),
      origin: request.headers.origin,
      host: request.headers.host ?? '',
      lastEventId: request.headers['last-event-id']?.toString(),
      stillGood: () => isStillGood(auth, deps.config, route, request),
      setHeader: (name: string, value: string) => {
        void reply.header(name, value);
      },
      wasThere: () => {
        success.status = route.again ?? route.status;
      },
    } satisfies Asked;
    const answered = answer(handlers[route.operationId]!, asked, use, success).then(async (answered) => {
      await recordRefusal(deps, route, asking, answered.outcome, targetOf(input.params));
      return answered;
    });
    return send(
      deps,
      route,
      request,
      reply,
      await (WITHOUT_DATABASE.has(route.operationId) ? answered : whileServing(answered)),
    );
  };

  async function answer(
    entry: NonNullable<Handlers[keyof Handlers]>,
    asked: Asked,
    use: KeyUse | null,
    success: Success,
  ): Promise<Answered> {
    // The table ties operation, handler and input together; a union of all handlers cannot say so.
    const { handle, replay } = (typeof entry === 'function' ? { handle: entry } : entry) as Entry;
    const act = () => outcomeOf(handle, asked, success, deps);
    if (use === null) return { outcome: withoutDuplicate(await act()), replayed: false };
    return idempotency.once(use, act, (stored) =>
      replay === undefined ? Promise.resolve(stored) : replay(stored, asked as never),
    );
  }
}

/**
 * Whether the same credential would open the same account now: a token ends, a member is removed, a key is revoked. A
 * signature is none of it: its nonce is used up. Console A13.
 */
async function isStillGood(
  { apiKeys, credentials, standings }: Pick<Auth, 'apiKeys' | 'credentials' | 'standings'>,
  config: GatewayDeps['config'],
  route: Listed,
  { raw, headers: all, caller: before }: FastifyRequest,
): Promise<boolean> {
  const { authorization, 'x-api-key': key, 'x-environment': environment, host } = all;
  const headers = { authorization, 'x-api-key': key, 'x-environment': environment, host };
  if (before.bearer !== null) standings.askAnew(before.bearer.userId);
  else if (typeof key === 'string') await apiKeys.authenticateNow(key);
  const caller = await credentials.authenticate(route, headOf({ raw, headers }));
  return !isRefusal(caller) && caller.accountId === before.accountId && roleRefusal(route, caller, config) === null;
}

/** What a request says of its asset, wherever it says it. */
const askedOf = ({ params, query, body }: FastifyRequest): object => ({
  ...(params as object),
  ...(query as object),
  ...(body as object),
});

/** Records a refusal for the role or the second factor in the log of the organization. Console U1. */
async function recordRefusal(
  { stores: { auditLog } }: Pick<GatewayDeps, 'stores'>,
  route: Listed,
  asking: Asking,
  outcome: Refusal | { readonly ok: true },
  target: string | null = null,
): Promise<void> {
  if (outcome.ok || (outcome.code !== 'FORBIDDEN' && outcome.code !== 'TOTP_REQUIRED')) return;
  const { accountId } = asking.caller;
  const note = accountId === null ? null : noteOf(route, asking, target);
  if (note === null) return;
  const { reason = outcome.code } = outcome.details as { reason?: string };
  await auditLog.record({ ...note, outcome: 'refused', reason, organizationId: organizationOf(accountId!) });
}

/** The id that a path names. */
const targetOf = (params: unknown): string | null => {
  const [first] = Object.values((params ?? {}) as Record<string, unknown>);
  return typeof first === 'string' ? first : null;
};

/** Status of a success; the handler may find that there was nothing to make. */
interface Success {
  status: number;
}
type Act = (asked: Asked) => Promise<unknown>;
interface Entry {
  readonly handle: Act;
  readonly replay?: Replayable<never>['replay'];
}

/** How a key is used: not at all where nobody is known to have asked, or a repetition changes nothing. */
function useOf({ idempotent }: Listed, request: FastifyRequest, key: string | null): KeyUse | null {
  const { accountId, bearer } = request.caller;
  const owner = accountId ?? (bearer === null ? null : (`user:${bearer.userId}` as const));
  if (key === null || owner === null || idempotent === undefined) return null;
  return {
    owner,
    key,
    method: request.method,
    path: plainPath(headOf(request).path),
    bodyHash: bodyHashOf(request.body),
    kept: idempotent,
  };
}

/**
 * Whether a stored answer may be given again: what needs a fresh second factor is shown to nobody without one, unless
 * the request is the very one whose code was taken. The handler says what is missing. Spec §5.5.
 */
function mayRepeat({ idempotent, refusals }: Listed, { bearer }: Caller, body: unknown, nowMs: number): boolean {
  const needsFactor = idempotent !== 'actor' && (refusals as readonly string[]).includes('TOTP_REQUIRED');
  return !needsFactor || (body as { totp?: unknown }).totp !== undefined || isFresh(bearer?.totpAtMs ?? null, nowMs);
}

const claimOf = ({ key, method, path, bodyHash }: KeyUse, successStatus: number) => ({
  key,
  method,
  path,
  bodyHash,
  successStatus,
});

async function outcomeOf(handle: Act, asked: Asked, success: Success, deps: GatewayDeps): Promise<Outcome> {
  const outcome = await outcomeOfHandler(handle, asked, success, deps);
  if (!isRefusal(outcome)) return outcome;
  try {
    return await withChainCondition(outcome, deps.chains, asked.caller.accountId);
  } catch (error) {
    return refusalOrFault(error, deps, asked.requestId);
  }
}

async function outcomeOfHandler(handle: Act, asked: Asked, success: Success, deps: GatewayDeps): Promise<Outcome> {
  try {
    const result = await handle(asked);
    if (isRefusal(result)) return result;
    if ((result as { ok?: unknown } | null)?.ok === 'duplicate') return { ok: 'duplicate' };
    return { ok: true, status: success.status, reply: result };
  } catch (error) {
    return refusalOrFault(error, deps, asked.requestId);
  }
}

const withoutDuplicate = (outcome: Outcome): Answered['outcome'] =>
  outcome.ok === 'duplicate' ? refuse('INTERNAL_ERROR', { reason: 'duplicate without a key' }) : outcome;
