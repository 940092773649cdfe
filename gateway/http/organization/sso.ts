/**
 * Single sign-on: an organization's identity provider, and signing in by it. Console A35–A40.
 *
 *   start ──▶ the provider ──▶ finish ──┬─ known there ──▶ in
 *                                       ├─ new, email of a verified domain ──▶ user and member, in
 *                                       └─ new, and the email has a user ──▶ link: password and factor, once ──▶ in
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  FLOW_MS,
  type NewSsoConnection,
  type SsoConnectionRow,
  type SsoIdentity,
} from '../../../model/ports/sso-store.ts';
import { notFound, refuse, type Refusal } from '../../../protocol/errors.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { signInCookie } from '../auth/cookie.ts';
import { emailOf } from '../auth/email-address.ts';
import { createGuardedFetch } from '../auth/guarded-fetch.ts';
import { createOidc, OidcFault, type Arrived, type Provider } from '../auth/oidc.ts';
import { hashPassword } from '../auth/passwords.ts';
import { isOpenTo, ssoOff } from '../auth/sso-required.ts';
import { createThrottles } from '../auth/throttles.ts';
import { ofUser } from '../audit-note.ts';
import { accountOf, bearerOf, recordOf, type Asked, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { wholePage } from '../views.ts';
import { wrongPassword } from './present-password.ts';
import { createSessions } from './sessions.ts';
import { samlArrived, samlBegun } from './sso-saml.ts';
import { lockedByTier } from './sso-tier.ts';
import { connectionView, kindOf, redirectUriOf } from './sso-view.ts';

type Area =
  | 'listSsoConnections'
  | 'setSsoConnection'
  | 'removeSsoConnection'
  | 'discoverSso'
  | 'startSso'
  | 'finishSso'
  | 'linkSso';

const COOKIE = 'flock_sso';
const COOKIE_BYTES = 32;
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
const secretContext = (id: string): string => `sso|client_secret|${id}`;
const flowContext = (hash: string): string => `sso|flow|${hash}`;
/** The name of an arrival that waits in a browser. */
const arrivalOf = (cookie: string): string => hashOf(`arrival|${cookie}`);

interface Pending extends SsoIdentity {
  readonly userId: string;
}

