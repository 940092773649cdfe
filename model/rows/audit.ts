/** An entry of the audit log as its writer notes it. Console U1, U2. */
import type { OperationId } from '../../protocol/routes.ts';
import type { StoredWrite } from './stored.ts';

/** What the log names: an operation of the route table, or what no request asks for. */
export type AuditAction =
  | OperationId
  | 'settleBand'
  | 'beginWipe'
  | 'wipeAccount'
  | 'endWipe'
  | 'lockFactor'
  | 'passkeyCounter'
  | 'resetFactors';

/** Old and new value of a field that is no secret. */
export type AuditChanges = Readonly<Record<string, readonly [before: AuditValue, after: AuditValue]>>;
export type AuditValue = string | number | boolean | null | readonly string[];

export interface AuditNote {
  readonly actor: { readonly kind: 'user' | 'key' | 'edge' | 'admin' | 'system'; readonly id: string | null };
  /** What the actor came with. */
  readonly via: 'console' | 'api_key' | 'edge' | 'command_line' | 'job';
  readonly action: AuditAction;
  /** Id of what it was about. */
  readonly target: string | null;
  readonly outcome: 'done' | 'refused' | 'failed';
  /** Why it was refused or failed. */
  readonly reason?: string;
  readonly changes: AuditChanges | null;
  readonly ip: string | null;
  readonly client: string | null;
  readonly requestId: string | null;
}

/** The part of a note that nothing is known for where no request made the change. */
export const UNASKED = {
  target: null,
  outcome: 'done',
  changes: null,
  ip: null,
  client: null,
  requestId: null,
} as const satisfies Partial<AuditNote>;

/** A note, and whose log it is of. */
export interface AuditRecord extends AuditNote {
  readonly organizationId: string;
}

/** The note of an append, in the log of the account's organization. */
export type AuditWrite = StoredWrite<'audit_notes', { note: AuditNote }>;
