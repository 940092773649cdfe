/**
 * Shares instructions with the other replicas through the cloud: what was built at a follower can be signed by the
 * leader, and by each later leader.
 */
import type { KeyObject } from 'node:crypto';
import type { Acknowledgement, InstructionRecord } from '../../protocol/frames.ts';
import type { Environment } from '../../protocol/slugs.ts';
import type { Identity } from '../link/identity.ts';
import { isOwnInstruction, signInstruction } from './instruction-record.ts';
import type { Instructions, RecordedInstruction } from './instructions.ts';
import { isBoundText } from './stored-text.ts';
import type { EdgeLog } from '../process/log.ts';

/** How much the clocks of two replicas may differ, as those of edge and cloud (spec §5.3). Milliseconds. */
export const AHEAD_MS_MAX = 300_000;
/** protocol/frames.ts `instructionRecord`: a larger payload stays at the replica that it was built at. */
const UNSIGNED_CHARACTERS_MAX = 900_000;
/**
 * Answers that the same record would get again: it stays at this replica until a caller asks anew; others are sent on.
 */
const FOR_GOOD: ReadonlySet<string> = new Set(['INVALID_INPUT', 'NOT_FOUND', 'PAYLOAD_TOO_LARGE']);

export interface InstructionShareSettings {
  readonly instructions: Instructions;
  readonly environment: Environment;
  readonly identity: Identity;
  readonly identityKey: KeyObject;
  readonly nowMs: () => number;
  /** EDGE_INSTRUCTION_TTL. */
  readonly ttlMs: number;
  readonly log: EdgeLog;
}

/** A caller of another replica broadcast this instruction; whether its counter is bound. */
export type OnBroadcast = (recorded: RecordedInstruction, asked: 'as_bound' | 'unbound') => void;

export type SendInstructions = (records: InstructionRecord[]) => Promise<Acknowledgement | null>;

export class InstructionShare {
  readonly #settings: InstructionShareSettings;
  #sending: Promise<void> = Promise.resolve();
  /** A round that has not begun: it includes everything that is recorded until then. */
  #next: Promise<void> | null = null;

  constructor(settings: InstructionShareSettings) {
    this.#settings = settings;
  }

  /** Sends what the cloud has not accepted, oldest first; resolves when it has, or will not now. Never rejects. */
  send(deliver: SendInstructions): Promise<void> {
    this.#next ??= this.#sending
      .then(() => {
        this.#sending = this.#next!;
        this.#next = null;
        return this.#sendAll(deliver);
      })
      .catch((error: unknown) => this.#settings.log.fault('instructions_fault', error));
    return this.#next;
  }

  /**
   * Accepts records of other replicas. One that the identity did not sign is an alarm, since only a cloud can have made
   * it. So is one that gives a known id another instruction.
   */
  take(records: readonly InstructionRecord[], onBroadcast: OnBroadcast): void {
    const { instructions, environment, identityKey, nowMs, log } = this.#settings;
    let foreign = 0;
    for (const record of records) {
      const atMs = Math.max(record.askedAtMs, record.broadcastAtMs ?? 0);
      const own =
        record.environment === environment && atMs <= nowMs() + AHEAD_MS_MAX && isOwnInstruction(identityKey, record);
      if (!own || !instructions.take(record)) foreign += 1;
      else if (record.broadcastAtMs !== null)
        onBroadcast(instructions.get(record.transactionId)!, isBoundText(record.unsigned) ? 'as_bound' : 'unbound');
    }
    if (foreign > 0) log.alarm('foreign_instructions_refused', { count: foreign });
  }

  async #sendAll(deliver: SendInstructions): Promise<void> {
    const { instructions, environment, identity, nowMs, ttlMs, log } = this.#settings;
    for (const stored of instructions.unshared(nowMs() - ttlMs, UNSIGNED_CHARACTERS_MAX)) {
      const { transactionId, askedAtMs } = stored;
      const record = signInstruction(identity, { ...stored, environment });
      const reply = await deliver([record]);
      if (reply?.ok !== true) {
        if (reply !== null) log.warn('instruction_not_taken', { transactionId, code: reply.code ?? 'INTERNAL_ERROR' });
        if (!FOR_GOOD.has(reply?.code ?? '')) return;
      }
      instructions.noteShared(transactionId, askedAtMs);
    }
  }
}
