/**
 * The one way to a signature, for `POST …/broadcast` and for the cloud's `sign` frame. In this order, each step durable
 * before the next: an own caller's instruction is recorded · its counter is bound (binding.ts) · the payload is checked
 * against it (signers/rules.ts) · the spend is counted · the payload is in the journal · it is signed · the signed
 * bytes and their submission are written. Decisions 6, chains.md 1.6, G25.
 */
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import { failpoint } from '../../protocol/node/failpoint.ts';
import type { Chain, Environment } from '../../protocol/slugs.ts';
import type { Signed, Unsigned } from '../../chains/chain.ts';
import { askFor } from './asked.ts';
import { buildClosed, isClosed } from './closed-builds.ts';
import { signedNetwork, signWith } from './lent-keys.ts';
import { SenderLanes, type Lane } from './sender-lanes.ts';
import { AHEAD_MS_MAX } from './instruction-share.ts';
import { isNotBound, notBound, type CounterBinding } from './binding.ts';
import type { Instructions, RecordedInstruction } from './instructions.ts';
import type { Keystore } from '../keystore/keystore.ts';
import type { Lease } from '../link/lease.ts';
import type { EdgeLog } from '../process/log.ts';
import type { Outbox } from '../link/outbox.ts';
import { type Signer, type SigningPolicy, refuseToSign } from './signers/signer.ts';
import { isOwnBound } from './signers/fee-bounds.ts';
import { noSigner, stepIn } from './signers/refusal-steps.ts';
import { signingPolicyOf, type PolicySource } from './policy.ts';
import type { PaymentGuard } from './payment-guard.ts';
import { claimOf, paymentOf } from './payments.ts';
import type { SharedSpend } from '../spend/replica.ts';
import { spendOf, tokenOf, type Spend } from '../spend/caps.ts';
import type { SpendLedger } from '../spend/ledger.ts';
import { giveUp, superseded } from './superseding.ts';
import { isFailureWord, refusalOfSigned, submissionOf, type Submissions, type Submitter } from './submissions.ts';
import { NOTHING_DENIED } from '../link/reported.ts';
import type { Submitted, ViaLeader } from '../link/via-leader.ts';
import type { Upstream } from '../link/upstream.ts';

export interface SigningSettings {
  readonly environment: Environment;
  readonly lease: Lease;
  readonly instructions: Instructions;
  readonly ledger: SpendLedger;
  /** The count of all replicas together; null where each counts for itself. */
  readonly shared: SharedSpend | null;
  readonly guard: PaymentGuard;
  readonly binding: CounterBinding;
  readonly pause: (ms: number) => Promise<void>;
  /** Resolves when the cloud has this replica's instructions, or will not accept them now. */
  readonly share: () => Promise<void>;
  readonly outbox: Outbox;
  readonly submissions: Submissions;
  readonly keystore: Keystore;
  readonly policies: PolicySource;
  /** The sender's next counter at the company's own node (EDGE_VERIFY_RPC_<CHAIN>); null without any. Never rejects. */
  readonly nextCounter: ((recorded: RecordedInstruction) => Promise<bigint | null>) | null;
  readonly upstream: Upstream;
  /** The family's signer, loaded with its SDK; null for a chain that this edge does not sign. */
  readonly signerOf: (chain: Chain) => Promise<Signer | null>;
  /** Asks the cloud for the lease after it expired here. */
  readonly beat: () => Promise<void>;
  readonly viaLeader: ViaLeader;
  /** How long after an own caller's broadcast the cloud may ask for a signature. Milliseconds. */
  readonly instructionTtlMs: number;
  /** Wakes the sender of the outbox. */
  readonly nudge: () => void;
  readonly log: EdgeLog;
}

export class Signing {
  readonly #settings: SigningSettings;
  /** Signings under way, by transaction. */
  readonly #running = new Map<string, Promise<Refusal | null>>();
  readonly #lanes = new SenderLanes<Submitted>();

