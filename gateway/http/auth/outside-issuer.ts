/** What there is only where people are this cloud's own. Console A44. */
import { notFound, type Refusal } from '../../../protocol/errors.ts';
import type { OperationId } from '../../../protocol/routes.ts';
import type { GatewayConfig } from '../../deps.ts';

/** Password, factors and providers of organizations: with an outside issuer nobody signs in by them. */
const OF_OWN_PEOPLE: ReadonlySet<OperationId> = new Set<OperationId>([
  ...(['login', 'refresh', 'register', 'verifyEmail', 'acceptInvitation'] as const),
  ...(['forgotPassword', 'resetPassword', 'changePassword', 'changeEmail', 'confirmEmail'] as const),
  ...(['stepUp', 'enrolTotp', 'confirmTotp', 'disableTotp', 'makeRecoveryCodes'] as const),
  ...(['beginPasskeySignIn', 'signInByPasskey', 'beginPasskey', 'addPasskey', 'listPasskeys'] as const),
  ...(['removePasskey', 'askPasskey', 'keepFactors'] as const),
  ...(['listFactorResets', 'askFactorReset', 'confirmFactorReset', 'cancelFactorReset'] as const),
  ...(['listSsoConnections', 'setSsoConnection', 'removeSsoConnection', 'setSamlConnection', 'enforceSso'] as const),
  ...(['listDomains', 'addDomain', 'checkDomain', 'removeDomain'] as const),
  ...(['discoverSso', 'startSso', 'finishSso', 'linkSso'] as const),
]);

/** NOT_FOUND with the issuer where people of an outside issuer have no such path; null elsewhere. */
export const notOfOutsiders = (
  { oidc }: Pick<GatewayConfig, 'oidc'>,
  { operationId, path }: { readonly operationId: string; readonly path: string },
): Refusal | null =>
  oidc === null || !OF_OWN_PEOPLE.has(operationId as OperationId)
    ? null
    : notFound('path', path, { servedBy: oidc.issuer });
