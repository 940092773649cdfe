/**
 * A local key as replicas share it through the cloud. The record is signed by the edge's identity, so that a cloud that
 * relays records cannot invent one; it can withhold them. Decisions 6.
 */
import type { KeyObject } from 'node:crypto';
import type { LocalKeyRecord } from '../../protocol/frames.ts';
import { isSignedBy, type Identity } from '../link/identity.ts';

export type UnsignedRecord = Omit<LocalKeyRecord, 'signature'>;

/** Text that is shown and joined by line feeds must have none of its own. */
export function isPlainText(text: string): boolean {
  return !/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text);
}

/**
 * `flock-local-key-v1\n` id `\n` environment `\n` hash `\n` label `\n` prefix `\n` createdAtMs `\n` revokedAtMs or
 * empty.
 */
export function recordText(record: UnsignedRecord): Buffer {
  const { id, environment, hash, label, prefix, createdAtMs, revokedAtMs } = record;
  return Buffer.from(
    ['flock-local-key-v1', id, environment, hash, label, prefix, createdAtMs, revokedAtMs ?? ''].join('\n'),
  );
}

export function signRecord(identity: Identity, record: UnsignedRecord): LocalKeyRecord {
  return { ...record, signature: identity.sign(recordText(record)).toString('hex') };
}

/**
 * `signed`   the edge's identity signed this very record
 * `revoked`  it signed the record before somebody else revoked it: a revocation needs no signature, since a cloud that
 *            forges one gains nothing, and the console revokes keys this way
 */
export function judgeRecord(identityKey: KeyObject, record: LocalKeyRecord): 'signed' | 'revoked' | 'foreign' {
  if (!isPlainText(record.label) || !isPlainText(record.prefix)) return 'foreign';
  if (isSignedBy(identityKey, recordText(record), record.signature)) return 'signed';
  if (record.revokedAtMs === null) return 'foreign';
  return isSignedBy(identityKey, recordText({ ...record, revokedAtMs: null }), record.signature)
    ? 'revoked'
    : 'foreign';
}
