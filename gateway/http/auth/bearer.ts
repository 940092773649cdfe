/** Bearer tokens: the built-in issuer's, or those of one outside OIDC issuer. Algorithms are pinned. Decisions 2. */
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  decodeJwt,
  errors,
  jwtVerify,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
} from 'jose';
import { Refused, refuse } from '../../../protocol/errors.ts';
import { ORG_ROLES, type OrgRole } from '../../../protocol/slugs.ts';
import type { GatewayConfig } from '../../deps.ts';
import type { Bearer } from '../context.ts';
import { ALGORITHM, TOKEN_AUDIENCE, type Issuer } from './issuer.ts';
import type { SupportStore } from '../../../model/ports/support-store.ts';
import type { Standings } from './standings.ts';

/** What an outside issuer may sign with: no symmetric algorithm, no `none`. */
const OIDC_ALGORITHMS = ['EdDSA', 'ES256', 'RS256', 'PS256'];
const CLOCK_TOLERANCE_SECONDS = 5;
/** Unknown key ids make the store or the issuer be asked again no more often than this. */
const KEY_COOLDOWN_MS = 30_000;
/** What an issuer's keys say of a token; everything else says that they could not be read. */
const VERDICTS = [errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys, errors.JOSENotSupported];
/** Tokens longer than this are no access tokens. */
const TOKEN_CHARS_MAX = 8_192;

export interface Bearers {
  /**
   * The user of a token, or null when it proves nothing.
   * Throws: Refused SERVICE_UNAVAILABLE when an outside issuer's keys cannot be read.
   */
  authenticate(token: string): Promise<Bearer | null>;
}

export function createBearers({
  issuer,
  config,
  nowMs,
  standings,
  support,
  elapsedMs = () => performance.now(),
}: {
  issuer: Issuer;
  standings: Pick<Standings, 'of'>;
  support: Pick<SupportStore, 'standing'>;
  config: Pick<GatewayConfig, 'publicUrl' | 'oidc'>;
  nowMs: () => number;
  elapsedMs?: () => number;
}): Bearers {
  const { oidc } = config;
  let remote: Promise<JWTVerifyGetKey> | null = null;
  let reloadedAtMs = Number.NEGATIVE_INFINITY;

  const ownKey: JWTVerifyGetKey = async (header, token) => {
    const known = () => createLocalJWKSet({ keys: [...issuer.publicKeys()] })(header, token);
    const isKnown = issuer.publicKeys().some(({ kid }) => kid === header.kid);
    if (isKnown || elapsedMs() - reloadedAtMs < KEY_COOLDOWN_MS) return known();
    reloadedAtMs = elapsedMs();
    await issuer.reload();
    return known();
  };
  const outsideKey = async (...[header, token]: Parameters<JWTVerifyGetKey>) => {
    remote ??= discover(oidc!.issuer).catch((error: unknown) => {
      remote = null;
      throw error;
    });
    return (await remote)(header, token);
  };
  const issuersKey: JWTVerifyGetKey = (header, token) =>
    outsideKey(header, token).catch((error: unknown) => {
      if (VERDICTS.some((verdict) => error instanceof verdict)) throw error;
      throw new Refused(
        refuse('SERVICE_UNAVAILABLE', { reason: 'the issuer of the token does not answer', retryAfterSeconds: 1 }),
      );
    });
  const options = (more: JWTVerifyOptions): JWTVerifyOptions => ({
    requiredClaims: ['sub', 'exp'],
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
    currentDate: new Date(nowMs()),
    ...more,
  });

  return {
    async authenticate(token) {
      if (token.length > TOKEN_CHARS_MAX) return null;
      try {
        const outside = oidc !== null && decodeJwt(token).iss === oidc.issuer;
        const { payload } = outside
          ? await jwtVerify(
              token,
              issuersKey,
              options({ issuer: oidc.issuer, audience: oidc.audience, algorithms: OIDC_ALGORITHMS }),
            )
          : await jwtVerify(
              token,
              ownKey,
              options({ issuer: config.publicUrl, audience: TOKEN_AUDIENCE, algorithms: [ALGORITHM] }),
            );
        if (!outside && payload['sup'] !== undefined) return await reader(payload, support, nowMs());
        const claimed = bearerOf(payload, !outside);
        return outside || claimed === null ? claimed : await asStored(claimed, standings);
      } catch (error) {
        if (error instanceof errors.JOSEError) return null;
        throw error;
      }
    },
  };
}

/** Only `org_role` counts, and only an exact role; realm-level roles are ignored. Spec §5.4. */
function bearerOf(payload: JWTPayload, builtIn: boolean): Bearer | null {
  const {
    sub,
    sid,
    org_id: organizationId,
    org_role: role,
    platform_role: platformRole,
    auth_time: authTime,
    totp_at: totpAt,
  } = payload;
  if (typeof sub !== 'string' || sub === '') return null;
  const known = typeof organizationId === 'string' && /^org_[a-z2-7]{26}$/.test(organizationId);
  return {
    userId: sub,
    loginId: builtIn && typeof sid === 'string' ? sid : null,
    organizationId: known ? organizationId : null,
    role: known && ORG_ROLES.includes(role as OrgRole) ? (role as OrgRole) : null,
    platformAdmin: builtIn && platformRole === 'admin',
    authAtMs: typeof authTime === 'number' ? authTime * 1_000 : 0,
    totpAtMs: typeof totpAt === 'number' ? totpAt * 1_000 : null,
  };
}

/** What the database says of a token of our own: it wins over the claims. Null when its login is over. Console A13. */
async function asStored(claimed: Bearer, standings: Pick<Standings, 'of'>): Promise<Bearer | null> {
  const standing = await standings.of(claimed);
  if (standing === null || !standing.open) return null;
  return {
    ...claimed,
    organizationId: standing.role === null ? null : claimed.organizationId,
    // A claim that is no role stays none.
    role: claimed.role === null ? null : standing.role,
    platformAdmin: claimed.platformAdmin && standing.platformAdmin,
    ...(standing.ssoRequired === null ? {} : { ssoRequired: standing.ssoRequired }),
    ...(standing.onlyOrganizationId === null ? {} : { onlyOrganizationId: standing.onlyOrganizationId }),
  };
}

/** Who reads by a support session, as it is stored; asked at each request, so that its end is one on every node. */
async function reader(
  { sub, sup }: JWTPayload,
  support: Pick<SupportStore, 'standing'>,
  nowMs: number,
): Promise<Bearer | null> {
  const session = typeof sup === 'string' ? await support.standing(sup, nowMs) : null;
  if (session === null || session.adminId !== sub) return null;
  return {
    userId: session.adminId,
    loginId: null,
    organizationId: session.organizationId,
    role: 'viewer',
    platformAdmin: false,
    authAtMs: session.createdAtMs,
    totpAtMs: null,
    support: { id: session.id, environment: session.environment },
  };
}

async function discover(issuerUrl: string): Promise<JWTVerifyGetKey> {
  const response = await fetch(`${issuerUrl.replace(/\/+$/, '')}/.well-known/openid-configuration`, {
    signal: AbortSignal.timeout(5_000),
    redirect: 'error',
  });
  const { issuer, jwks_uri: keys } = (await response.json()) as { issuer?: unknown; jwks_uri?: unknown };
  if (!response.ok || issuer !== issuerUrl || typeof keys !== 'string') {
    throw new Error('the OIDC issuer does not describe itself');
  }
  return createRemoteJWKSet(new URL(keys), { cooldownDuration: KEY_COOLDOWN_MS, timeoutDuration: 5_000 });
}
