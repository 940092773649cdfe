/**
 * Who leads in one room: the shell of `lead.ts`, which asks the account actor, and notifies the sessions and the
 * publisher. Its methods that ask are called one at a time (the room's queue).
 */
import type { AccountState } from '../../model/account/capabilities.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import { LEASE_TTL_MS, type LeaseFrame } from '../../protocol/frames.ts';
import type { AccountId } from '../../protocol/ids.ts';
import type { EdgeRole } from '../../protocol/slugs.ts';
import { Lead, type Question } from './lead.ts';
import type { Lease } from './leases.ts';
import type { RoomDeps } from './ports.ts';
import type { Session, Sessions } from './sessions.ts';

/** Called when deliveries can be sent to an account's leader, and when no more. */
export type OnLead = (accountId: AccountId, leading: boolean) => void;

/** Refusals of the account that decided about the lease and left it as it was. */
const DECIDED: ReadonlySet<string> = new Set(['LEASE_HELD', 'IDENTITY_ROTATION_PENDING', 'RESYNC_REQUIRED']);

export class Leadership {
  readonly #accountId: AccountId;
  readonly #deps: RoomDeps;
  readonly #sessions: Sessions;
  readonly #onLead: OnLead;
  readonly #lead: Lead;
  #settling = false;

  constructor(accountId: AccountId, deps: RoomDeps, sessions: Sessions, startedMs: number, onLead: OnLead) {
    const ttlMs = deps.leaseTtlMs ?? LEASE_TTL_MS;
    this.#accountId = accountId;
    this.#deps = deps;
    this.#sessions = sessions;
    this.#onLead = onLead;
    this.#lead = new Lead(ttlMs, startedMs + ttlMs);
  }

  get ttlMs(): number {
    return this.#lead.ttlMs;
  }

  /** Null before the account was asked for the first time. */
  get lease(): Lease | null {
    return this.#lead.lease;
  }

  /** The session that leads now, with its stream up. */
  get leader(): Session | null {
    return this.#lead.leaderOf(this.#sessions.all(), this.#elapsedMs);
  }

  /** True when a session other than the holder should be granted the lease, and nobody is being asked for that. */
  get vacant(): boolean {
    return this.#lead.isVacant(this.#sessions.all(), this.#elapsedMs);
  }

  /** True when the account must say who holds the lease, and is not being asked. */
  get doubtful(): boolean {
    return !this.#settling && this.#lead.stateAt(this.#elapsedMs) === 'doubtful';
  }

  leads(session: Session): boolean {
    return this.#lead.leads(session.id);
  }

  /** Null when a frame that acts may be taken. Refuses: LEASE_EPOCH_STALE, SERVICE_UNAVAILABLE while in doubt. I19. */
  mayAct(session: Session, leaseEpoch: number): Refusal | null {
    const may = this.#lead.mayAct(session.id, leaseEpoch);
    if (may === 'yes') return null;
    return may === 'stale'
      ? refuse('LEASE_EPOCH_STALE', { epoch: this.lease?.epoch ?? 0 })
      : refuse('SERVICE_UNAVAILABLE', { reason: 'who leads is being asked', retryAfterSeconds: 1 });
  }

  /** A heartbeat of the leader: its lease lasts for one more TTL. */
  renew(session: Session): void {
    const epoch = this.#lead.beat(session.id, this.#elapsedMs);
    if (epoch !== null) session.ledEpoch = epoch;
    this.note();
  }

  /** The stream of a session was closed: a leader has the grace time to come back. */
  closed(sessionId: string | null): void {
    if (sessionId !== null) this.#lead.closed(sessionId, this.#elapsedMs);
  }

  /**
   * A leader that stops gives its lease up, so that another one is elected without waiting. Refuses: LEASE_EPOCH_STALE,
   * and what the account refuses.
   */
  async release(session: Session, leaseEpoch: number): Promise<Refusal | null> {
    const no = this.mayAct(session, leaseEpoch);
    if (no !== null) return no;
    session.leaving = true;
    this.#lead.gives();
    this.note();
    const answer = await this.#deps.accounts.ask(this.#accountId, { type: 'release_lease', sessionId: session.id });
    this.#lead.released(answer.ok === true ? answer.reply.epoch : 'unknown');
    session.unsaved = true;
    this.note();
    return answer.ok === true ? null : answer.ok === 'duplicate' ? refuse('INTERNAL_ERROR') : answer;
  }

