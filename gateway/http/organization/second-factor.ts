/**
 * What needs a fresh second factor: a code in the body, or one accepted by step-up within five minutes. Decisions 2.
 */
import type { IdentityStore } from '../../../model/ports/identity-store.ts';
import type { ChallengeFor } from '../../../model/ports/passkey-store.ts';
import { refuse, type Refusal } from '../../../protocol/errors.ts';
import type { Route } from '../../../protocol/route.ts';
import type { OperationId } from '../../../protocol/routes.ts';
import type { PasskeyAnswer } from '../../../protocol/schema/passkeys.ts';
import { ofUser, type Asking } from '../audit-note.ts';
import { bindingOf } from '../auth/passkeys.ts';
import { TOTP_FRESH_MS } from '../auth/totp.ts';
import { bearerOf, type Bearer, type Caller } from '../context.ts';
import type { GatewayDeps } from '../../deps.ts';
import type { HandlerDeps } from '../surroundings.ts';

/** Null when the factor is fresh. Refuses: TOTP_REQUIRED. */
export async function notFresh(
  { auth, stores: { identity }, nowMs }: Pick<HandlerDeps, 'auth' | 'stores' | 'nowMs'>,
  asked: { readonly caller: Caller },
  code: string | undefined,
): Promise<Refusal | null> {
  const { userId, totpAtMs } = bearerOf(asked);
  if (code !== undefined) {
    const user = await identity.userById(userId);
    return user === null ? refuse('TOTP_REQUIRED', { reason: 'not_enrolled' }) : auth.secondFactor.spend(user, code);
  }
  return isFresh(totpAtMs, nowMs()) ? null : lackOf(identity, userId);
}

/**
 * Null when the factor is fresh. Who has none proves it by the present password, which this request lacks: there is
 * nothing to set up first. Refuses: TOTP_REQUIRED. Console A8.
 */
export async function notFreshOrPassword(
  deps: Pick<HandlerDeps, 'auth' | 'stores' | 'nowMs'>,
  asked: { readonly caller: Caller },
): Promise<Refusal | null> {
  const stale = await notFresh(deps, asked, undefined);
  if (stale === null || (await hasFactor(deps.stores.identity, bearerOf(asked).userId))) return stale;
  return refuse('TOTP_REQUIRED', {
    reason: 'missing',
    accepts: ['password'],
    next: 'give the present password as `current`',
  });
}

/** What lacks: a fresh proof of a factor that is there, or the factor. Refuses: TOTP_REQUIRED. Console A22. */
export const lackOf = async (identity: Pick<IdentityStore, 'userById'>, userId: string): Promise<Refusal> =>
  (await hasFactor(identity, userId)) ? notFreshEnough() : notEnrolled();

async function hasFactor(identity: Pick<IdentityStore, 'userById'>, userId: string): Promise<boolean> {
  const user = await identity.userById(userId);
  return user !== null && (user.totpConfirmed || user.passkeys > 0);
}

/** Nothing to prove anything by. */
const notEnrolled = (): Refusal =>
  refuse('TOTP_REQUIRED', {
    reason: 'not_enrolled',
    next: 'set an authenticator app or a passkey up: POST /v1/auth/totp/enroll',
  });

/**
 * A code, or an answer of a passkey that was made for this request, for what no earlier step-up may stand in for. Null
 * when it is right; it is spent also when what it was for then fails. Refuses: TOTP_REQUIRED. Console A22.
 */