  constructor(settings: SigningSettings) {
    this.#settings = settings;
  }

  /**
   * An own caller's broadcast: the leader makes it here, another replica passes it to the leader through the cloud. A
   * refusal without a signature withdraws it: no later frame has this replica sign it until its caller broadcasts it
   * again. Refuses: as `onFrame`, EDGE_OFFLINE, EDGE_NO_LEADER, UPSTREAM_UNAVAILABLE.
   */
  async broadcast(transactionId: string): Promise<Submitted> {
    for (let waitedMs = 0; ; waitedMs += NOT_BOUND_PAUSE_MS) {
      const submitted = await this.#withdrawing(transactionId, () => this.#broadcast(transactionId));
      if (!isNotBound(submitted) || waitedMs >= NOT_BOUND_WAIT_MS) return submitted;
      // the replica that built it receives the broadcast, and binds it
      await this.#settings.pause(NOT_BOUND_PAUSE_MS);
    }
  }

  async #broadcast(transactionId: string): Promise<Submitted> {
    const { lease, instructions, beat, viaLeader, guard, binding, share } = this.#settings;
    if (!lease.view().held) await beat();
    const given = this.#supersededRefusal(transactionId);
    if (given !== null) return given;
    // Another replica may have recorded it before this one was there: the cloud keeps such records.
    if (lease.view().held && instructions.get(transactionId) !== null) {
      if (binding.stateOf(transactionId) === 'elsewhere') {
        instructions.noteBroadcast(transactionId); // the replica that built it receives it, binds it, and may sign it
        await this.noteElsewhere(instructions.get(transactionId)!);
        await share();
      }
      return this.#make(transactionId);
    }
    if (binding.stateOf(transactionId) === 'own' && !binding.sharesLedger) {
      const refusal = await binding.bind(transactionId, []);
      const unable = refusal ?? (await this.#checkBound(transactionId));
      if (unable !== null) return unable;
      if (!instructions.handOut(transactionId)) return superseded(instructions.supersededBy(transactionId) ?? '');
    } else {
      instructions.noteBroadcast(transactionId);
    }
    const recorded = instructions.get(transactionId);
    // The leader may sign it even if it refuses here: recorded before it is asked, for the case that this replica leads
    // next.
    if (recorded !== null) await this.noteElsewhere(recorded);
    const submitted = await viaLeader(transactionId, recorded !== null);
    if (isRefusal(submitted) && isFailureWord(submitted.code))
      await guard.noteDenied({ ...NOTHING_DENIED, failed: [transactionId] });
    return submitted;
  }

  /**
   * The cloud asks the leader to broadcast.
   * Refuses: SIGNED_BATCH_REJECTED (nobody broadcast it here, or too long ago, or another payload than was asked for),
   * LEASE_HELD, LEASE_EPOCH_STALE, EDGE_OUTBOX_FULL, AMOUNT_CAP_EXCEEDED, and what the cloud answers to the submission.
   */
  async onFrame(transactionId: string, frameEpoch: number): Promise<Submitted> {
    const { lease, instructions, beat } = this.#settings;
    const recorded = instructions.get(transactionId);
    if (recorded === null) return refuseToSign('no_instruction');
    if (!lease.view().held) await beat();
    const { held, leaseEpoch } = lease.view();
    if (!held) return refuse('LEASE_HELD', { leaseEpoch });
    if (!lease.mayAct(frameEpoch)) return refuse('LEASE_EPOCH_STALE', { leaseEpoch });
    const refusal = this.#signedBefore(transactionId, recorded) === null ? this.#mayBeAsked(transactionId) : null;
    if (refusal !== null) return refusal;
    return this.#withdrawing(transactionId, () => this.#make(transactionId));
  }

