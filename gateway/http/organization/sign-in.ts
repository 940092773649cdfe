/**
 * Sign-in of console users: password and second factor, short access tokens, a rotating refresh cookie. Decisions 2.
 */
import { isRefusal, notFound, refuse } from '../../../protocol/errors.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { emailOf } from '../auth/email-address.ts';
import { hashPassword, isOutdated, isPassword } from '../auth/passwords.ts';
import { entranceOf, mayEnter, ssoRequired } from '../auth/sso-required.ts';
import { createThrottles, DEVICE_COOKIE } from '../auth/throttles.ts';
import { ofUser, type Asking } from '../audit-note.ts';
import { bearerOf, type Handlers } from '../context.ts';
import { notAnswered, notFresh, outsideOf } from './second-factor.ts';
import { createSessions, foreignOrigin, nextOf, REFRESH_COOKIE, storedOf } from './sessions.ts';
import type { HandlerDeps } from '../surroundings.ts';

type Area = 'login' | 'refresh' | 'logout' | 'switchOrganization' | 'stepUp' | 'getJwks';
export function signInHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const {
    auth,
    stores: { identity, logins, auditLog, people },
    config,
    nowMs,
  } = deps;
  const sessions = createSessions(deps);
  const throttles = createThrottles(deps);
  const noted = (asked: Asking, userId: string, outcome: 'failed' | 'refused', reason: string) =>
    auditLog.recordOfUser(userId, ofUser(asked, 'login', { outcome, reason }));
  return {
    async login(asked) {
      const { email: typed, password, totp, recoveryCode, organizationId } = asked.body;
      const email = emailOf(typed) ?? typed;
      const slow = await throttles.refusal({
        address: asked.clientAddress,
        email: email.toLowerCase(),
        device: asked.cookies[DEVICE_COOKIE],
      });
      if (slow !== null) return slow;
      const user = await identity.userByEmail(email);
      const isRight = await isPassword(user?.passwordHash ?? null, password);
      if (!isRight || user === null || user.isSuspended) {
        if (user !== null) await noted(asked, user.id, 'failed', isRight ? 'suspended' : 'password');
        return refuse('UNAUTHORIZED');
      }
      if (isOutdated(user.passwordHash)) await people.rehash(user.id, user.passwordHash, await hashPassword(password));
      if (user.totpConfirmed || user.passkeys > 0) {
        const wrong =
          totp !== undefined
            ? await auth.secondFactor.spend(user, totp)
            : recoveryCode !== undefined
              ? await auth.secondFactor.spendRecovery(user, recoveryCode)
              : refuse('TOTP_REQUIRED', {
                  reason: 'missing',
                  accepts: [
                    ...(user.totpConfirmed ? ['totp'] : []),
                    ...(user.passkeys > 0 ? ['passkey'] : []),
                    'recovery_code',
                  ],
                });
        if (wrong !== null) {
          const isGuess = totp !== undefined || recoveryCode !== undefined;
          if (isGuess) await noted(asked, user.id, 'failed', String(wrong.details['reason']));
          return wrong;
        }
      }
      const entrance = entranceOf(config, user, organizationId);
      if (isRefusal(entrance)) {
        if (entrance.code === 'FORBIDDEN') await noted(asked, user.id, 'refused', 'sso_required');
        return entrance;
      }
      const { membership } = entrance;
      asked.setHeader('set-cookie', throttles.deviceCookie(email.toLowerCase()));
      // A recovery code lets in and replaces a lost device; it is no fresh factor. Console A23.
      if (!user.totpConfirmed && user.passkeys === 0)
        return sessions.begin(asked, user, membership, { method: 'password', totpAtMs: null });
      return sessions.begin(
        asked,
        user,
        membership,
        totp === undefined
          ? { method: 'password_recovery_code', totpAtMs: null }
          : { method: 'password_totp', totpAtMs: nowMs() },
      );
    },
    async refresh(asked) {
      const foreign = foreignOrigin(asked, auth.authorities);
      if (foreign !== null) return foreign;
      const token = asked.cookies[REFRESH_COOKIE] ?? '';
      const next = nextOf(token);
      const turned = await logins.turn(
        storedOf(token),
        { hash: next.hash, loginId: newId('lgn', nowMs()), client: asked.client, ip: asked.clientAddress },
        nowMs(),
        ofUser(asked, 'refresh', { outcome: 'failed', reason: 'reused' }),
      );
      // A login by single sign-on may be over without a word to its cookie.
      const standing = turned.outcome === 'turned' ? await auth.standings.of(turned) : null;
      const user = turned.outcome === 'turned' && standing?.open ? await identity.userById(turned.userId) : null;
      if (turned.outcome === 'turned' && standing !== null && user !== null)
        return sessions.goOn(asked, next.secret, user, turned, standing);
      if (turned.outcome === 'reused') {
        auth.standings.forget(turned.userId);
        deps.log.warn(
          { requestId: asked.requestId, userId: turned.userId },
          'a refresh token was used again: its login is over',
        );
      }
      // A request beside this one has just brought the browser a newer cookie.
      if (turned.outcome !== 'late') sessions.forget(asked);
      return refuse('UNAUTHORIZED');
    },
    async logout(asked) {
      const foreign = foreignOrigin(asked, auth.authorities);
      if (foreign !== null) return foreign;
      const token = asked.cookies[REFRESH_COOKIE];
      const userId =
        token === undefined
          ? null
          : await logins.endFamily(storedOf(token).family, 'logout', nowMs(), ofUser(asked, 'logout'));
      if (userId !== null) auth.standings.forget(userId);
      sessions.forget(asked);
      return { signedOut: true as const };
    },
    async switchOrganization(asked) {
      const bearer = bearerOf(asked);
      const elsewhere = outsideOf(bearer, asked.body.organizationId);
      if (elsewhere !== null) return elsewhere;
      const user = await identity.userById(bearer.userId);
      const membership = user?.memberships.find((one) => one.organizationId === asked.body.organizationId);
      if (user === null || membership === undefined)
        return notFound('organization of this user', asked.body.organizationId);
      if (membership.ssoRequired !== null && !mayEnter(bearer, membership))
        return ssoRequired(config, membership.ssoRequired);
      return sessions.moved(bearer, user, membership);
    },
    async stepUp(asked) {
      const bearer = bearerOf(asked);
      const { totp, passkey } = asked.body;
      const { userId, loginId } = bearer;
      const refused =
        passkey === undefined
          ? await notFresh(deps, asked, totp)
          : await notAnswered(deps, asked, { purpose: 'step_up', userId, loginId, boundTo: null }, passkey);
      return refused ?? sessions.proven(bearer, await identity.userById(userId));
    },
    getJwks: async () => ({ keys: auth.issuer.publicKeys().map((key) => ({ ...key })) }),
  };
}
