/**
 * The audit log of an organization: entries by filter, the whole chain in its order, and its newest entry. Console U.
 */
import type { AuditRecord, AuditNote } from '../rows/audit.ts';

export interface AuditEntryRow {
  readonly seq: number;
  /** 64 hex digits. */
  readonly hash: string;
  /** Null where its time is over. */
  readonly text: string | null;
}

export interface AuditFilter {
  readonly actor?: string;
  readonly action?: string;
  readonly target?: string;
  readonly outcome?: string;
  /** From this instant on, up to before that one. */
  readonly fromMs?: number;
  readonly toMs?: number;
}

export interface AuditPage {
  readonly rows: readonly AuditEntryRow[];
  /** Where the walk goes on: below this `seq`; null at the end. A page may have fewer rows than asked, and go on. */
  readonly below: number | null;
}

export interface AuditLogStore {
  /** Records notes that have no other effect than the record. */
  record(...records: AuditRecord[]): Promise<void>;
  /** The same in the log of every organization of a user. */
  recordOfUser(userId: string, note: AuditNote): Promise<void>;
  /** Entries that still have their text, newest first. */
  page(organizationId: string, filter: AuditFilter, ask: { below: number | null; size: number }): Promise<AuditPage>;
  /** The chain in its order, behind a `seq`. */
  chain(organizationId: string, behind: number, most: number): Promise<readonly AuditEntryRow[]>;
  /** `seq` and `hash` of the newest entry; null for a log without one. */
  head(organizationId: string): Promise<{ seq: number; hash: string } | null>;
  /** Drops texts whose time is over by their tier; answers how many. `days` replaces the terms of the tiers. */
  trim(days?: Readonly<Record<string, number | null>>): Promise<number>;
}
