/**
 * The one way to a signature that no local key asked for: transactions of treasury operations, which the cloud starts.
 * In this order, as for withdrawals: lease and epoch · an operator's stop · rotation · the instruction, made here
 * (instruction.ts) · the payload is checked against it (signing/signers/rules.ts) · the spend is counted · the payload
 * is in the journal · it is signed · the signed bytes and their submission are written. Treasury E1–E6.
 *
 * What the cloud can gain by it is bounded: everything goes to the company's own addresses, and fundings and fees count
 * against EDGE_SPEND_CAP_<CHAIN> before the signature.
 */
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import type { OperateFrame } from '../../protocol/frames.ts';
import { failpoint } from '../../protocol/node/failpoint.ts';
import type { Signed } from '../../chains/chain.ts';
import { askFor } from '../signing/asked.ts';
import { isPayable, unsignedOf } from '../signing/built-reply.ts';
import { signedNetwork, signWith } from '../signing/lent-keys.ts';
import { claimOf } from '../signing/payments.ts';
import { signingPolicyOf } from '../signing/policy.ts';
import { isOwnBound } from '../signing/signers/fee-bounds.ts';
import { noSigner, stepIn } from '../signing/signers/refusal-steps.ts';
import { refuseToSign, type Instruction, type Signer } from '../signing/signers/signer.ts';
import type { SigningSettings } from '../signing/signing.ts';
import type { RecordedInstruction } from '../signing/stored-text.ts';
import { submissionOf, type Submissions } from '../signing/submissions.ts';
import { burnOf, fundingOf, spendOf, type Spend, type TokenSpend } from '../spend/caps.ts';
import type { TokenRegistry } from '../link/token-registry.ts';
import type { Submitted } from '../link/via-leader.ts';
import type { Storage } from '../storage/storage.ts';
import { operationOf, type OperationRules } from './instruction.ts';
import { sweepsStoppedAtMs } from './stop.ts';

type Shared = Pick<
  SigningSettings,
  | 'environment'
  | 'lease'
  | 'instructions'
  | 'ledger'
  | 'shared'
  | 'outbox'
  | 'keystore'
  | 'policies'
  | 'nextCounter'
  | 'upstream'
  | 'signerOf'
  | 'beat'
  | 'nudge'
  | 'log'
>;

export interface OperationsSettings extends Shared {
  readonly submissions: Pick<Submissions, 'answerOf'>;
  readonly storage: Pick<Storage, 'setting'>;
  readonly registry: Pick<TokenRegistry, 'current'>;
}

/** What an operator is shown. */
export interface OperationsReport {
  readonly stoppedAtMs: number | null;
  /** Reason or code → how often since the start, most frequent first. */
  readonly refusals: readonly (readonly [reason: string, count: number])[];
  /** Last signature of an operation in this process; null for none. */
  readonly lastSignedAtMs: number | null;
}

/** What an operator of this edge decided. */
const EXPECTED: ReadonlySet<string> = new Set(['sweeps_stopped', 'btc_sweeps_off']);

/** Reasons that are counted apart. */
const REASONS_MAX = 100;

export class Operations {
  readonly #settings: OperationsSettings;
  /** The signing under way of each transaction: the next frame for it waits, and reads the journal after it. */
  readonly #running = new Map<string, Promise<unknown>>();
  readonly #refusals = new Map<string, number>();
  #lastSignedAtMs: number | null = null;

  constructor(settings: OperationsSettings) {
    this.#settings = settings;
  }

