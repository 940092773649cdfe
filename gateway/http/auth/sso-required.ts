/** Where an organization lets its members in by its provider alone. Console A41. */
import type { KnownMembership, KnownUser } from '../../../model/ports/identity-store.ts';
import type { SsoKind } from '../../../model/ports/sso-store.ts';
import { refuse, type Refusal } from '../../../protocol/errors.ts';
import type { GatewayConfig } from '../../deps.ts';

/** Whether the operator lets people sign in by a kind of provider. */
export const isOpenTo = ({ sso }: Pick<GatewayConfig, 'sso'>, kind: SsoKind): boolean =>
  kind === 'saml' || (sso?.oidc ?? true);

/** Who gets in where the operator closed the provider that an organization lets its members in by alone. */
const WAY_IN =
  'this cloud lets nobody in by OpenID Connect (SSO_OIDC=off), which the organization lets its members in by alone: an owner who is named for emergencies signs in by password and second factor and ends that (POST /v1/settings/sso/{id}/enforcement), or the operator sets SSO_OIDC=on';

/** FORBIDDEN with `reason` sso_required; with `setting` where the operator closed that way in. */
export const ssoRequired = (config: Pick<GatewayConfig, 'sso'>, kind: SsoKind): Refusal =>
  isOpenTo(config, kind)
    ? refuse('FORBIDDEN', {
        reason: 'sso_required',
        next: 'the organization lets you in by its identity provider alone: sign in there (POST /v1/auth/sso/start)',
      })
    : refuse('FORBIDDEN', { reason: 'sso_required', setting: 'SSO_OIDC', next: WAY_IN });

/** FORBIDDEN with `reason` sso_required, for an email that would be a way round the provider. */
export const keepsDomain = (): Refusal =>
  refuse('FORBIDDEN', {
    reason: 'sso_required',
    next: 'keep an email of the domain while its organization lets you in by its identity provider alone',
  });

/** FORBIDDEN with `reason` sso_off. */
export const ssoOff = (isEnforced: boolean): Refusal =>
  refuse('FORBIDDEN', {
    reason: 'sso_off',
    setting: 'SSO_OIDC',
    next: isEnforced
      ? WAY_IN
      : 'this cloud lets nobody in by OpenID Connect (SSO_OIDC=off): sign in by password or passkey, or use SAML',
  });

/** CONFLICT where the last owner would be gone who gets in without the provider. */
export const lastBreakGlass = (): Refusal =>
  refuse('CONFLICT', {
    reason: 'break_glass',
    next: 'single sign-on is enforced: name another owner with password and factor for emergencies first, or end it',
  });

/** Whether a login may be in an organization of the person; `onlyOrganizationId`: whose provider it came by. */
export const mayEnter = (
  { onlyOrganizationId }: { readonly onlyOrganizationId?: string | null },
  { organizationId, ssoRequired: provider }: KnownMembership,
): boolean => provider === null || onlyOrganizationId === organizationId;

/**
 * Where a login by password or passkey begins: in the organization that is asked for, or in the first one that lets the
 * person in so; in none for who is a member of none. Refuses: UNAUTHORIZED, FORBIDDEN `sso_required`.
 */
export function entranceOf(
  config: Pick<GatewayConfig, 'sso'>,
  { memberships, platformRole }: KnownUser,
  organizationId: string | undefined,
): { readonly membership: KnownMembership | undefined } | Refusal {
  if (organizationId !== undefined) {
    const membership = memberships.find((one) => one.organizationId === organizationId);
    if (membership === undefined) return refuse('UNAUTHORIZED');
    return membership.ssoRequired === null ? { membership } : ssoRequired(config, membership.ssoRequired);
  }
  const membership = memberships.find((one) => one.ssoRequired === null);
  // Staff works in no organization: a customer shuts nobody of it out.
  const kinds = memberships.map((one) => one.ssoRequired).filter((kind) => kind !== null);
  if (membership !== undefined || kinds.length === 0 || platformRole === 'admin') return { membership };
  // One that is open is a way in, whatever became of the others.
  return ssoRequired(config, kinds.find((kind) => isOpenTo(config, kind)) ?? kinds[0]!);
}
