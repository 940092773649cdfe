/**
 * An instruction as replicas share it through the cloud. The record is signed by the edge's identity, so that a cloud
 * that relays records cannot invent or alter one; it can withhold them, or show an older one of the same instruction.
 */
import { createHash, type KeyObject } from 'node:crypto';
import type { InstructionRecord } from '../protocol/frames.ts';
import { isSignedBy, type Identity } from './identity.ts';

type UnsignedRecord = Omit<InstructionRecord, 'signature'>;

/** `flock-instruction-v1\n` environment `\n` transactionId `\n` askedAtMs `\n` SHA-256 of instruction `\n` of unsigned. */
export function instructionText({ environment, transactionId, askedAtMs, instruction, unsigned }: UnsignedRecord): Buffer {
  return Buffer.from(['flock-instruction-v1', environment, transactionId, askedAtMs, sha256(instruction), sha256(unsigned)].join('\n'));
}

export function signInstruction(identity: Identity, record: UnsignedRecord): InstructionRecord {
  return { ...record, signature: identity.sign(instructionText(record)).toString('hex') };
}

/** Whether the edge's own identity signed this very record. */
export function isOwnInstruction(identityKey: KeyObject, record: InstructionRecord): boolean {
  return isSignedBy(identityKey, instructionText(record), record.signature);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