  /**
   * A call that is to sign. Where it ends without a signature for the newest version, that version no longer counts as
   * broadcast.
   */
  async #withdrawing(transactionId: string, call: () => Promise<Submitted>): Promise<Submitted> {
    const submitted = await this.#settings.guard.underWay(transactionId, call).catch((error: unknown) => {
      this.#withdraw(transactionId);
      throw error;
    });
    if (isRefusal(submitted)) this.#withdraw(transactionId);
    return this.#withTxids(transactionId, submitted);
  }

  #withdraw(transactionId: string): void {
    const { instructions, log } = this.#settings,
      recorded = instructions.get(transactionId);
    if (recorded === null || this.#signedBefore(transactionId, recorded) !== null) return;
    try {
      instructions.withdraw(transactionId);
    } catch (error) {
      log.fault('withdrawal_not_kept', error, { transactionId }); // a full disk: this process knows
    }
  }

  /** A frame may ask for what a holder of a local key broadcast, for a limited time. Refuses: SIGNED_BATCH_REJECTED. */
  #mayBeAsked(transactionId: string): Refusal | null {
    const { instructions, policies, instructionTtlMs, log } = this.#settings;
    const broadcastAtMs = instructions.broadcastAtMs(transactionId);
    if (broadcastAtMs === null) {
      log.alarm('unasked_signature_refused', { transactionId });
      return refuseToSign('not_broadcast');
    }
    const ageMs = policies.nowMs() - broadcastAtMs;
    // A broadcast in the future: the clock was set back, and its age is unknown.
    if (ageMs <= instructionTtlMs && ageMs >= -AHEAD_MS_MAX) return null;
    log.alarm('old_instruction_refused', { transactionId });
    return refuseToSign('instruction_expired');
  }

  /**
   * Signs and submits; what was signed before is submitted again, the same bytes. Calls that arrive while an
   * instruction is being signed share that signature.
   */
  async #make(transactionId: string): Promise<Submitted> {
    const { instructions, outbox, guard, binding } = this.#settings;
    for (let looks = 0; looks < TURNS_MAX; looks += 1) {
      // Read again after each wait: it may have been repriced meanwhile.
      const recorded = instructions.get(transactionId);
      if (recorded === null) return refuseToSign('no_instruction');
      const turn = this.#lanes.turnOf(transactionId);
      if (turn !== undefined) return turn;
      const waiting = this.#rotationPending();
      if (waiting !== null) return waiting;
      const given = this.#supersededRefusal(transactionId);
      if (given !== null) return given;
      const signed = this.#signedBefore(transactionId, recorded);
      if (signed !== null && outbox.has('signed', submissionOf(recorded.instruction, signed).subject))
        return this.#submit(recorded.instruction, signed);
      if (!outbox.hasRoom(1)) return refuse('EDGE_OUTBOX_FULL', { depth: outbox.report().outboxDepth });
      if (signed !== null) return this.#submit(recorded.instruction, signed);
      const counter = binding.stateOf(transactionId);
      if (counter !== null)
        return counter === 'own'
          ? this.#lanes.take(recorded.instruction, (lane) => this.#bindAndSign(transactionId, lane))
          : notBound();
      // Where a counter is to be bound, binding finds this out.
      if (looks === 0 && (await this.isGivenUp(transactionId))) return buildClosed();
      const refusal = await this.#signOnce(transactionId, recorded);
      // An earlier payment may block it no longer; each turn settles one.
      const blocked = refusal === null ? null : await guard.stillBlocked(refusal);
      if (blocked !== null) return blocked;
    }
    return this.#notSettled(transactionId);
  }

  async #bindAndSign(id: string, lane: Lane): Promise<Submitted> {
    const { instructions, binding, guard } = this.#settings;
    for (let turn = 0; turn < TURNS_MAX; turn += 1) {
      const recorded = instructions.get(id)!,
        signed = this.#signedBefore(id, recorded);
      if (signed !== null) {
        lane.settle([]);
        return await this.#submit(recorded.instruction, signed);
      }
      const unbound = binding.stateOf(id) === 'own' ? await binding.bind(id, lane.gaveUp()) : null;
      if (unbound !== null) return unbound;
      lane.settle([]);
      failpoint('edge.sign.bound');
      const refusal = await this.#signOnce(id, instructions.get(id)!);
      const blocked = refusal === null ? null : await guard.stillBlocked(refusal);
      if (blocked === null) continue;
      // A shared ledger may have counted it: then it is signed under this counter or not at all.
      if (!KEEPS_COUNTER.has(blocked.code)) lane.settle([id]);
      return blocked;
    }
    return this.#notSettled(id);
  }

  /** Whether the cloud closed a build that, as far as this replica knows, no replica can have signed. */
  isGivenUp(id: string): Promise<boolean> {
    return isClosed(this.#settings, id);
  }

  /** Gives a build up for a newer one under its Idempotency-Key, where nobody can sign both. superseding.ts */
  giveUp(transactionId: string, next: Unsigned): Promise<boolean | Refusal> {
    return giveUp(this.#settings, transactionId, next);
  }

  #supersededRefusal(transactionId: string): Refusal | null {
    const by = this.#settings.instructions.supersededBy(transactionId);
    return by === null ? null : superseded(by);
  }

  #notSettled(transactionId: string): Refusal {
    this.#settings.log.alarm('signing_not_settled', { transactionId, count: TURNS_MAX });
    return refuse(
      'CONFLICT',
      { reason: 'signing_not_settled', looks: TURNS_MAX },
      'the payload, or what blocks it, was another one at each look; nothing was signed now. Stop repricing it and broadcast again',
    );
  }

  /**
   * Another replica's caller broadcast what was built here: without a shared ledger only this replica may bind it. True
   * when the others are to receive the bound version.
   */
  async bindForOthers(transactionId: string): Promise<boolean> {
    const { instructions, binding, log } = this.#settings;
    if (binding.sharesLedger) return false;
    if (binding.stateOf(transactionId) === 'own') {
      const refusal = await binding.bind(transactionId, []);
      if (refusal !== null) {
        log.warn('binding_failed', { transactionId, code: refusal.code });
        return false;
      }
    }
    if (instructions.get(transactionId)?.unsigned.bound !== true || (await this.#checkBound(transactionId)) !== null)
      return false;
    return instructions.handOut(transactionId);
  }

  /**
   * Checks what the cloud made of a version by binding it: this replica vouches to the others for no bytes that it
   * would not sign itself.
   */
  #checkBound(transactionId: string): Promise<Refusal | null> {
    return this.check(this.#settings.instructions.get(transactionId)!);
  }

  /** One signing at a time for an instruction: no check reads a journal that another signing is about to write. */
  #signOnce(transactionId: string, recorded: RecordedInstruction): Promise<Refusal | null> {
    const running =
      this.#running.get(transactionId) ?? this.#sign(recorded).finally(() => this.#running.delete(transactionId));
    this.#running.set(transactionId, running);
    return running;
  }

  /**
   * A refusal beside signed bytes must not sound final: it says that they exist, and names the txid to look for.
   */
  #withTxids(transactionId: string, submitted: Submitted): Submitted {
    if (!isRefusal(submitted)) return submitted;
    const txids = this.#settings.instructions
      .signaturesOf(transactionId)
      .flatMap(({ signed }) => (signed === null ? [] : [signed.txid]));
    return txids.length === 0 ? submitted : refusalOfSigned(submitted, txids);
  }

  /** Spec §5.7: until the owner decides nothing is signed, even where the cloud would refuse it anyway. */
  #rotationPending(): Refusal | null {
    const { rotationId } = this.#settings.lease;
    return rotationId === null ? null : refuse('IDENTITY_ROTATION_PENDING', { rotationId });
  }

  #signedBefore(transactionId: string, { unsigned }: RecordedInstruction): Signed | null {
    return (
      this.#settings.instructions.signaturesOf(transactionId).find(({ payload }) => payload === unsigned.payload)
        ?.signed ?? null
    );
  }

  /** Checks a payload against an instruction without signing it, so that a false build is refused as a build. */
  async check(recorded: RecordedInstruction): Promise<Refusal | null> {
    const { chain, id } = recorded.instruction,
      { instructions, binding } = this.#settings;
    const signer = await this.#settings.signerOf(chain);
    if (signer === null) return noSigner(chain);
    const asked = await askFor(this.#settings, recorded);
    const policy = signingPolicyOf(this.#settings.policies, recorded, asked);
    // The counter of an unbound build is a proposal: what was signed under it blocks nothing.
    const isProposal =
      recorded.instruction.counter === 'at_broadcast' &&
      (instructions.get(id) === null || binding.stateOf(id) !== null);
    return this.#checked(
      signer,
      recorded,
      isProposal ? { ...policy, journal: { forInstruction: [], withReplayKey: () => [] } } : policy,
    );
  }

  /** Null when the payload is signed, or was replaced by a newer version meanwhile. */
  async #sign(recorded: RecordedInstruction): Promise<Refusal | null> {
    const { instruction, unsigned } = recorded;
    const { ledger, instructions, outbox, lease, policies, shared, keystore, environment } = this.#settings,
      network = signedNetwork(environment, instruction.chain);
    const signer = await this.#settings.signerOf(instruction.chain);
    if (signer === null) return noSigner(instruction.chain);
    const asked = await askFor(this.#settings, recorded);
    const nowMs = policies.nowMs();
    const check = () => this.#checked(signer, recorded, signingPolicyOf(policies, recorded, asked));
    const unsound = check(); // first of all: from unreadable bytes nothing else can be read
    if (unsound !== null) return unsound;
    const claim = claimOf(recorded, signer.deadAtMs?.(unsigned, nowMs) ?? null, nowMs);
    const purpose = purposeOf(recorded),
      spend: Spend = { ...claim, purpose, amount: spendOf(unsigned, signer), token: tokenOf(purpose, unsigned) };
    const unable = (await shared?.count(spend)) ?? null;
    if (unable !== null) return unable;
    // From here on nothing is awaited: lease, journal, policy and cap cannot change between the check and the
    // signature.
    if (instructions.get(instruction.id)?.unsigned.payload !== unsigned.payload) return null;
    const given = this.#supersededRefusal(instruction.id);
    if (given !== null) return given;
    if (this.#isOfAnotherPayment(recorded)) return refuseToSign('payload_of_another_payment');
    const { held, leaseEpoch } = lease.view();
    if (!held) return refuse('LEASE_HELD', { leaseEpoch });
    const refusal = this.#rotationPending() ?? check() ?? ledger.count(spend, { payments: shared === null });
    if (refusal !== null) return refusal;
    failpoint('edge.sign.counted');
    instructions.journal(recorded);
    failpoint('edge.sign.journaled');
    const signed = signWith(keystore, policies.own, network, signer, recorded);
    failpoint('edge.sign.signed');
    instructions.transaction(() => {
      instructions.noteSigned(instruction.id, unsigned.payload, signed);
      outbox.appendWithin('signed', submissionOf(instruction, signed));
      if (unsigned.bound === true) instructions.handOut(instruction.id);
    });
    failpoint('edge.sign.recorded');
    return null;
  }

  /**
   * One transaction of the chain pays one payment: the same bytes under another `paymentRef` would be one transaction
   * that its caller takes for two payments.
   */
  #isOfAnotherPayment({ instruction, unsigned }: RecordedInstruction): boolean {
    const { instructions } = this.#settings;
    return instructions
      .signaturesUnder(unsigned.chain, unsigned.from, unsigned.replayKey)
      .some(({ transactionId, payload }) => {
        const other =
          payload === unsigned.payload && transactionId !== instruction.id ? instructions.get(transactionId) : null;
        return other !== null && paymentOf(other.instruction) !== paymentOf(instruction);
      });
  }

  /**
   * Another replica may sign what it was asked to sign or bind: without a shared ledger it blocks equal payments here
   * too.
   */
  async noteElsewhere(recorded: RecordedInstruction): Promise<void> {
    const {
      instruction: { chain, counter },
      unsigned,
    } = recorded;
    const isFinal = counter !== 'at_broadcast' || unsigned.bound === true; // else what is signed has another payload
    if (isFinal) this.#settings.instructions.noteElsewhere(recorded);
    if (this.#settings.shared !== null) return;
    if (!isFinal && this.#supersededRefusal(recorded.instruction.id) !== null) return; // nobody binds it
    const nowMs = this.#settings.policies.nowMs(),
      signer = await this.#settings.signerOf(chain);
    const claim = {
      ...claimOf(recorded, signer?.deadAtMs?.(unsigned, nowMs) ?? null, nowMs),
      purpose: purposeOf(recorded),
    };
    if (isFinal) return this.#settings.ledger.noteElsewhere(claim);
    // Once bound it may be signed, under a counter and with an end that are not known here yet.
    const deadAtMs = claim.deadAtMs === null ? null : claim.deadAtMs + this.#settings.instructionTtlMs + LIFE_MS_MAX;
    this.#settings.ledger.noteElsewhere({ ...claim, exclusive: null, counter: null, deadAtMs });
  }

  #submit(instruction: Submitter, signed: { txid: string; payload: string }): Promise<Submitted> {
    const write = submissionOf(instruction, signed);
    const answer = this.#settings.submissions.answerOf(write.subject);
    if (!this.#settings.outbox.has('signed', write.subject)) this.#settings.outbox.append('signed', [write]);
    this.#settings.nudge();
    return answer;
  }

  #checked(signer: Signer, { unsigned, instruction }: RecordedInstruction, policy: SigningPolicy): Refusal | null {
    const refusal =
      this.#settings.keystore.refuseToLend?.(instruction.chain, unsigned.fromPath) ??
      signer.check(signedNetwork(this.#settings.environment, instruction.chain), unsigned, instruction, policy);
    if (refusal !== null) {
      const reason = typeof refusal.details['reason'] === 'string' ? refusal.details['reason'] : refusal.code;
      const facts = {
        transactionId: instruction.id,
        chain: instruction.chain,
        code: refusal.code,
        reason,
        ...stepIn(refusal),
      };
      if (isOwnBound(refusal)) this.#settings.log.warn('payload_above_bound', facts);
      else this.#settings.log.alarm('payload_refused', facts);
    }
    return refusal;
  }
}

/**
 * Attempts for one broadcast. Each ends in a signature, a refusal or a change; the cloud can cause any number of
 * changes.
 */
const TURNS_MAX = 16;
/** From a signature to the end of its payload, where it has one. Milliseconds. */
const LIFE_MS_MAX = 3_600_000;
/** How long a caller waits for the replica that binds, and between two attempts. Milliseconds. */
const NOT_BOUND_WAIT_MS = 3_000,
  NOT_BOUND_PAUSE_MS = 200;
/** Refusals after which the spend may be counted although nothing is signed. */
const KEEPS_COUNTER: ReadonlySet<string> = new Set(['LEASE_HELD', 'IDENTITY_ROTATION_PENDING', 'SERVICE_UNAVAILABLE']);

/** What the cloud can start on its own counts against EDGE_SPEND_CAP_<CHAIN>. */
function purposeOf({ instruction }: RecordedInstruction): 'cloud' | 'withdrawal' {
  return instruction.purpose === 'sweep' || instruction.purpose === 'gas_funding' ? 'cloud' : 'withdrawal';
}