  report(): OperationsReport {
    return {
      stoppedAtMs: sweepsStoppedAtMs(this.#settings.storage),
      refusals: [...this.#refusals].toSorted(([, left], [, right]) => right - left),
      lastSignedAtMs: this.#lastSignedAtMs,
    };
  }

  /**
   * The cloud asks the leader to sign a transaction of an operation; answers what the cloud said to its submission.
   * Refuses: SIGNED_BATCH_REJECTED, LEASE_HELD, LEASE_EPOCH_STALE, IDENTITY_ROTATION_PENDING, EDGE_OUTBOX_FULL,
   * AMOUNT_CAP_EXCEEDED, CHAIN_UNAVAILABLE, SERVICE_UNAVAILABLE.
   */
  async onFrame(frame: OperateFrame): Promise<Submitted> {
    const { transactionId } = frame;
    const before = this.#running.get(transactionId) ?? Promise.resolve();
    const signing = before.then(
      () => this.#toSignature(frame),
      () => this.#toSignature(frame),
    );
    this.#running.set(transactionId, signing);
    let signed: Refusal | { readonly instruction: Instruction; readonly signed: Signed };
    try {
      signed = await signing;
    } finally {
      if (this.#running.get(transactionId) === signing) this.#running.delete(transactionId);
    }
    if (!isRefusal(signed)) return this.#submit(signed.instruction, signed.signed);
    this.#noteRefusal(frame, signed);
    return signed;
  }

  async #toSignature(
    frame: OperateFrame,
  ): Promise<Refusal | { readonly instruction: Instruction; readonly signed: Signed }> {
    const { lease, beat, instructions, outbox, keystore, policies } = this.#settings;
    if (!lease.view().held) await beat();
    const unable = this.#unable(frame.leaseEpoch);
    if (unable !== null) return unable;
    if (!isPayable(frame.unsigned)) return refuseToSign('malformed_build');
    const rules: OperationRules = {
      own: policies.own,
      keystore,
      treasuries: policies.sweepTreasuries,
      fees: policies.fees,
      registry: this.#settings.registry.current,
      btcSweeps: policies.btcSweeps,
      bridgeCaps: policies.bridgeCaps,
    };
    const instruction = operationOf(rules, frame);
    if (isRefusal(instruction)) return instruction;
    const unsigned = unsignedOf(frame.unsigned);
    if (instruction.amount === 'all' && unsigned.amount.toString() !== frame.amount)
      return refuseToSign('amount_mismatch', { expected: frame.amount, found: unsigned.amount });
    // What a caller asked for under this id is that caller's to broadcast.
    if (instructions.get(instruction.id) !== null) return refuseToSign('another_instruction_under_this_id');
    const known = instructions.signaturesOf(instruction.id).find(({ payload }) => payload === unsigned.payload);
    const isWaiting = known?.signed != null && outbox.has('signed', submissionOf(instruction, known.signed).subject);
    if (!isWaiting && !outbox.hasRoom(1)) return refuse('EDGE_OUTBOX_FULL', { depth: outbox.report().outboxDepth });
    if (known?.signed != null) return { instruction, signed: known.signed };
    const signed = await this.#sign({ instruction, unsigned }, frame.leaseEpoch);
    return isRefusal(signed) ? signed : { instruction, signed };
  }

  /** Whether this replica may act on a frame at this moment. */
  #unable(frameEpoch: number): Refusal | null {
    const { lease, storage } = this.#settings,
      { held, leaseEpoch } = lease.view();
    if (!held) return refuse('LEASE_HELD', { leaseEpoch });
    if (!lease.mayAct(frameEpoch)) return refuse('LEASE_EPOCH_STALE', { leaseEpoch });
    if (sweepsStoppedAtMs(storage) !== null) return refuseToSign('sweeps_stopped');
    const { rotationId } = lease;
    return rotationId === null ? null : refuse('IDENTITY_ROTATION_PENDING', { rotationId });
  }

  async #sign(recorded: RecordedInstruction, frameEpoch: number): Promise<Signed | Refusal> {
    const { instruction, unsigned } = recorded;
    const { environment, policies, shared, ledger, instructions, keystore, outbox, signerOf } = this.#settings;
    const signer = await signerOf(instruction.chain);
    if (signer === null) return noSigner(instruction.chain);
    const asked = await askFor(this.#settings, recorded);
    const check = () => this.#check(signer, recorded, signingPolicyOf(policies, recorded, asked));
    const unsound = check(); // first of all: from unreadable bytes nothing else can be read
    if (unsound !== null) return unsound;
    const nowMs = policies.nowMs(),
      isSweep = instruction.purpose === 'sweep';
    const spend: Spend = {
      ...claimOf(recorded, signer.deadAtMs?.(unsigned, nowMs) ?? null, nowMs),
      purpose: 'cloud',
      amount: spendOf(unsigned, signer, { isSweep }),
      token: countedOf(instruction),
    };
    const uncounted = (await shared?.count(spend)) ?? null;
    if (uncounted !== null) return uncounted;
    // From here on nothing is awaited: lease, switch, journal and cap cannot change between the check and the
    // signature.
    const refusal = this.#unable(frameEpoch) ?? check() ?? ledger.count(spend, { payments: shared === null });
    if (refusal !== null) return refusal;
    failpoint('edge.operate.counted');
    instructions.journal(recorded);
    failpoint('edge.operate.journaled');
    const network = signedNetwork(environment, instruction.chain);
    const signed = signWith(keystore, policies.own, network, signer, recorded);
    instructions.transaction(() => {
      instructions.noteSigned(instruction.id, unsigned.payload, signed);
      outbox.appendWithin('signed', submissionOf(instruction, signed));
    });
    failpoint('edge.operate.recorded');
    this.#lastSignedAtMs = policies.nowMs();
    return signed;
  }

  #check(signer: Signer, { instruction, unsigned }: RecordedInstruction, policy: Parameters<Signer['check']>[3]) {
    const { keystore, environment } = this.#settings;
    return (
      keystore.refuseToLend?.(instruction.chain, unsigned.fromPath) ??
      signer.check(signedNetwork(environment, instruction.chain), unsigned, instruction, policy)
    );
  }

  #submit(instruction: Instruction, signed: Signed): Promise<Submitted> {
    const { outbox, submissions, nudge } = this.#settings;
    const write = submissionOf(instruction, signed),
      answer = submissions.answerOf(write.subject);
    if (!outbox.has('signed', write.subject)) outbox.append('signed', [write]);
    nudge();
    return answer;
  }

  #noteRefusal({ transactionId, chain, role }: OperateFrame, refusal: Refusal): void {
    const { reason: named } = refusal.details,
      reason = typeof named === 'string' ? named : refusal.code;
    if (this.#refusals.has(reason) || this.#refusals.size < REASONS_MAX)
      this.#refusals.set(reason, (this.#refusals.get(reason) ?? 0) + 1);
    const facts = { transactionId, chain, role, code: refusal.code, reason, ...stepIn(refusal) };
    const isExpected = refusal.code !== 'SIGNED_BATCH_REJECTED' || isOwnBound(refusal) || EXPECTED.has(reason);
    if (isExpected) this.#settings.log.warn('operation_not_signed', facts);
    else this.#settings.log.alarm('operation_refused', facts);
  }
}

/** What is counted beside the cost: one funding of an address, or the units that a bridge burns. Treasury E2, E4. */
function countedOf({ purpose, to, token, amount, burns }: Instruction): TokenSpend | null {
  if (purpose === 'gas_funding') return fundingOf(to);
  return burns === true && token !== null ? burnOf(token.contract, BigInt(amount)) : null;
}
