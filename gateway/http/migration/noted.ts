/** What was done in a migration, in the log of the organization. Console U1. */
import type { AuditNote } from '../../../model/rows/audit.ts';
import { organizationOf } from '../../../protocol/ids.ts';
import { accountOf, type Asked } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';

/** The note as a field of a command, whose append writes it. */
export const noteOf = ({ note }: Pick<Asked, 'note'>, target: string): { audit?: AuditNote } =>
  note === null ? {} : { audit: { ...note, target } };

/** Records the note of a request whose effect is no append of the account. */
export async function noted(
  { stores: { auditLog } }: Pick<HandlerDeps, 'stores'>,
  asked: Pick<Asked, 'note' | 'caller'>,
  target: string,
): Promise<void> {
  if (asked.note === null) return;
  await auditLog.record({ ...asked.note, target, organizationId: organizationOf(accountOf(asked)) });
}
