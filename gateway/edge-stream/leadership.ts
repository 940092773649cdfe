/**
 * Who leads in one room: the lease as this node knows it, asked of the account actor, sent to the sessions and to the
 * publisher. Its methods that ask are called one at a time (the room's queue).
 */
import type { AccountState } from '../../model/account/capabilities.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import { LEASE_TTL_MS, type LeaseFrame } from '../../protocol/frames.ts';
import type { AccountId } from '../../protocol/ids.ts';
import type { EdgeRole } from '../../protocol/slugs.ts';
import { held, nextLeader, renewed, shortened, type Lease } from './leases.ts';
import type { RoomDeps } from './ports.ts';
import type { Session, Sessions } from './sessions.ts';

/** Called when deliveries can be sent to an account's leader, and when no more. */
export type OnLead = (accountId: AccountId, leading: boolean) => void;

export class Leadership {
  readonly #accountId: AccountId;
  readonly #deps: RoomDeps;
  readonly #sessions: Sessions;
  /** Until when a holder that sent this node no heartbeat counts as live. */
  readonly #unknownHolderUntilMs: number;
  readonly #onLead: OnLead;
  #lease: Lease | null = null;
  #leading = false;
  #electing = false;

  constructor(accountId: AccountId, deps: RoomDeps, sessions: Sessions, startedMs: number, onLead: OnLead) {
    this.#accountId = accountId;
    this.#deps = deps;
    this.#sessions = sessions;
    this.#unknownHolderUntilMs = startedMs + this.ttlMs;
    this.#onLead = onLead;
  }

  get ttlMs(): number {
    return this.#deps.leaseTtlMs ?? LEASE_TTL_MS;
  }

  /** Null before the account was asked for the first time. */
  get lease(): Lease | null {
    return this.#lease;
  }

