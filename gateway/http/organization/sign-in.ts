/**
 * Sign-in of console users: password and second factor, short access tokens, a rotating refresh cookie. Decisions 2.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { MembershipRow, UserRow } from '../../../model/ports/identity-store.ts';
import { notFound, refuse } from '../../../protocol/errors.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { isPassword } from '../auth/passwords.ts';
import { signInCookie } from '../auth/cookie.ts';
import { createThrottles, DEVICE_COOKIE } from '../auth/throttles.ts';
import { ACCESS_TOKEN_SECONDS } from '../auth/issuer.ts';
import { bearerOf, type Bearer, type Handlers } from '../context.ts';
import { notFresh } from './second-factor.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { instantOrNull } from '../views.ts';

const COOKIE = 'flock_refresh';
/** A session that is not used for this long ends. Choice: two weeks, as consoles of this kind have. */
const REFRESH_MS = 14 * 86_400_000;
const REFRESH_BYTES = 33;
/** A token is the family of its session, 24 letters, and its own secret. */
const FAMILY_BYTES = 18;
const FAMILY_CHARS = 24;

type Area = 'login' | 'refresh' | 'logout' | 'switchOrganization' | 'stepUp' | 'enrolTotp' | 'confirmTotp' | 'getJwks';
type User = UserRow & { memberships: MembershipRow[] };
type Reply = ReplyOf<'login'>;
interface Answering {
  setHeader(name: string, value: string): void;
}

export function signInHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const {
    auth,
    stores: { identity },
    nowMs,
  } = deps;
  const sessions = createSessions(deps);
  const throttles = createThrottles(deps);
  return {
    async login(asked) {
      const { email, password, totp, organizationId } = asked.body;
      const slow = await throttles.refusal({
        address: asked.clientAddress,
        email: email.toLowerCase(),
        device: asked.cookies[DEVICE_COOKIE],
      });
      if (slow !== null) return slow;
      const user = await identity.userByEmail(email);
      if (!(await isPassword(user?.passwordHash ?? null, password)) || user === null) return refuse('UNAUTHORIZED');
      if (user.totpConfirmed) {
        const wrong =
          totp === undefined
            ? refuse('TOTP_REQUIRED', { reason: 'missing' })
            : await auth.secondFactor.spend(user, totp);
        if (wrong !== null) return wrong;
      }
      const membership =
        organizationId === undefined
          ? user.memberships[0]
          : user.memberships.find((one) => one.organizationId === organizationId);
      if (membership === undefined && organizationId !== undefined) return refuse('UNAUTHORIZED');
      asked.setHeader('set-cookie', throttles.deviceCookie(email.toLowerCase()));
      return sessions.begin(asked, user, membership, user.totpConfirmed ? nowMs() : null);
    },
    async refresh(asked) {
      const token = asked.cookies[COOKIE] ?? '';
      const next = secretOf(REFRESH_BYTES, familyOf(token));
      const turned = await identity.turnRefreshToken(
        storedOf(token),
        { hash: hashOf(next), expiresAtMs: nowMs() + REFRESH_MS },
        nowMs(),
      );
      const user = turned.outcome === 'turned' ? await identity.userById(turned.userId) : null;
      if (turned.outcome === 'turned' && user !== null) {
        return sessions.goOn(
          asked,
          next,
          user,
          user.memberships.find((one) => one.organizationId === turned.organizationId),
        );
      }
      if (turned.outcome === 'reused') {
        deps.log.warn(
          { requestId: asked.requestId, userId: turned.userId },
          'a refresh token was used again: its session is over',
        );
      }
      // A request beside this one has just brought the browser a newer cookie.
      if (turned.outcome !== 'late') sessions.forget(asked);
      return refuse('UNAUTHORIZED');
    },
    async logout(asked) {
      const token = asked.cookies[COOKIE];
      if (token !== undefined) await identity.endSession(storedOf(token).family);
      sessions.forget(asked);
      return { signedOut: true as const };
    },
    async switchOrganization(asked) {
      const bearer = bearerOf(asked);
      const user = await identity.userById(bearer.userId);
      const membership = user?.memberships.find((one) => one.organizationId === asked.body.organizationId);
      if (user === null || membership === undefined)
        return notFound('organization of this user', asked.body.organizationId);
      return sessions.begin(asked, user, membership, bearer.totpAtMs);
    },
    async stepUp(asked) {
      const bearer = bearerOf(asked);
      return (
        (await notFresh(deps, asked, asked.body.totp)) ??
        sessions.proven(bearer, await identity.userById(bearer.userId))
      );
    },
    async enrolTotp(asked) {
      const user = await identity.userById(bearerOf(asked).userId);
      if (user === null) return refuse('UNAUTHORIZED');
      // The holder of a session must not be able to put their own device in place of the confirmed one.
      const stale = user.totpConfirmed ? await notFresh(deps, asked, undefined) : null;
      if (stale !== null) return stale;
      const { secret, sealed, otpauthUri } = auth.secondFactor.begin(user);
      await identity.setTotp(user.id, sealed, false);
      return { secret, otpauthUri };
    },
    async confirmTotp(asked) {
      const bearer = bearerOf(asked);
      const user = await identity.userById(bearer.userId);
      if (user?.sealedTotpSecret == null) return refuse('TOTP_REQUIRED', { reason: 'not_enrolled' });
      if (user.totpConfirmed) return refuse('CONFLICT', { reason: 'already confirmed' });
      const wrong = await auth.secondFactor.spendUnconfirmed(user, asked.body.totp);
      if (wrong !== null) return wrong;
      await identity.setTotp(user.id, user.sealedTotpSecret, true);
      return sessions.proven(bearer, user);
    },
    getJwks: async () => ({ keys: auth.issuer.publicKeys().map((key) => ({ ...key })) }),
  };
}

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');
const familyOf = (token: string): string => token.slice(0, FAMILY_CHARS);
const storedOf = (token: string) => ({ family: hashOf(familyOf(token)), hash: hashOf(token) });
const secretOf = (bytes: number, family = ''): string => family + randomBytes(bytes).toString('base64url');

