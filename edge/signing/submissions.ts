/**
 * Submits signed transactions from the outbox to the cloud: the same bytes until the cloud has accepted or refused
 * them. The caller of a broadcast may wait for the answer; the bytes do not wait for the caller.
 */
import { cloudRefusal } from '../answers/cloud-refusal.ts';
import { failpoint } from '../../protocol/node/failpoint.ts';
import { type ErrorCode, isRefusal, type Refusal, refuse } from '../../protocol/errors.ts';
import type { EdgeLog } from '../process/log.ts';
import type { Instructions } from './instructions.ts';
import type { Lease } from '../link/lease.ts';
import type { NewWrite, OutboxWrite } from '../link/outbox.ts';
import type { PaymentGuard } from './payment-guard.ts';
import type { Instruction } from './signers/signer.ts';
import type { Sent } from '../link/outbox-sender.ts';
import type { Timers } from '../process/timers.ts';
import { submissionVerdict } from '../link/write-verdicts.ts';
import { NOTHING_DENIED } from '../link/reported.ts';
import type { Submitted, ViaLeader } from '../link/via-leader.ts';
import type { Upstream } from '../link/upstream.ts';

export interface Submission {
  readonly transactionId: string;
  readonly txid: string;
  readonly signedPayload: string;
}

export type Submitter = Pick<Instruction, 'id' | 'chain' | 'from'>;

/** Submissions of one sender leave in the order of their signatures; nobody else waits for them. */
export function submissionOf(
  { id, chain, from }: Submitter,
  { txid, payload }: { readonly txid: string; readonly payload: string },
): NewWrite {
  const submission: Submission = { transactionId: id, txid, signedPayload: payload };
  return { subject: `${id}/${txid}`, lane: `${chain} ${from}`, body: JSON.stringify(submission) };
}

/**
 * A refusal that comes although signed bytes exist. They may land nevertheless: an application that pays again without
 * looking for their txid may pay twice.
 */
export function refusalOfSigned(refusal: Refusal, txids: readonly string[]): Refusal {
  const others = txids.length > 1 ? { txids } : {};
  return { ...refusal, details: { ...refusal.details, signed: true, txid: txids.at(-1)!, ...others } };
}

/** How long a caller waits for the cloud's answer to a broadcast. Milliseconds. */
export const SUBMISSION_WAIT_MS = 20_000;

/** Whether a refusal claims that a transaction will not land. A conflict concerns this version only. */
export function isFailureWord(code: ErrorCode): boolean {
  return submissionVerdict(code) === 'decided' && code !== 'CONFLICT';
}

export interface SubmissionsSettings {
  readonly sessionId: string;
  readonly upstream: Upstream;
  readonly lease: Lease;
  readonly instructions: Instructions;
  readonly timers: Timers;
  /** For bytes that were signed just before another replica became the leader. */
  readonly viaLeader: ViaLeader;
  readonly guard: PaymentGuard;
  readonly log: EdgeLog;
  /** A refusal that concerns the registration or the lease. */
  readonly onRefused: (code: ErrorCode) => void;
}

export class Submissions {
  readonly #settings: SubmissionsSettings;
  readonly #waiting = new Map<string, Set<(submitted: Submitted) => void>>();

  constructor(settings: SubmissionsSettings) {
    this.#settings = settings;
  }

  /** The cloud's answer to a submission, or a refusal after a time-out; the bytes then stay in the outbox. */
  answerOf(subject: string): Promise<Submitted> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(subject) ?? new Set();
      this.#waiting.set(subject, waiting);
      const give = (submitted: Submitted) => {
        cancel();
        waiting.delete(give);
        if (waiting.size === 0) this.#waiting.delete(subject);
        resolve(submitted);
      };
      const cancel = this.#settings.timers.after(SUBMISSION_WAIT_MS, () =>
        give(
          refuse(
            'UPSTREAM_UNAVAILABLE',
            {
              reason: 'no_answer',
              signed: true,
            },
            'signed and kept; the same bytes are submitted as soon as the cloud can be reached',
          ),
        ),
      );
      waiting.add(give);
    });
  }

  /** The process ends: waiting callers get a refusal that says that the bytes are kept. */
  stop(): void {
    for (const subject of [...this.#waiting.keys()])
      this.#give(subject, refuse('SERVICE_UNAVAILABLE', { reason: 'stopping', signed: true }));
  }

  /** Sends the one submission at the head of a lane. */
  async send([write]: readonly OutboxWrite[]): Promise<Sent> {
    const { upstream, lease, instructions, sessionId, onRefused } = this.#settings;
    const { transactionId, txid, signedPayload } = JSON.parse(write!.body) as Submission;
    const { held, leaseEpoch } = lease.view();
    if (!held) return this.#sendViaLeader(write!.subject, transactionId, txid, leaseEpoch);
    failpoint('edge.submit.before');
    const reply = await upstream.signed.call('submitSigned', {
      params: { id: transactionId },
      body: { signedPayload, txid, sessionId, leaseEpoch },
    });
    failpoint('edge.submit.after');
    if (!isRefusal(reply)) {
      instructions.noteOutcome(transactionId, txid, 'taken', null);
      this.#give(write!.subject, reply);
      return { kind: 'taken' };
    }
    onRefused(reply.code);
    const isOwn = (text: string) => txid.toLowerCase().includes(text.toLowerCase());
    const verdict = submissionVerdict(reply.code),
      isKept = verdict !== 'decided';
    if (!isKept && !(await this.#noteDecided(reply.code, transactionId, txid))) return { kind: 'held' };
    if (reply.code !== 'UPSTREAM_UNAVAILABLE')
      this.#give(write!.subject, refusalOfSigned(cloudRefusal(reply, isOwn), [txid]));
    if (!isKept) return { kind: 'taken' };
    return verdict === 'waits' ? { kind: 'held' } : { kind: 'refused', code: reply.code, all: verdict === 'stuck_all' };
  }

  /**
   * The bytes leave the queue, with an alarm or a warning, since they may still land. False when the denial cannot be
   * recorded; then nobody receives it.
   */
  async #noteDecided(code: ErrorCode, transactionId: string, txid: string): Promise<boolean> {
    const { instructions, guard, log } = this.#settings;
    if (isFailureWord(code)) {
      if (!(await guard.noteDenied({ ...NOTHING_DENIED, failed: [transactionId] }))) return false;
      log.alarm('submission_refused', { transactionId, txid, code });
    } else log.warn('submission_not_taken', { transactionId, txid, code });
    instructions.noteOutcome(transactionId, txid, 'refused', code);
    return true;
  }

  /** Another replica leads: it signs the same instruction, under the same replay key, and submits. */
  async #sendViaLeader(subject: string, transactionId: string, txid: string, leaseEpoch: number): Promise<Sent> {
    const { instructions, viaLeader } = this.#settings;
    const reply = await viaLeader(transactionId, true);
    if (!isRefusal(reply)) {
      instructions.noteOutcome(transactionId, txid, 'taken', null);
      this.#give(subject, reply);
      return { kind: 'taken' };
    }
    this.#give(subject, refuse('LEASE_HELD', { leaseEpoch, signed: true }));
    return { kind: 'held' };
  }

  #give(subject: string, submitted: Submitted): void {
    for (const give of [...(this.#waiting.get(subject) ?? [])]) give(submitted);
  }
}