  /** Notifies the publisher when deliveries can be sent, and when no more. */
  note(): void {
    const { lost, leads } = this.#lead.turn(this.#sessions.all(), this.#elapsedMs);
    if (lost) this.#deps.publisher().leaderLost(this.#accountId);
    if (lost || leads) this.#onLead(this.#accountId, leads);
    if (leads) this.#deps.publisher().ring(this.#accountId);
  }

  /** The lease as the account states it. Where that ends a doubt, every stream but `coming`'s is notified. */
  adopt({ lease }: AccountState, coming: string | null = null): Lease {
    const wasDoubtful = this.#lead.stated(lease, this.#elapsedMs);
    this.note();
    if (wasDoubtful) this.#tell(coming);
    return this.lease!;
  }

  /** Claims the lease for a session whose stream came up, unless another one may hold it or has waited longer. */
  async claim(state: AccountState, session: Session): Promise<EdgeRole | Refusal> {
    const lease = this.adopt(state, session.id);
    const question = this.#lead.claim(session.id, this.#sessions.all(), this.#elapsedMs);
    const no = question === null ? null : await this.#ask(question, session);
    if (question !== null && no === null) return 'leader';
    if (no !== null && no.code !== 'LEASE_HELD') return no;
    session.sentEpoch = lease.epoch;
    session.unsaved = true;
    return 'follower';
  }

  /**
   * A lease that ran out goes to the next session, and every stream is notified. One that fails is tried by the next
   * tick.
   */
  async elect(inOrder: (work: () => Promise<void>) => Promise<void>): Promise<void> {
    this.#lead.electionBegins();
    try {
      await inOrder(() => this.#elect());
    } finally {
      this.#lead.electionEnds();
    }
  }

  /** Asks the account who holds the lease after a doubt. One that fails is tried by the next tick. */
  async settle(look: () => Promise<AccountState | Refusal>): Promise<void> {
    this.#settling = true;
    try {
      const state = await look();
      if (!isRefusal(state)) this.adopt(state);
    } finally {
      this.#settling = false;
    }
  }

  async #elect(): Promise<void> {
    const question = this.#lead.election(this.#sessions.all(), this.#elapsedMs),
      session = question === null ? undefined : this.#sessions.get(question.sessionId);
    if (question === null || session === undefined) return;
    const no = await this.#ask(question, session);
    if (no === null) return this.#tell(null);
    this.#deps.log.warn({ accountId: this.#accountId, code: no.code }, 'no new leader was granted');
  }

  /** Null for a grant. */
  async #ask(question: Question, session: Session): Promise<Refusal | null> {
    const before = this.lease;
    const answer = await this.#deps.accounts.ask(this.#accountId, {
      type: 'claim_lease',
      sessionId: session.id,
      liveSessions: [...question.liveSessions],
    });
    if (answer.ok !== true) {
      const no = answer.ok === 'duplicate' ? refuse('INTERNAL_ERROR') : answer;
      this.#lead.answered(question, DECIDED.has(no.code) ? 'refused' : 'unknown', this.#elapsedMs);
      this.note();
      return no;
    }
    const { epoch } = answer.reply;
    Object.assign(session, { ledEpoch: epoch, sentEpoch: epoch, unsaved: true });
    if (this.#lead.answered(question, epoch, this.#elapsedMs)) {
      const predecessor = this.#sessions.get(before!.holder!);
      if (predecessor !== undefined) predecessor.unsaved = true;
      this.#deps.log.info(
        { accountId: this.#accountId, sessionId: session.id, leaseEpoch: epoch },
        'another edge session leads',
      );
    }
    this.note();
    return null;
  }

  /** Every stream learns who leads, but one that has its welcome to come. */
  #tell(coming: string | null): void {
    const { epoch, holder } = this.lease!;
    for (const session of this.#sessions.connected()) {
      if (session.id === coming) continue;
      const role = session.id === holder ? 'leader' : 'follower';
      Object.assign(session, { sentEpoch: epoch, unsaved: true });
      session.connection!.send('lease', { role, leaseEpoch: epoch, leaseTtlMs: this.ttlMs } satisfies LeaseFrame);
    }
  }

  get #elapsedMs(): number {
    return this.#deps.clock.elapsedMs();
  }
}