function createSessions({ auth, stores: { identity }, config, nowMs }: HandlerDeps) {
  const cookie = (value: string, maxAgeSeconds: number) => signInCookie(config, COOKIE, value, maxAgeSeconds);

  const token = async (bearer: Bearer): Promise<Reply> => ({
    accessToken: await auth.issuer.issue(bearer),
    tokenType: 'Bearer',
    expiresInSeconds: ACCESS_TOKEN_SECONDS,
    organizationId: bearer.organizationId,
    role: bearer.role,
    totpAt: instantOrNull(bearer.totpAtMs),
  });
  const tokenOf = (user: User, membership: MembershipRow | undefined, totpAtMs: number | null): Promise<Reply> =>
    token({
      userId: user.id,
      organizationId: membership?.organizationId ?? null,
      role: membership?.role ?? null,
      platformAdmin: user.platformRole === 'admin',
      authAtMs: nowMs(),
      totpAtMs,
    });

  return {
    /** The token after a second factor: what the user may do is read again, and is not taken from the token before. */
    proven(bearer: Bearer, user: User | null): Promise<Reply> {
      const membership = user?.memberships.find((one) => one.organizationId === bearer.organizationId);
      return token({
        ...bearer,
        organizationId: membership?.organizationId ?? null,
        role: membership?.role ?? null,
        platformAdmin: bearer.platformAdmin && user?.platformRole === 'admin',
        totpAtMs: nowMs(),
      });
    },
    /**
     * An access token and a new refresh cookie. A user without an organization gets no cookie: there is nothing to go
     * back to.
     */
    async begin(
      asked: Answering,
      user: User,
      membership: MembershipRow | undefined,
      totpAtMs: number | null,
    ): Promise<Reply> {
      if (membership === undefined) return tokenOf(user, membership, totpAtMs);
      const secret = secretOf(REFRESH_BYTES, secretOf(FAMILY_BYTES));
      await identity.saveRefreshToken({
        ...storedOf(secret),
        userId: user.id,
        organizationId: membership.organizationId,
        expiresAtMs: nowMs() + REFRESH_MS,
      });
      asked.setHeader('set-cookie', cookie(secret, REFRESH_MS / 1_000));
      return tokenOf(user, membership, totpAtMs);
    },
    /** An access token and the next cookie of a session, which was turned. */
    goOn(asked: Answering, secret: string, user: User, membership: MembershipRow | undefined): Promise<Reply> {
      asked.setHeader('set-cookie', cookie(secret, REFRESH_MS / 1_000));
      return tokenOf(user, membership, null);
    },
    forget(asked: Answering): void {
      asked.setHeader('set-cookie', cookie('', 0));
    },
  };
}