export async function withoutProof(
  deps: Pick<HandlerDeps, 'auth' | 'stores' | 'nowMs'>,
  asked: Asking & { readonly params?: unknown; readonly body?: unknown },
  code: string | undefined,
  operation?: OperationId,
): Promise<Refusal | null> {
  const { passkey, ...body } = (asked.body ?? {}) as { passkey?: PasskeyAnswer };
  if (operation !== undefined && passkey !== undefined) {
    const { userId, loginId } = bearerOf(asked);
    const boundTo = bindingOf({ operation, params: asked.params, body });
    return notAnswered(deps, asked, { purpose: 'proof', userId, loginId, boundTo }, passkey);
  }
  if (code !== undefined) return notFresh(deps, asked, code);
  return (await hasFactor(deps.stores.identity, bearerOf(asked).userId))
    ? refuse('TOTP_REQUIRED', { reason: 'missing', accepts: operation === undefined ? ['totp'] : ['totp', 'passkey'] })
    : notEnrolled();
}

/** Null where a passkey of the user answers its challenge. Refuses: TOTP_REQUIRED with `reason` invalid. */
export async function notAnswered(
  deps: Pick<HandlerDeps, 'auth' | 'stores' | 'nowMs'>,
  asked: Asking,
  of: ChallengeFor,
  answer: PasskeyAnswer,
): Promise<Refusal | null> {
  const found = await deps.auth.passkeys.answered(of, answer);
  if (found === null) return refuse('TOTP_REQUIRED', { reason: 'invalid', accepts: ['totp', 'passkey'] });
  await useOf(deps, asked, found.passkey, found.counter);
  return null;
}

/** Notes a use of a passkey. A counter that does not rise is an entry, not a refusal. Console A24. */
export async function useOf(
  { stores, nowMs }: Pick<HandlerDeps, 'stores' | 'nowMs'>,
  asked: Asking,
  { id }: { readonly id: string },
  counter: number,
): Promise<void> {
  await stores.passkeys.noteUse(id, counter, nowMs(), ofUser(asked, 'passkeyCounter', { target: id }));
}

/** What every write of an administrator needs, whatever its input. Refuses: TOTP_REQUIRED. Console 2.1. */
export async function staleRefusal(
  { stores: { identity }, nowMs }: Pick<GatewayDeps, 'stores' | 'nowMs'>,
  { fresh }: Pick<Route, 'fresh'>,
  { bearer }: Caller,
): Promise<Refusal | null> {
  if (fresh !== true || isFresh(bearer?.totpAtMs ?? null, nowMs())) return null;
  return bearer === null ? notFreshEnough() : lackOf(identity, bearer.userId);
}

/** A proof that is older than counts, or none; `accepts` where it is not the usual one. */
export const notFreshEnough = (accepts?: readonly string[]): Refusal =>
  refuse('TOTP_REQUIRED', {
    reason: 'not_fresh',
    maxAgeSeconds: TOTP_FRESH_MS / 1_000,
    ...(accepts === undefined ? {} : { accepts }),
  });

/**
 * Whether the person proved within five minutes who they are, to us: what a customer's provider says of them makes
 * nobody the holder of their factors. Console A20, A37.
 */
export const signedInLately = ({ authAtMs, onlyOrganizationId }: Bearer, nowMs: number): boolean =>
  onlyOrganizationId === undefined && isFresh(authAtMs, nowMs);

/** Null in an organization that the login is for. Refuses: FORBIDDEN for a login by another one's provider. A13. */
export const outsideOf = ({ onlyOrganizationId }: Bearer, organizationId: string | null): Refusal | null =>
  onlyOrganizationId === undefined || onlyOrganizationId === organizationId
    ? null
    : refuse('FORBIDDEN', {
        reason: 'sso_login',
        next: 'a login by a provider is for its organization alone: sign in by password or passkey',
      });

/** How far the clocks of two nodes, or of an outside issuer, may be apart. Milliseconds. */
const AHEAD_MS_MAX = 30_000;

/**
 * Whether what was proven at an instant still counts as fresh. One that is to come (a claim in another unit, a clock
 * that was set back) would count for ever, and counts as none.
 */
export function isFresh(provenAtMs: number | null, nowMs: number): boolean {
  if (provenAtMs === null) return false;
  const ageMs = nowMs - provenAtMs;
  return ageMs < TOTP_FRESH_MS && ageMs >= -AHEAD_MS_MAX;
}
