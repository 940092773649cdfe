/**
 * Who asks, and whether they may: API key or bearer, then the edge's signature, then the role. Spec §5, decisions 2.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { isRefusal, refuse, type Refusal } from '../../../protocol/errors.ts';
import { accountIdOf } from '../../../protocol/ids.ts';
import type { OperationId } from '../../../protocol/routes.ts';
import type { Route } from '../../../protocol/route.ts';
import { ENVIRONMENTS, ORG_ROLES, type Environment, type OrgRole } from '../../../protocol/slugs.ts';
import { NOBODY, type Caller } from '../context.ts';
import type { ApiKeys } from './api-keys.ts';
import type { Bearers } from './bearer.ts';
import type { EdgeSignatures, SignedHead } from './edge-signature.ts';

export interface Credentials {
  /**
   * Refuses: UNAUTHORIZED, EDGE_SIGNATURE_SKEW, EDGE_SIGNATURE_INVALID, EDGE_NONCE_REPLAY, IDENTITY_ROTATION_PENDING.
   */
  authenticate(route: Route & { operationId: OperationId }, head: SignedHead): Promise<Caller | Refusal>;
}

export function createCredentials(deps: {
  apiKeys: ApiKeys; bearers: Bearers; signatures: EdgeSignatures;
}): Credentials {
  return {
    async authenticate(route, head) {
      if (route.credential === 'none') return NOBODY;
      const caller = await whoAsks(route, head.headers as IncomingHttpHeaders, deps);
      if (isRefusal(caller) || caller.accountId === null) return caller;
      const signature = await deps.signatures.verify(head, caller.accountId, {
        required: route.credential === 'signed', pin: route.operationId !== 'syncEdge',
      });
      return isRefusal(signature) ? signature : { ...caller, signature };
    },
  };
}

/** Only the edge that issued it can know such a key. */
const isLocalKey = (key: string): boolean => /^loc_(?:live|test)_/.test(key);

async function whoAsks(
  route: Route, headers: IncomingHttpHeaders, { apiKeys, bearers }: { apiKeys: ApiKeys; bearers: Bearers },
): Promise<Caller | Refusal> {
  const apiKey = headers['x-api-key'];
  if (route.credential === 'application' || route.credential === 'signed') {
    if (typeof apiKey === 'string') {
      const row = await apiKeys.authenticate(apiKey);
      if (row === null) return refuse('UNAUTHORIZED', isLocalKey(apiKey) ? { reason: 'local_key', next: 'this is a key of your edge: call your edge, or the cloud with a flk_ key' } : {});
      return { ...NOBODY, accountId: row.accountId, environment: row.environment, apiKeyId: row.id };
    }
    if (route.credential === 'signed') return refuse('UNAUTHORIZED', { reason: 'an API key is needed' });
  }
  const token = /^Bearer ([A-Za-z0-9._~+/=-]+)$/i.exec(headers.authorization ?? '')?.[1];
  const bearer = token === undefined ? null : await bearers.authenticate(token);
  if (bearer === null) {
    return refuse(
      'UNAUTHORIZED', typeof apiKey === 'string' ? { reason: 'a bearer token is needed here, not an API key' } : {},
    );
  }
  const environment = headers['x-environment'] ?? 'live';
  if (!ENVIRONMENTS.includes(environment as Environment)) {
    return refuse('INVALID_INPUT', { header: 'X-Environment', expected: ENVIRONMENTS.join(' or ') });
  }
  const { organizationId } = bearer;
  return {
    ...NOBODY, bearer, environment: environment as Environment,
    accountId: organizationId === null ? null : accountIdOf(organizationId, environment as Environment),
  };
}

const rankOf = (role: OrgRole): number => ORG_ROLES.length - ORG_ROLES.indexOf(role);

/** Null when the caller may use the route. Refuses: SANDBOX_ONLY, FORBIDDEN. */
export function roleRefusal(route: Route, { bearer, apiKeyId, environment, accountId }: Caller): Refusal | null {
  if (route.sandboxOnly === true && accountId !== null && environment === 'live') return refuse('SANDBOX_ONLY');
  if (route.credential === 'admin') {
    return bearer?.platformAdmin === true ? null : refuse('FORBIDDEN', { needs: 'platform_role: admin' });
  }
  if (route.role === null) return null;
  const role = apiKeyId === null ? bearer?.role ?? null : 'editor';
  return role !== null && rankOf(role) >= rankOf(route.role)
    ? null
    : refuse('FORBIDDEN', { needs: route.role, has: role });
}
