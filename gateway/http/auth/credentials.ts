/**
 * Who asks, and whether they may: API key or bearer, then the edge's signature, then the role. Spec §5, decisions 2.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { isRefusal, refuse, type Refusal } from '../../../protocol/errors.ts';
import { accountIdOf } from '../../../protocol/ids.ts';
import type { OperationId } from '../../../protocol/routes.ts';
import { supportCode, type Route } from '../../../protocol/route.ts';
import { ENVIRONMENTS, ORG_ROLES, type Environment, type OrgRole } from '../../../protocol/slugs.ts';
import { NOBODY, type Caller } from '../context.ts';
import { whyNoKey, type ApiKeys } from './api-keys.ts';
import type { Bearers } from './bearer.ts';
import { ssoRequired } from './sso-required.ts';
import type { EdgeSignatures, SignedHead } from './edge-signature.ts';
import type { GatewayConfig } from '../../deps.ts';

export interface Credentials {
  /**
   * `admit` is asked once it is known who asks, and whether the pinned edge signed, before anything is stored.
   * Refuses: UNAUTHORIZED, EDGE_SIGNATURE_SKEW, EDGE_SIGNATURE_INVALID, EDGE_NONCE_REPLAY, IDENTITY_ROTATION_PENDING,
   * as `admit`.
   */
  authenticate(
    route: Route & { operationId: OperationId },
    head: SignedHead,
    admit?: (caller: Caller, isPinned: boolean) => Promise<Refusal | null>,
  ): Promise<Caller | Refusal>;
}

export function createCredentials(deps: {
  apiKeys: ApiKeys;
  bearers: Bearers;
  signatures: EdgeSignatures;
}): Credentials {
  return {
    async authenticate(route, head, admit = async () => null) {
      if (route.credential === 'none') return NOBODY;
      const caller = await whoAsks(route, head.headers as IncomingHttpHeaders, deps);
      if (isRefusal(caller)) return caller;
      if (caller.accountId === null) return (await admit(caller, false)) ?? caller;
      const signature = await deps.signatures.verify(
        head,
        caller.accountId,
        { required: route.credential === 'signed', pin: route.operationId !== 'syncEdge' },
        (isPinned) => admit(caller, isPinned),
      );
      return isRefusal(signature) ? signature : { ...caller, signature };
    },
  };
}

/** What to do where no bearer is valid: a token, or where one is needed and a key came. */
function whyNoBearer(
  { credential }: Route,
  { authorization, 'x-api-key': apiKey }: IncomingHttpHeaders,
): Record<string, string> {
  if (apiKey !== undefined)
    return {
      reason: 'key_not_taken_here',
      next: 'this path takes a bearer token of a signed-in user (POST /v1/auth/login), no API key',
    };
  if (/^Bearer +(?:flk|loc)_/i.test(authorization ?? ''))
    return { reason: 'key_as_bearer', next: 'an API key goes into X-API-Key, not into Authorization' };
  if (authorization !== undefined)
    return {
      reason: 'invalid_token',
      next: 'the token is malformed, expired, of a login that ended or of another issuer: sign in again (POST /v1/auth/login), send it as Authorization: Bearer …',
    };
  return credential === 'application'
    ? {
        reason: 'no_credential',
        next: 'send an API key (flk_…) as X-API-Key, or a bearer token as Authorization: Bearer …',
      }
    : {
        reason: 'no_credential',
        next: 'send a bearer token of a signed-in user (POST /v1/auth/login) as Authorization: Bearer …',
      };
}

async function whoAsks(
  route: Route,
  headers: IncomingHttpHeaders,
  { apiKeys, bearers }: { apiKeys: ApiKeys; bearers: Bearers },
): Promise<Caller | Refusal> {
  const apiKey = headers['x-api-key'];
  if (route.credential === 'application' || route.credential === 'signed') {
    if (typeof apiKey === 'string') {
      const row = await apiKeys.authenticate(apiKey);
      if (row === null) return refuse('UNAUTHORIZED', whyNoKey(apiKey));
      return {
        ...NOBODY,
        accountId: row.accountId,
        environment: row.environment,
        apiKeyId: row.id,
        keyRole: row.role ?? 'editor',
      };
    }
    if (route.credential === 'signed')
      return refuse('UNAUTHORIZED', {
        reason: 'no_key',
        next: "send the edge's API key (flk_…) as X-API-Key, with its signature",
      });
  }
  const token = /^Bearer ([A-Za-z0-9._~+/=-]+)$/i.exec(headers.authorization ?? '')?.[1];
  const bearer = token === undefined ? null : await bearers.authenticate(token);
  if (bearer === null) {
    return refuse('UNAUTHORIZED', whyNoBearer(route, headers));
  }
  const environment = headers['x-environment'] ?? bearer.support?.environment ?? 'live';
  if (!ENVIRONMENTS.includes(environment as Environment)) {
    return refuse('INVALID_INPUT', { header: 'X-Environment', expected: ENVIRONMENTS.join(' or ') });
  }
  const { organizationId } = bearer;
  return {
    ...NOBODY,
    bearer,
    environment: environment as Environment,
    accountId: organizationId === null ? null : accountIdOf(organizationId, environment as Environment),
  };
}

/**
 * Null where staff may read, and for everybody else. Refuses: IMPERSONATION_FORBIDDEN, IMPERSONATION_READ_ONLY.
 */
export function supportRefusal(route: Route, { bearer, environment }: Caller): Refusal | null {
  if (bearer?.support === undefined) return null;
  const code = supportCode(route);
  if (code === 'IMPERSONATION_READ_ONLY')
    return refuse(code, { reason: 'support_session', next: 'ask a member to do it' });
  if (code !== null) return refuse(code, { reason: 'closed', next: 'ask an owner: staff never reads this' });
  return environment === bearer.support.environment
    ? null
    : refuse('IMPERSONATION_FORBIDDEN', { reason: 'environment', next: 'begin a session of the other environment' });
}

const rankOf = (role: OrgRole): number => ORG_ROLES.length - ORG_ROLES.indexOf(role);

/** Null when the caller may use the route. Refuses: SANDBOX_ONLY, FORBIDDEN. */
export function roleRefusal(
  route: Route,
  { bearer, apiKeyId, keyRole = 'editor', environment, accountId }: Caller,
  config: Pick<GatewayConfig, 'sso'>,
): Refusal | null {
  if (route.sandboxOnly === true && accountId !== null && environment === 'live')
    return refuse('SANDBOX_ONLY', { next: 'call it with a key of the sandbox: flk_test_…, or loc_test_… at an edge' });
  if (route.credential === 'admin') {
    return bearer?.platformAdmin === true ? null : refuse('FORBIDDEN', { needs: 'platform_role: admin' });
  }
  // What an edge does changes the account: a key that only reads is none of an edge.
  const needs = route.credential === 'signed' ? 'editor' : route.role;
  if (needs === null) return null;
  if (bearer?.ssoRequired !== undefined) return ssoRequired(config, bearer.ssoRequired);
  const role = apiKeyId === null ? (bearer?.role ?? null) : keyRole;
  return role !== null && rankOf(role) >= rankOf(needs) ? null : refuse('FORBIDDEN', { needs, has: role });
}
