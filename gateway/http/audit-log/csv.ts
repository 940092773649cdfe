/** Entries of the audit log as rows of a spreadsheet. Console U6. */
import type { AuditEntryRow } from '../../../model/ports/audit-log-store.ts';
import { csvLine } from '../../../protocol/csv.ts';

const COLUMNS = [
  'actor',
  'via',
  'action',
  'target',
  'environment',
  'outcome',
  'reason',
  'changes',
  'ip',
  'client',
  'requestId',
];

export const csvHead = csvLine(['seq', 'at', 'actor.kind', 'actor.id', 'actor.name', ...COLUMNS.slice(1), 'hash']);

/** One row; of an entry whose text is gone only its number and hash. */
export function csvOf({ seq, hash, text }: AuditEntryRow): string {
  const said = (text === null ? {} : JSON.parse(text)) as Record<string, unknown>;
  const { kind, id, name } = (said['actor'] ?? {}) as Record<string, unknown>;
  const at = typeof said['at'] === 'number' ? new Date(said['at']).toISOString() : null;
  return csvLine([seq, at, ...[kind, id, name, ...COLUMNS.slice(1).map((column) => said[column])].map(cellOf), hash]);
}

const cellOf = (value: unknown): string | null =>
  value === undefined || value === null ? null : typeof value === 'string' ? value : JSON.stringify(value);
