/** Second factors of the signed-in person: set up, replaced, taken away; and recovery codes. Console A20–A23. */
import { refuse, type Refusal } from '../../../protocol/errors.ts';
import type { KnownUser, UserRow } from '../../../model/ports/identity-store.ts';
import { newRecoveryCodes, recoveryHashOf } from '../auth/recovery-codes.ts';
import { lastBreakGlass } from '../auth/sso-required.ts';
import { createThrottles } from '../auth/throttles.ts';
import { ofUser } from '../audit-note.ts';
import { bearerOf, type Asked, type Handlers } from '../context.ts';
import { newLetterId } from './links.ts';
import { wrongPassword } from './present-password.ts';
import { notFresh, notFreshEnough, signedInLately, withoutProof } from './second-factor.ts';
import { createSessions } from './sessions.ts';
import type { HandlerDeps } from '../surroundings.ts';

type Area = 'enrolTotp' | 'confirmTotp' | 'disableTotp' | 'makeRecoveryCodes';

export function factorHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const {
    auth,
    stores: { identity, factors },
    nowMs,
  } = deps;
  const sessions = createSessions(deps);
  const throttles = createThrottles(deps);
  const noticed = () => ({ letterId: newLetterId(), nowMs: nowMs() });

  /** A code of the app or a recovery code of this request; undefined where it has neither. */
  const proofOf = async (
    user: UserRow,
    { totp, recoveryCode }: { totp?: string | undefined; recoveryCode?: string | undefined },
  ): Promise<Refusal | null | undefined> => {
    if (totp !== undefined) return auth.secondFactor.spend(user, totp);
    return recoveryCode === undefined ? undefined : auth.secondFactor.spendRecovery(user, recoveryCode);
  };

  /** The holder of a session must not be able to put their own device in place of another, nor where there is none. */
  async function mayNotEnrol(asked: Asked<'enrolTotp'>, user: KnownUser): Promise<Refusal | null> {
    const { password } = asked.body;
    if (user.totpConfirmed || user.passkeys > 0) {
      const proof = await proofOf(user, asked.body);
      return proof === undefined ? notFresh(deps, asked, undefined) : proof;
    }
    if (password !== undefined)
      return wrongPassword({ ...deps, throttles }, asked, user, {
        field: 'password',
        typed: password,
        action: 'enrolTotp',
      });
    return signedInLately(bearerOf(asked), nowMs()) ? null : notFreshEnough(['password']);
  }

  return {
    async enrolTotp(asked) {
      const user = await identity.userById(bearerOf(asked).userId);
      if (user === null) return refuse('UNAUTHORIZED');
      const refused = await mayNotEnrol(asked, user);
      if (refused !== null) return refused;
      const { secret, sealed, otpauthUri } = auth.secondFactor.begin(user);
      await identity.enrolTotp(user.id, sealed, ofUser(asked, 'enrolTotp'));
      return { secret, otpauthUri };
    },
    async confirmTotp(asked) {
      const bearer = bearerOf(asked);
      const user = await identity.userById(bearer.userId);
      const pending = user?.pendingTotpSecret;
      if (user === null || pending == null)
        return user?.totpConfirmed === true
          ? refuse('CONFLICT', { reason: 'already confirmed' })
          : refuse('TOTP_REQUIRED', { reason: 'not_enrolled' });
      const wrong = await auth.secondFactor.spendPending(user, asked.body.totp);
      if (wrong !== null) return wrong;
      const confirmed = await identity.confirmTotp(user.id, pending, noticed(), ofUser(asked, 'confirmTotp'));
      if (!confirmed) return refuse('CONFLICT', { reason: 'replaced' });
      return sessions.proven(bearer, user);
    },
    async disableTotp(asked) {
      const user = await identity.userById(bearerOf(asked).userId);
      if (user === null) return refuse('UNAUTHORIZED');
      const { totp, recoveryCode } = asked.body;
      const refused =
        recoveryCode === undefined
          ? await withoutProof(deps, asked, totp, 'disableTotp')
          : await auth.secondFactor.spendRecovery(user, recoveryCode);
      if (refused !== null) return refused;
      const outcome = await factors.disableTotp(user.id, noticed(), ofUser(asked, 'disableTotp', { target: user.id }));
      if (outcome === 'none') return refuse('TOTP_REQUIRED', { reason: 'not_enrolled' });
      if (outcome === 'break_glass') return lastBreakGlass();
      if (outcome === 'required')
        return refuse('CONFLICT', {
          reason: 'required',
          next: 'an owner of an organization with live addresses keeps a second factor: set another device up in its place',
        });
      return { removed: true as const };
    },
    async makeRecoveryCodes(asked) {
      const stale = await notFresh(deps, asked, asked.body.totp);
      if (stale !== null) return stale;
      const { userId } = bearerOf(asked);
      const codes = newRecoveryCodes();
      const note = ofUser(asked, 'makeRecoveryCodes', { target: userId });
      const isMade = await factors.replaceRecoveryCodes(userId, codes.map(recoveryHashOf), noticed(), note);
      return isMade
        ? { codes }
        : refuse('CONFLICT', { reason: 'not_enrolled', next: 'set an authenticator app or a passkey up' });
    },
  };
}
