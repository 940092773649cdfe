/** Sessions in which staff read an account, with the consent of an owner. Console A45. */
import type { AuditRecord } from '../rows/audit.ts';
import type { Environment } from '../../protocol/slugs.ts';

export interface SupportSessionRow {
  readonly id: string;
  readonly organizationId: string;
  readonly environment: Environment;
  readonly adminId: string;
  readonly reason: string;
  readonly createdAtMs: number;
  readonly endsAtMs: number;
  readonly endedAtMs: number | null;
}

/** `audit` is written by the statement of its effect, or neither is. */
export interface SupportStore {
  /** Until when sessions may begin; null: not at all. */
  accessUntil(organizationId: string): Promise<number | null>;
  /** Null ends every open session, too. */
  allowAccess(organizationId: string, untilMs: number | null, nowMs: number, audit?: AuditRecord): Promise<void>;
  /**
   * Begins a session with its entry and a letter to each owner; false where no owner allows it now. Atomic with the
   * look at the consent.
   */
  begin(
    row: Omit<SupportSessionRow, 'endedAtMs'> & {
      /** The login of who reads; it ends with that. */ readonly loginId: string | null;
    },
    facts: Readonly<Record<string, string>>,
    audit?: AuditRecord,
  ): Promise<boolean>;
  /** False where no such one is open. */
  end(organizationId: string, id: string, nowMs: number, audit?: AuditRecord): Promise<boolean>;
  /** The newest 50, with the email of who reads. */
  list(organizationId: string): Promise<readonly (SupportSessionRow & { readonly adminEmail: string })[]>;
  /** A session that is good now: not ended, its owner's consent still there, its reader still an administrator. */
  standing(id: string, nowMs: number): Promise<SupportSessionRow | null>;
}
