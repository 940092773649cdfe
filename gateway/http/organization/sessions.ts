/**
 * Access tokens and the cookie that renews them: the shell around a login. Console A11–A16.
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  LOGIN_IDLE_MS,
  type LoginMethod,
  type StandingOfToken,
  type StoredToken,
  type Turned,
} from '../../../model/ports/login-store.ts';
import type { KnownMembership, MembershipRow, UserRow } from '../../../model/ports/identity-store.ts';
import { refuse, type Refusal } from '../../../protocol/errors.ts';
import { newId } from '../../../protocol/node/ids.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import type { Authorities } from '../auth/authorities.ts';
import { signInCookie } from '../auth/cookie.ts';
import { ACCESS_TOKEN_SECONDS } from '../auth/issuer.ts';
import { mayEnter } from '../auth/sso-required.ts';
import { ofUser } from '../audit-note.ts';
import type { Asked, Bearer } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { instantOrNull } from '../views.ts';

export const REFRESH_COOKIE = 'flock_refresh';
const REFRESH_BYTES = 33;
/** A token is the family of its login, 24 letters, and its own secret. */
const FAMILY_BYTES = 18;
const FAMILY_CHARS = 24;

export type User = UserRow & { memberships: KnownMembership[] };
export type Reply = ReplyOf<'login'>;
/** What a request shows of its browser, and how it is answered. */
export type Browser = Pick<Asked, 'setHeader' | 'caller' | 'requestId' | 'client' | 'clientAddress'>;

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');
const familyOf = (token: string): string => token.slice(0, FAMILY_CHARS);
const secretOf = (bytes: number, family = ''): string => family + randomBytes(bytes).toString('base64url');

/** A token as it is stored. */
export const storedOf = (token: string): StoredToken => ({ family: hashOf(familyOf(token)), hash: hashOf(token) });

/** The next token of a family. */
export const nextOf = (token: string): { secret: string; hash: string } => {
  const secret = secretOf(REFRESH_BYTES, familyOf(token));
  return { secret, hash: hashOf(secret) };
};

/** Null for a page of this deployment, and outside of browsers. Refuses: FORBIDDEN. Console A14. */
export function foreignOrigin(
  { origin, host }: Pick<Asked, 'origin' | 'host'>,
  authorities: Authorities,
): Refusal | null {
  return origin === undefined || authorities.isOwnPage(origin, host)
    ? null
    : refuse('FORBIDDEN', { reason: 'origin', next: 'call this path from the console that PUBLIC_URL names' });
}

export type Sessions = ReturnType<typeof createSessions>;

export function createSessions({ auth, stores: { logins }, config, nowMs }: Omit<HandlerDeps, 'pools'>) {
  const cookie = (value: string, maxAgeSeconds: number) => signInCookie(config, REFRESH_COOKIE, value, maxAgeSeconds);
  const token = async (bearer: Bearer): Promise<Reply> => ({
    accessToken: await auth.issuer.issue(bearer),
    tokenType: 'Bearer',
    expiresInSeconds: ACCESS_TOKEN_SECONDS,
    organizationId: bearer.organizationId,
    role: bearer.role,
    totpAt: instantOrNull(bearer.totpAtMs),
  });
  const inOrganization = (membership: MembershipRow | undefined) => ({
    organizationId: membership?.organizationId ?? null,
    role: membership?.role ?? null,
  });

  return {
    /** The token after a second factor: what the user may do is read again, and is not taken from the token before. */
    proven(bearer: Bearer, user: User | null): Promise<Reply> {
      return token({
        ...bearer,
        ...inOrganization(
          user?.memberships.find((one) => one.organizationId === bearer.organizationId && mayEnter(bearer, one)),
        ),
        platformAdmin: bearer.platformAdmin && user?.platformRole === 'admin',
        totpAtMs: nowMs(),
      });
    },
    /** A login: an access token and its refresh cookie. */
    async begin(
      asked: Browser,
      user: User,
      membership: MembershipRow | undefined,
      { method, connectionId, totpAtMs }: { method: LoginMethod; connectionId?: string; totpAtMs: number | null },
    ): Promise<Reply> {
      const secret = secretOf(REFRESH_BYTES, secretOf(FAMILY_BYTES));
      const atMs = nowMs();
      const loginId = newId('lgn', atMs);
      await logins.begin(
        {
          id: loginId,
          userId: user.id,
          method,
          ...(connectionId === undefined ? {} : { connectionId }),
          client: asked.client,
          ip: asked.clientAddress,
          createdAtMs: atMs,
          endsAtMs: atMs + LOGIN_IDLE_MS,
        },
        storedOf(secret),
        membership?.organizationId ?? null,
        ofUser(asked, 'login', { target: loginId }),
      );
      asked.setHeader('set-cookie', cookie(secret, LOGIN_IDLE_MS / 1_000));
      return token({
        userId: user.id,
        loginId,
        ...inOrganization(membership),
        platformAdmin: user.platformRole === 'admin',
        authAtMs: atMs,
        totpAtMs,
      });
    },
    /** An access token and the next cookie of a login, which was turned. Its factor is as old as it is: none. A16. */
    goOn(
      asked: Pick<Asked, 'setHeader'>,
      secret: string,
      user: User,
      { loginId, organizationId, authAtMs, endsAtMs }: Turned & { outcome: 'turned' },
      standing: Pick<StandingOfToken, 'onlyOrganizationId'>,
    ): Promise<Reply> {
      asked.setHeader('set-cookie', cookie(secret, Math.max(0, Math.floor((endsAtMs - nowMs()) / 1_000))));
      return token({
        userId: user.id,
        loginId,
        ...inOrganization(
          user.memberships.find((one) => one.organizationId === organizationId && mayEnter(standing, one)),
        ),
        platformAdmin: user.platformRole === 'admin',
        authAtMs,
        totpAtMs: null,
      });
    },
    /** A token of the same login for another organization, which the login goes on with. */
    async moved(bearer: Bearer, user: User, membership: MembershipRow): Promise<Reply> {
      if (bearer.loginId !== null) await logins.choose(bearer.loginId, membership.organizationId);
      return token({ ...bearer, ...inOrganization(membership), platformAdmin: user.platformRole === 'admin' });
    },
    forget(asked: Pick<Asked, 'setHeader'>): void {
      asked.setHeader('set-cookie', cookie('', 0));
    },
  };
}