  /** The session that leads now, with its stream up. */
  get leader(): Session | null {
    const lease = this.#lease;
    if (lease === null || lease.holder === null || !held(lease, this.#elapsedMs)) return null;
    const session = this.#sessions.get(lease.holder);
    return session?.connection == null ? null : session;
  }

  /** True when a session other than the holder should be granted the lease, and nobody is being asked for that. */
  get vacant(): boolean {
    return (
      this.#lease !== null && !this.#electing && nextLeader(this.#lease, this.#sessions.all(), this.#elapsedMs) !== null
    );
  }

  /**
   * True for the holder, however late it is. While another session is being granted the lease, a holder that was late
   * gets it back only if that fails.
   */
  leads(session: Session): boolean {
    return this.#lease?.holder === session.id && !this.#electing;
  }

  /** Null when a frame that acts may be taken. Refuses: LEASE_EPOCH_STALE. I19. */
  mayAct(session: Session, leaseEpoch: number): Refusal | null {
    const lease = this.#lease;
    if (lease !== null && lease.epoch === leaseEpoch && lease.holder === session.id) return null;
    return refuse('LEASE_EPOCH_STALE', { epoch: lease?.epoch ?? 0 });
  }

  /** A heartbeat of the leader: its lease lasts for one more TTL. */
  renew(session: Session): void {
    const lease = this.#lease!;
    this.#lease = renewed(lease, this.#elapsedMs, this.ttlMs);
    session.ledEpoch = lease.epoch;
    this.note();
  }

  /** The leader's stream was closed: it has the grace time to come back. */
  shorten(): void {
    if (this.#lease !== null) this.#lease = shortened(this.#lease, this.#elapsedMs, this.ttlMs);
  }

  /**
   * A leader that stops gives its lease up, so that another one is elected without waiting. Refuses: LEASE_EPOCH_STALE.
   */
  async release(session: Session, leaseEpoch: number): Promise<Refusal | null> {
    const stale = this.mayAct(session, leaseEpoch);
    if (stale !== null) return stale;
    session.leaving = true;
    const answer = await this.#deps.accounts.ask(this.#accountId, { type: 'release_lease', sessionId: session.id });
    if (answer.ok !== true) return answer.ok === 'duplicate' ? refuse('INTERNAL_ERROR') : answer;
    this.#lease = { epoch: answer.reply.epoch, holder: null, untilMs: 0 };
    session.unsaved = true;
    this.note();
    return null;
  }

  /** Notifies the publisher when deliveries can be sent, and when no more. */
  note(): void {
    const leading = this.leader !== null;
    if (leading === this.#leading) return;
    this.#leading = leading;
    this.#onLead(this.#accountId, leading);
    if (leading) this.#deps.publisher().ring(this.#accountId);
    else this.#deps.publisher().leaderLost(this.#accountId);
  }

  /** The lease as the account states it. A holder that this node did not grant counts as live for a while. */
  adopt({ lease: { epoch, holder } }: AccountState): Lease {
    const known = this.#lease;
    if (known !== null && known.epoch === epoch && known.holder === holder) return known;
    const foreignUntilMs = known === null ? this.#unknownHolderUntilMs : this.#elapsedMs + this.ttlMs;
    this.#lease = { epoch, holder, untilMs: holder === null ? 0 : foreignUntilMs };
    this.note();
    return this.#lease;
  }

  /** Claims the lease for a session whose stream came up, unless another one may hold it or has waited longer. */
  async claim(state: AccountState, session: Session): Promise<EdgeRole | Refusal> {
    const lease = this.adopt(state);
    const senior = lease.holder === session.id ? null : nextLeader(lease, this.#sessions.all(), this.#elapsedMs);
    // the next tick grants it
    if (senior !== null && senior !== session.id) return this.#followed(session, lease.epoch);
    const mayHold = held(lease, this.#elapsedMs) && lease.holder !== null ? [lease.holder] : [];
    const epoch = await this.#ask(session, mayHold);
    if (!isRefusal(epoch)) {
      this.#granted(session, epoch);
      return 'leader';
    }
    return epoch.code === 'LEASE_HELD' ? this.#followed(session, lease.epoch) : epoch;
  }

  /**
   * A lease that ran out goes to the next session, and every stream is notified. One that fails is tried by the next
   * tick.
   */
  async elect(inOrder: (work: () => Promise<void>) => Promise<void>): Promise<void> {
    this.#electing = true;
    try {
      await inOrder(() => this.#elect());
    } finally {
      this.#electing = false;
    }
  }

  async #elect(): Promise<void> {
    const lease = this.#lease;
    const next = lease === null ? null : nextLeader(lease, this.#sessions.all(), this.#elapsedMs);
    const session = next === null ? undefined : this.#sessions.get(next);
    if (session === undefined) return;
    const epoch = await this.#ask(session, []);
    if (isRefusal(epoch)) {
      this.#deps.log.warn({ accountId: this.#accountId, code: epoch.code }, 'no new leader was granted');
      return;
    }
    this.#granted(session, epoch);
    for (const other of this.#sessions.connected()) {
      const role = other.id === session.id ? 'leader' : 'follower';
      other.sentEpoch = epoch;
      other.connection!.send('lease', { role, leaseEpoch: epoch, leaseTtlMs: this.ttlMs } satisfies LeaseFrame);
    }
  }

  async #ask(session: Session, liveSessions: string[]): Promise<number | Refusal> {
    const command = { type: 'claim_lease', sessionId: session.id, liveSessions } as const;
    const answer = await this.#deps.accounts.ask(this.#accountId, { ...command });
    return answer.ok === true ? answer.reply.epoch : answer.ok === 'duplicate' ? refuse('INTERNAL_ERROR') : answer;
  }

  #followed(session: Session, epoch: number): EdgeRole {
    session.sentEpoch = epoch;
    session.unsaved = true;
    return 'follower';
  }

  #granted(session: Session, epoch: number): void {
    const before = this.#lease;
    this.#lease = renewed({ epoch, holder: session.id, untilMs: 0 }, this.#elapsedMs, this.ttlMs);
    Object.assign(session, { ledEpoch: epoch, sentEpoch: epoch, unsaved: true });
    if (before !== null && before.holder !== null && before.epoch !== epoch) {
      const predecessor = this.#sessions.get(before.holder);
      if (predecessor !== undefined) predecessor.unsaved = true;
      this.#deps.publisher().leaderLost(this.#accountId);
      const { id: sessionId } = session;
      this.#deps.log.info({ accountId: this.#accountId, sessionId, leaseEpoch: epoch }, 'another edge session leads');
      this.#leading = false;
    }
    this.note();
  }

  get #elapsedMs(): number {
    return this.#deps.clock.elapsedMs();
  }
}
