/**
 * What needs a fresh second factor: a code in the body, or one accepted by step-up within five minutes. Decisions 2.
 */
import { refuse, type Refusal } from '../../../protocol/errors.ts';
import type { Route } from '../../../protocol/route.ts';
import { TOTP_FRESH_MS } from '../auth/totp.ts';
import { bearerOf, type Caller } from '../context.ts';
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
  return isFresh(totpAtMs, nowMs()) ? null : notFreshEnough();
}

/**
 * A code in the body, for what no earlier step-up may stand in for. Null when it is right; it is spent also when what
 * it was for then fails. Refuses: TOTP_REQUIRED. Console A22.
 */
export async function withoutProof(
  deps: Pick<HandlerDeps, 'auth' | 'stores' | 'nowMs'>,
  asked: { readonly caller: Caller },
  code: string | undefined,
): Promise<Refusal | null> {
  return code === undefined
    ? refuse('TOTP_REQUIRED', { reason: 'missing', accepts: ['totp'] })
    : notFresh(deps, asked, code);
}

/** What every write of an administrator needs, whatever its input. Refuses: TOTP_REQUIRED. Console 2.1. */
export function staleRefusal({ fresh }: Pick<Route, 'fresh'>, { bearer }: Caller, nowMs: number): Refusal | null {
  return fresh !== true || isFresh(bearer?.totpAtMs ?? null, nowMs) ? null : notFreshEnough();
}

const notFreshEnough = (): Refusal =>
  refuse('TOTP_REQUIRED', { reason: 'not_fresh', maxAgeSeconds: TOTP_FRESH_MS / 1_000 });

/** Whether a second factor that was accepted at an instant still counts as fresh. */
export function isFresh(totpAtMs: number | null, nowMs: number): boolean {
  return totpAtMs !== null && nowMs - totpAtMs < TOTP_FRESH_MS;
}
