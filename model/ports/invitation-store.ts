/** Invitations to organizations, each bound to an email. Console A30, A31. */
import type { AuditRecord } from '../rows/audit.ts';
import type { OrgRole } from '../../protocol/slugs.ts';
import type { NewLetter } from './people-store.ts';

export type InvitationEnd = 'accepted' | 'revoked' | 'replaced';

export interface InvitationRow {
  readonly id: string;
  readonly organizationId: string;
  /** Lowercase. */
  readonly email: string;
  readonly role: OrgRole;
  readonly invitedBy: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /** Why it ended; null while it is open, or too old. */
  readonly why: InvitationEnd | null;
}

/** Members of an organization, and its open invitations. Console A26. */
export const MEMBERS_MAX = 200;
export const INVITATIONS_MAX = 50;

/** `audit` is written by the statement of its effect, or neither is. */
export interface InvitationStore {
  /** In place of the open one to the same email, with its letter; `limit` where too many are open. */
  invite(
    row: Omit<InvitationRow, 'why'>,
    hash: string,
    letter: NewLetter | null,
    audit?: AuditRecord,
  ): Promise<'done' | 'limit'>;
  /** Another link for an open invitation, also one that was too old. Null where there is none. */
  renew(
    organizationId: string,
    id: string,
    link: { readonly hash: string; readonly expiresAtMs: number },
    letter: NewLetter | null,
    nowMs: number,
    audit?: AuditRecord,
  ): Promise<InvitationRow | null>;
  /** False where no such one is open. */
  revoke(organizationId: string, id: string, nowMs: number, audit?: AuditRecord): Promise<boolean>;
  /** The newest 200. */
  list(organizationId: string): Promise<readonly InvitationRow[]>;
  byLink(hash: string): Promise<InvitationRow | null>;
  one(organizationId: string, id: string): Promise<InvitationRow | null>;
  /** Makes the user a member, once: null where the invitation is over; a member keeps the role that they have. */
  accept(hash: string, userId: string, nowMs: number, audit?: AuditRecord): Promise<'done' | 'limit' | null>;
  /** The same of somebody new, who becomes a user by it: `known` where the email has one by now. */
  join(
    hash: string,
    user: { readonly id: string; readonly passwordHash: string },
    nowMs: number,
    audit?: AuditRecord,
  ): Promise<'done' | 'limit' | 'known' | null>;
}
