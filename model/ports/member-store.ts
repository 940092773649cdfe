/** Members of organizations: roles, leaving, handing over. Console A27–A29. */
import type { AuditRecord } from '../rows/audit.ts';
import type { OrgRole } from '../../protocol/slugs.ts';
import type { OrganizationRow } from './identity-store.ts';

/** `last_owner`: the organization would have none. `break_glass`: nobody would get in without its provider. */
export type MemberOutcome = 'done' | 'unknown' | 'last_owner' | 'break_glass';

export interface MemberStore {
  /** Organizations of a user with the role in each, by id. */
  organizationsOf(userId: string): Promise<readonly (OrganizationRow & { readonly role: OrgRole })[]>;
  roleOf(organizationId: string, userId: string): Promise<OrgRole | null>;
  changeRole(organizationId: string, userId: string, role: OrgRole, audit?: AuditRecord): Promise<MemberOutcome>;
  remove(organizationId: string, userId: string, audit?: AuditRecord): Promise<MemberOutcome>;
  rename(organizationId: string, name: string, audit?: AuditRecord): Promise<void>;
  /** Keys of the organization that a user minted and that are not revoked. */
  keysMintedBy(organizationId: string, userId: string): Promise<number>;
  /**
   * Makes a member with a confirmed second factor an owner and lets the one who hands over step down, in one statement:
   * both or nothing. `unknown`: no such member, or one without the factor.
   */
  transfer(
    organizationId: string,
    from: string,
    to: string,
    then: 'editor' | 'viewer' | 'leave',
    audit?: AuditRecord,
  ): Promise<MemberOutcome>;
}
