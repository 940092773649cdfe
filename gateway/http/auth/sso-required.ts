/** Where an organization lets its members in by its provider alone. Console A41. */
import type { KnownMembership, KnownUser } from '../../../model/ports/identity-store.ts';
import { refuse, type Refusal } from '../../../protocol/errors.ts';

/** FORBIDDEN with `reason` sso_required. */
export const ssoRequired = (): Refusal =>
  refuse('FORBIDDEN', {
    reason: 'sso_required',
    next: 'the organization lets you in by its identity provider alone: sign in there (POST /v1/auth/sso/start)',
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
  { organizationId, ssoRequired: isRequired }: KnownMembership,
): boolean => !isRequired || onlyOrganizationId === organizationId;

/**
 * Where a login by password or passkey begins: in the organization that is asked for, or in the first one that lets the
 * person in so; in none for who is a member of none. Refuses: UNAUTHORIZED, FORBIDDEN `sso_required`.
 */
export function entranceOf(
  { memberships, platformRole }: KnownUser,
  organizationId: string | undefined,
): { readonly membership: KnownMembership | undefined } | Refusal {
  if (organizationId !== undefined) {
    const membership = memberships.find((one) => one.organizationId === organizationId);
    if (membership === undefined) return refuse('UNAUTHORIZED');
    return membership.ssoRequired ? ssoRequired() : { membership };
  }
  const membership = memberships.find((one) => !one.ssoRequired);
  // Staff works in no organization: a customer shuts nobody of it out.
  const isShutOut = membership === undefined && memberships.length > 0 && platformRole !== 'admin';
  return isShutOut ? ssoRequired() : { membership };
}
