/**
 * An instruction as replicas share it through the cloud. The record is signed by the edge's identity, so that a cloud
 * that relays records cannot invent or alter one; it can withhold them, or show an older one of the same instruction.
 */
import { createHash, type KeyObject } from 'node:crypto';
import type { InstructionRecord } from '../../protocol/frames.ts';
import { isSignedBy, type Identity } from '../link/identity.ts';

type UnsignedRecord = Omit<InstructionRecord, 'signature'>;

/**
 * `flock-instruction-v2\n` environment `\n` transactionId `\n` askedAtMs `\n` SHA-256 of instruction `\n` of unsigned
 * `\n` broadcastAtMs or empty `\n` broadcastUnsigned or empty.
 */
export function instructionText(record: UnsignedRecord): Buffer {
  const { environment, transactionId, askedAtMs, instruction, unsigned, broadcastAtMs, broadcastUnsigned } = record;
  return Buffer.from(
    [
      'flock-instruction-v2',
      environment,
      transactionId,
      askedAtMs,
      sha256(instruction),
      sha256(unsigned),
      broadcastAtMs ?? '',
      broadcastUnsigned ?? '',
    ].join('\n'),
  );
}

export function signInstruction(identity: Identity, record: UnsignedRecord): InstructionRecord {
  return { ...record, signature: identity.sign(instructionText(record)).toString('hex') };
}

/** Whether the edge's own identity signed this very record. */
export function isOwnInstruction(identityKey: KeyObject, record: InstructionRecord): boolean {
  return isSignedBy(identityKey, instructionText(record), record.signature);
}

/** SHA-256 in hex: how a record names a text. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