export function ssoHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const {
    auth,
    stores: { identity, sso },
    config,
    secrets,
    nowMs,
  } = deps;
  const { allow = [] } = config.sso ?? {};
  const oidc = createOidc({ guarded: createGuardedFetch(allow), allowed: allow });
  const sessions = createSessions(deps);
  const throttles = createThrottles(deps);
  const redirectUri = redirectUriOf(config);
  const organizationOf = (asked: Pick<Asked, 'caller'>) => {
    accountOf(asked);
    return bearerOf(asked).organizationId!;
  };
  const providerOf = ({ id, issuer, clientId, sealedSecret }: NewSsoConnection): Provider => ({
    key: hashOf(JSON.stringify([id, issuer, clientId, sealedSecret])),
    issuer,
    clientId,
    secret: sealedSecret === null ? null : secrets.open(sealedSecret, secretContext(id)),
  });
  const setCookie = (asked: Pick<Asked, 'setHeader'>, value: string, seconds: number): void =>
    asked.setHeader('set-cookie', signInCookie(config, COOKIE, value, seconds));
  const browserOf = (asked: Pick<Asked, 'cookies'>): string => asked.cookies[COOKIE] ?? '';

  const view = (row: SsoConnectionRow) => connectionView(row, config);
  /** What a change of the connection means for its members holds at once on this node. Console A13. */
  const forgetMembers = async (organizationId: string): Promise<void> => {
    for (const { userId } of await identity.members(organizationId)) auth.standings.forget(userId);
  };

  /** Asked at each step: the organization may have gone to another tier since the one before. */
  const closedTo = async (connection: SsoConnectionRow): Promise<Refusal | null> =>
    isOpenTo(config, kindOf(connection))
      ? lockedByTier(deps, connection.organizationId)
      : ssoOff(connection.enforcedAtMs !== null);

  async function arrived(connection: SsoConnectionRow, who: Arrived): Promise<{ email: string } | Refusal> {
    const email = who.email === null ? null : emailOf(who.email);
    const domain = email?.slice(email.lastIndexOf('@') + 1);
    const ofDomain = domain === undefined ? null : await sso.connectionOfDomain(domain);
    if (email !== null && who.emailVerified && ofDomain?.id === connection.id) return { email };
    return refuse('FORBIDDEN', {
      reason: 'sso_email',
      next: 'the provider has to name a verified email (`email_verified`: true) of a verified domain of the organization',
    });
  }

  async function signedIn(
    asked: Asked<'finishSso'> | Asked<'linkSso'>,
    userId: string,
    { id: connectionId, organizationId }: SsoConnectionRow,
    totpAtMs: number | null,
  ) {
    const user = await identity.userById(userId);
    if (user === null || user.isSuspended) return refuse('UNAUTHORIZED');
    setCookie(asked, '', 0);
    asked.setHeader('set-cookie', throttles.deviceCookie(user.email));
    const membership = user.memberships.find((one) => one.organizationId === organizationId);
    return sessions.begin(asked, user, membership, { method: 'sso', connectionId, totpAtMs });
  }

  return {
    async listSsoConnections(asked) {
      const row = await sso.connectionOf(organizationOf(asked));
      return wholePage('sso', row === null ? [] : [view(row)], asked.query, ({ id }) => id);
    },
    async setSsoConnection(asked) {
      const organizationId = organizationOf(asked);
      if (!isOpenTo(config, 'oidc')) return ssoOff(false);
      const locked = await lockedByTier(deps, organizationId);
      if (locked !== null) return locked;
      const { issuer, clientId, clientSecret, jitRole } = asked.body;
      const before = await sso.connectionOf(organizationId);
      const id = before?.id ?? newId('sso', nowMs());
      const isSame = before !== null && before.issuer === issuer && before.clientId === clientId;
      const row: NewSsoConnection = {
        ...{ id, organizationId, issuer, clientId, jitRole, saml: null },
        sealedSecret:
          clientSecret === undefined
            ? isSame
              ? before.sealedSecret
              : null
            : secrets.seal(clientSecret, secretContext(id)),
        createdAtMs: before?.createdAtMs ?? nowMs(),
      };
      const fault = await faultIn(() => oidc.begin(providerOf(row), redirectUri));
      if (fault !== null)
        return refuse('INVALID_INPUT', {
          field: 'issuer',
          reason: fault.reason,
          next: 'the issuer, exactly as its discovery document names it, on a public https address',
        });
      const changes = {
        issuer: [before?.issuer ?? null, issuer],
        jitRole: [before?.jitRole ?? null, jitRole],
      } as const;
      const kept = await sso.putConnection(row, nowMs(), recordOf(asked, { target: id, changes }));
      await forgetMembers(organizationId);
      const after = await sso.connection(kept);
      return after === null ? notFound('connection', kept) : view(after);
    },
    async removeSsoConnection(asked) {
      const isRemoved = await sso.removeConnection(organizationOf(asked), asked.params.id, recordOf(asked));
      await forgetMembers(organizationOf(asked));
      return isRemoved ? { removed: true as const } : notFound('connection', asked.params.id);
    },
    async discoverSso(asked) {
      const slow = await throttles.ofAddress(asked.clientAddress);
      if (slow !== null) return slow;
      const email = emailOf(asked.body.email);
      if (email === null) return refuse('INVALID_INPUT', { field: 'email', reason: 'no email address' });
      const found = await sso.connectionToAsk(email.slice(email.lastIndexOf('@') + 1));
      return { connectionId: found?.id ?? null };
    },
    async startSso(asked) {
      const slow = await throttles.ofAddress(asked.clientAddress);
      if (slow !== null) return slow;
      const connection = await sso.connection(asked.body.connectionId);
      if (connection === null) return notFound('connection', asked.body.connectionId);
      const closed = await closedTo(connection);
      if (closed !== null) return closed;
      const begun =
        connection.saml === null
          ? await oidc.begin(providerOf(connection), redirectUri).catch(ownFault)
          : await samlBegun(connection, config);
      if (begun instanceof OidcFault) return away(begun);
      const { url, state, ...toCompare } = begun;
      const cookie = randomBytes(COOKIE_BYTES).toString('base64url');
      const hash = hashOf(state);
      const sealed = secrets.seal(JSON.stringify(toCompare), flowContext(hash));
      await sso.openFlow({
        ...{ hash, browser: hashOf(cookie), connectionId: connection.id, sealed },
        expiresAtMs: nowMs() + FLOW_MS,
      });
      setCookie(asked, cookie, FLOW_MS / 1_000);
      return { url };
    },
    async finishSso(asked) {
      const slow = await throttles.ofAddress(asked.clientAddress);
      if (slow !== null) return slow;
      const cookie = browserOf(asked);
      const { state } = asked.body;
      const flow = await sso.takeFlow(hashOf(state), hashOf(cookie), nowMs());
      const connection = flow === null ? null : await sso.connection(flow.connectionId);
      if (flow === null || connection === null) return startAgain();
      const closed = await closedTo(connection);
      if (closed !== null) return closed;
      const begun = JSON.parse(secrets.open(flow.sealed, flowContext(flow.hash))) as Record<string, string>;
      const given = Object.fromEntries(Object.entries(asked.body).filter(([, value]) => value !== undefined));
      const { nonce = '', verifier = '', requestId = '' } = begun;
      const who =
        connection.saml === null
          ? await oidc
              .finish(providerOf(connection), redirectUri, given as Record<string, string>, { state, nonce, verifier })
              .catch(ownFault)
          : await samlArrived({ config, sso, nowMs: nowMs() }, connection, { response: flow.response, requestId });
      if (who instanceof OidcFault) {
        deps.log.warn({ requestId: asked.requestId, reason: who.reason }, 'a sign-in by a provider was refused');
        return who.why === 'away' ? away(who) : refuse('UNAUTHORIZED', { reason: 'sso', next: 'start again' });
      }
      const ofProvider = { connectionId: connection.id, issuer: who.issuer, subject: who.subject };
      const { organizationId, jitRole: role } = connection;
      const known = await sso.userOf(ofProvider);
      if (known !== null) return signedIn(asked, known, connection, null);
      const allowed = await arrived(connection, who);
      if ('ok' in allowed) return allowed;
      const { email } = allowed;
      const user = await identity.userByEmail(email);
      if (user === null) {
        const id = newId('usr', nowMs());
        const unusable = await hashPassword(randomBytes(COOKIE_BYTES).toString('base64url'));
        const made = await sso.join(
          ofProvider,
          { id, email, passwordHash: unusable },
          { organizationId, role },
          nowMs(),
          { ...ofUser(asked, 'finishSso', { target: id }), actor: { kind: 'user', id }, organizationId },
        );
        if (made === 'limit') return full();
        return made === 'known' ? startAgain() : signedIn(asked, id, connection, null);
      }
      // The email has a user: that the provider names it proves nothing about them.
      const hash = arrivalOf(cookie);
      const pending: Pending = { ...ofProvider, userId: user.id };
      await sso.openFlow({
        ...{ hash, browser: hashOf(cookie), connectionId: connection.id },
        sealed: secrets.seal(JSON.stringify(pending), flowContext(hash)),
        expiresAtMs: nowMs() + FLOW_MS,
      });
      return refuse('CONFLICT', { reason: 'prove_account', next: 'POST /v1/auth/sso/link with password and factor' });
    },
    async linkSso(asked) {
      const cookie = browserOf(asked);
      const flow = await sso.takeFlow(arrivalOf(cookie), hashOf(cookie), nowMs());
      const connection = flow === null ? null : await sso.connection(flow.connectionId);
      if (flow === null || connection === null) return startAgain();
      const closed = await closedTo(connection);
      if (closed !== null) return closed;
      const pending = JSON.parse(secrets.open(flow.sealed, flowContext(flow.hash))) as Pending;
      const user = await identity.userById(pending.userId);
      if (user === null) return startAgain();
      const { password, totp, recoveryCode } = asked.body;
      const refused =
        (await wrongPassword({ ...deps, throttles }, asked, user, {
          ...{ field: 'password', typed: password, action: 'linkSso' },
        })) ?? (await missingFactor(user, { totp, recoveryCode }));
      if (refused !== null) {
        await sso.openFlow(flow); // a typing error does not send anybody back to the provider
        return refused;
      }
      const { connectionId, issuer, subject } = pending;
      const { organizationId, jitRole: role } = connection;
      const linked = await sso.link(
        { connectionId, issuer, subject },
        user.id,
        { organizationId, role },
        nowMs(),
        ofUser(asked, 'linkSso', { target: user.id }),
      );
      if (linked === 'limit') return full();
      if (linked === 'known') return startAgain();
      auth.standings.forget(user.id);
      return signedIn(asked, user.id, connection, totp === undefined ? null : nowMs());
    },
  };

  async function missingFactor(
    user: NonNullable<Awaited<ReturnType<typeof identity.userById>>>,
    { totp, recoveryCode }: { totp: string | undefined; recoveryCode: string | undefined },
  ): Promise<Refusal | null> {
    if (!user.totpConfirmed && user.passkeys === 0) return null;
    if (totp !== undefined) return auth.secondFactor.spend(user, totp);
    return recoveryCode === undefined
      ? refuse('TOTP_REQUIRED', { reason: 'missing', accepts: ['totp', 'recovery_code'] })
      : auth.secondFactor.spendRecovery(user, recoveryCode);
  }
}

const full = (): Refusal =>
  refuse('CONFLICT', { reason: 'limit', next: 'the organization has as many members as it may' });
const startAgain = (): Refusal =>
  refuse('CONFLICT', { reason: 'used', next: 'start again: a sign-in is good once, for ten minutes, in one browser' });
const away = ({ reason }: OidcFault): Refusal =>
  refuse('UPSTREAM_UNAVAILABLE', { reason, next: 'the identity provider does not answer: try again' });

/** The fault, as a value. Throws what is no fault of a provider. */
function ownFault(error: unknown): OidcFault {
  if (error instanceof OidcFault) return error;
  throw error;
}
async function faultIn(work: () => Promise<unknown>): Promise<OidcFault | null> {
  const outcome = await work().catch(ownFault);
  return outcome instanceof OidcFault ? outcome : null;
}
