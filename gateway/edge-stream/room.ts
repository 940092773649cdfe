/**
 * The edges of one account on this node: their sessions, who leads, what the account was told of them. Everything that
 * asks the account actor goes through one queue per room, so that two arrivals never race for the lease.
 */
import type { AccountState } from '../../actors/account/messages.ts';
import { tierLimit } from '../../actors/account/plan.ts';
import { replenishment } from '../../actors/account/pools.ts';
import type { SessionRow } from '../../persistence/ports.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import {
  HEARTBEAT_MS, LEASE_TTL_MS, type HeartbeatBody, type HeartbeatReply, type LeaseFrame, type LocalKeyRecord,
  type WelcomeFrame,
} from '../../protocol/frames.ts';
import type { AccountId } from '../../protocol/ids.ts';
import { TIER_TERMS } from '../../protocol/plans.ts';
import type { EdgeRole } from '../../protocol/slugs.ts';
import { held, nextLeader, renewed, shortened, type Lease } from './leases.ts';
import { Sessions, SESSIONS_PER_ACCOUNT_MAX, type Connection, type Instant, type Session } from './sessions.ts';
import { LivenessTeller } from './telling.ts';
import type { Admitted, RoomDeps } from './ports.ts';

/** Records that a welcome carries: as many as a frame takes. */
const LOCAL_KEYS_MAX = 1_000;
/** How often the stock of an account with pools is looked at, beside what an issue asks for. */
const STOCK_EVERY_MS = 60_000;

export class Room {
  readonly accountId: AccountId;
  readonly sessions: Sessions;
  readonly #deps: RoomDeps;
  /** A holder that this node never heard of counts as live until then. */
  readonly #unknownHolderUntilMs: number;
  readonly #onLead: (accountId: AccountId, leading: boolean) => void;
  readonly #teller: LivenessTeller;
  #lease: Lease | null = null;
  #queue: Promise<unknown> = Promise.resolve();
  #leading = false;
  #electing = false;
  /** The account has pools, as it said last, and when that was. */
  #pooled = false;
  #stockedMs = 0;

  constructor(
    accountId: AccountId, deps: RoomDeps, startedMs: number, onLead: (accountId: AccountId, leading: boolean) => void,
  ) {
    this.accountId = accountId;
    this.sessions = new Sessions(accountId);
    this.#deps = deps;
    this.#unknownHolderUntilMs = startedMs + LEASE_TTL_MS;
    this.#onLead = onLead;
    this.#teller = new LivenessTeller(accountId, deps.accounts, () => this.sessions.anyAlive(this.#now()));
  }

  /** The lease as this node knows it; read from the account where it does not. Refuses: what the account refuses. */
  lease(): Promise<Lease | Refusal> {
    return this.#inOrder(() => this.#knownLease());
  }

  get knownLease(): Lease | null {
    return this.#lease;
  }

  /** The session that leads now, with its stream up. */
  get leader(): Session | null {
    const lease = this.#lease;
    if (lease === null || lease.holder === null || !held(lease, this.#now().elapsedMs)) return null;
    const session = this.sessions.get(lease.holder);
    return session?.connection == null ? null : session;
  }

  /**
   * A stream that was admitted. Refuses: TIER_FEATURE_LOCKED above the tier's sessions, and what the account refuses.
   * `localKeys` are read before, so that nothing but the account is waited for in here.
   */
  connect(
    admitted: Admitted, connection: Connection, localKeys: readonly LocalKeyRecord[],
  ): Promise<WelcomeFrame | Refusal> {
    return this.#inOrder(async () => {
      const state = await this.#inspect();
      if (isRefusal(state)) return state;
      const locked = this.#sessionLimit(state, admitted.sessionId);
      if (locked !== null) return locked;
      const now = this.#now(), session = this.sessions.see(admitted.sessionId, admitted, now);
      session.connection?.close('CONFLICT');
      session.connection = connection;
      session.connectedMs = now.elapsedMs;
      this.#teller.note();
      const role = await this.#claimOrFollow(state, session);
      if (isRefusal(role)) {
        if (session.connection === connection) session.connection = null;
        return role;
      }
      return {
        sessionId: session.id, role, leaseEpoch: session.toldEpoch, leaseTtlMs: LEASE_TTL_MS, heartbeatMs: HEARTBEAT_MS,
        serverTimeMs: now.nowMs, localKeys: localKeys.slice(0, LOCAL_KEYS_MAX),
      };
    });
  }

  /** A stream that closed; `byPeer` when the other side or the network closed it, not our own ping timeout. */
  disconnected(sessionId: string, connection: Connection, byPeer: boolean): void {
    const session = this.sessions.get(sessionId);
    if (session === undefined || session.connection !== connection) return;
    session.connection = null;
    session.unsaved = true;
    if (byPeer && this.#lease?.holder === sessionId) this.#lease = shortened(this.#lease, this.#now().elapsedMs);
    this.#noteLeading();
  }

  /** A heartbeat on the stream, which renews the leader's lease. `ok` false: its stream is to be closed. */
  heartbeat(session: Session, body: HeartbeatBody, leaseEpoch: number): HeartbeatReply {
    const now = this.#now();
    this.sessions.see(session.id, body, now);
    this.#teller.note();
    const lease = this.#lease;
    const epoch = lease?.epoch ?? session.toldEpoch;
    const reply = { leaseEpoch: epoch, leaseTtlMs: LEASE_TTL_MS };
    // While another session is being granted the lease, a holder that was late gets it back only if that fails.
    const leads = lease !== null && lease.holder === session.id && !this.#electing;
    if (leads) {
      this.#renew(session, lease);
      if (this.#pooled && now.elapsedMs - this.#stockedMs >= STOCK_EVERY_MS) void this.replenish();
    }
    // Who led under an older epoch and says so still believes in it; a follower is only late to learn the new one.
    else if (leaseEpoch < epoch && session.ledEpoch === leaseEpoch) {
      session.ledEpoch = null;
      return { ok: false, code: 'LEASE_EPOCH_STALE', role: 'follower', ...reply };
    }
    session.toldEpoch = epoch;
    return { ok: true, role: leads ? 'leader' : 'follower', ...reply };
  }

  /**
   * The heartbeat over REST. It renews the lease of a leader whose stream is down only while no other edge has one: an
   * edge with a stream can also deliver. Refuses: LEASE_EPOCH_STALE once for a session that was replaced.
   */
  heartbeatOverRest(body: HeartbeatBody): Promise<{ role: EdgeRole; leaseEpoch: number } | Refusal> {
    return this.#inOrder(async () => {
      const full = this.#sessionCeiling(body.sessionId);
      if (full !== null) return full;
      const lease = await this.#knownLease();
      if (isRefusal(lease)) return lease;
      const session = this.sessions.see(body.sessionId, body, this.#now());
      this.#teller.note();
      if (session.ledEpoch !== null && session.ledEpoch < lease.epoch && lease.holder !== session.id) {
        session.ledEpoch = null;
        return refuse('LEASE_EPOCH_STALE', { epoch: lease.epoch });
      }
      session.toldEpoch = lease.epoch;
      const alone = this.sessions.connected().every(({ id }) => id === session.id);
      const leads = lease.holder === session.id && alone && !this.#electing;
      if (leads) this.#renew(session, lease);
      return { role: leads ? 'leader' : 'follower', leaseEpoch: lease.epoch };
    });
  }

  /** Null when a frame that acts may be taken. Refuses: LEASE_EPOCH_STALE. I19. */
  mayAct(session: Session, leaseEpoch: number): Refusal | null {
    const lease = this.#lease;
    if (lease !== null && lease.epoch === leaseEpoch && lease.holder === session.id) return null;
    return refuse('LEASE_EPOCH_STALE', { epoch: lease?.epoch ?? 0 });
  }

  /** What time alone changes: ended sessions, a lease that ran out, liveness. False when the room is empty. */
  tick(): boolean {
    const now = this.#now();
    const anyLeft = this.sessions.age(now);
    this.#noteLeading();
    if (anyLeft || this.#teller.open) this.#teller.note();
    const next = this.#lease === null ? null : nextLeader(this.#lease, this.sessions.all(), now.elapsedMs);
    if (next !== null && !this.#electing) void this.#elect();
    return anyLeft || this.#teller.open;
  }

  /** Rows that are not saved yet; they count as saved from now on. */
  takeUnsaved(): SessionRow[] {
    const now = this.#now();
    const unsaved = this.sessions.all().filter((session) => session.unsaved);
    for (const session of unsaved) session.unsaved = false;
    return unsaved.map((session) => this.sessions.rowOf(session, this.#lease?.holder ?? null, now));
  }

  /** The rows that could not be saved after all. */
  putBackUnsaved(ids: ReadonlySet<string>): void {
    for (const session of this.sessions.all()) if (ids.has(session.id)) session.unsaved = true;
  }

  /** Closes every stream. What the account knows may have changed with the reason, so the lease is asked for again. */
  close(code: string): void {
    for (const session of this.sessions.connected()) {
      session.connection!.close(code);
      session.connection = null;
    }
    if (this.#lease !== null) this.#lease = shortened(this.#lease, this.#now().elapsedMs);
    this.#noteLeading();
  }

  /** Asks the leader for pool addresses where the stock is low. */
  async replenish(): Promise<void> {
    this.#stockedMs = this.#now().elapsedMs;
    const state = await this.#inspect(), { leader } = this;
    if (isRefusal(state) || leader === null) return;
    this.#pooled = Object.keys(state.pools).length > 0;
    for (const [chain, pool] of Object.entries(state.pools)) {
      const wanted = replenishment(pool);
      if (wanted !== null) leader.connection!.send('replenish', { leaseEpoch: this.#lease!.epoch, chain, ...wanted });
    }
  }

  #sessionLimit(state: AccountState, sessionId: string): Refusal | null {
    const others = this.sessions.connected().filter(({ id }) => id !== sessionId).length;
    const ofTier = tierLimit(state, 'edgeSessions', others, TIER_TERMS[state.plan.tier].edgeSessions);
    return ofTier ?? this.#sessionCeiling(sessionId);
  }

  /** "Unlimited" has a ceiling too. */
  #sessionCeiling(sessionId: string): Refusal | null {
    const known = this.sessions.get(sessionId) !== undefined;
    return known || !this.sessions.full
      ? null
      : refuse('TIER_FEATURE_LOCKED', { feature: 'edgeSessions', limit: SESSIONS_PER_ACCOUNT_MAX });
  }

  /** Claims the lease for a session whose stream came up, unless another one may still hold it. */
  async #claimOrFollow(state: AccountState, session: Session): Promise<EdgeRole | Refusal> {
    this.#adopt(state);
    const lease = this.#lease!, { elapsedMs } = this.#now();
    const senior = lease.holder === session.id ? null : nextLeader(lease, this.sessions.all(), elapsedMs);
    // The next tick grants it.
    if (senior !== null && senior !== session.id) return this.#followed(session, lease.epoch);
    const mayHold = held(lease, elapsedMs) && lease.holder !== null ? [lease.holder] : [];
    const answer = await this.#deps.accounts.ask(
      this.accountId, { type: 'claim_lease', sessionId: session.id, liveSessions: mayHold },
    );
    if (answer.ok === true) {
      this.#granted(session, answer.reply.epoch);
      return 'leader';
    }
    if (answer.ok === 'duplicate') return refuse('INTERNAL_ERROR');
    return answer.code === 'LEASE_HELD' ? this.#followed(session, lease.epoch) : answer;
  }

  #followed(session: Session, epoch: number): EdgeRole {
    session.toldEpoch = epoch;
    session.unsaved = true;
    return 'follower';
  }

  /** A lease that ran out goes to the next session. A grant that fails is tried again by the next tick. */
  async #elect(): Promise<void> {
    this.#electing = true;
    await this.#inOrder(async () => {
      const lease = this.#lease;
      const next = lease === null ? null : nextLeader(lease, this.sessions.all(), this.#now().elapsedMs);
      const session = next === null ? undefined : this.sessions.get(next);
      if (session === undefined) return;
      const answer = await this.#deps.accounts.ask(
        this.accountId, { type: 'claim_lease', sessionId: session.id, liveSessions: [] },
      );
      if (answer.ok !== true) {
        const outcome = answer.ok === 'duplicate' ? 'duplicate' : answer.code;
        return this.#deps.log.warn({ accountId: this.accountId, outcome }, 'no new leader was granted');
      }
      this.#granted(session, answer.reply.epoch);
      for (const other of this.sessions.connected()) {
        const frame: LeaseFrame = {
          role: other.id === session.id ? 'leader' : 'follower', leaseEpoch: answer.reply.epoch,
          leaseTtlMs: LEASE_TTL_MS,
        };
        other.toldEpoch = answer.reply.epoch;
        other.connection!.send('lease', frame);
      }
    });
    this.#electing = false;
    void this.replenish();
  }

  #granted(session: Session, epoch: number): void {
    const before = this.#lease;
    this.#lease = renewed({ epoch, holder: session.id, untilMs: 0 }, this.#now().elapsedMs);
    session.ledEpoch = epoch;
    session.toldEpoch = epoch;
    session.unsaved = true;
    if (before !== null && before.holder !== null && before.epoch !== epoch) {
      const predecessor = this.sessions.get(before.holder);
      if (predecessor !== undefined) predecessor.unsaved = true;
      this.#deps.publisher().leaderLost(this.accountId);
      this.#deps.log.info(
        { accountId: this.accountId, sessionId: session.id, leaseEpoch: epoch }, 'another edge session leads',
      );
      this.#leading = false;
    }
    this.#noteLeading();
  }

  #renew(session: Session, lease: Lease): void {
    this.#lease = renewed(lease, this.#now().elapsedMs);
    session.ledEpoch = lease.epoch;
    this.#noteLeading();
  }

  /** Tells the publisher when deliveries can be sent, and when no more. */
  #noteLeading(): void {
    const leading = this.leader !== null;
    if (leading === this.#leading) return;
    this.#leading = leading;
    this.#onLead(this.accountId, leading);
    if (leading) this.#deps.publisher().ring(this.accountId);
    else this.#deps.publisher().leaderLost(this.accountId);
  }

  async #knownLease(): Promise<Lease | Refusal> {
    if (this.#lease !== null) return this.#lease;
    const state = await this.#inspect();
    if (isRefusal(state)) return state;
    this.#adopt(state);
    return this.#lease!;
  }

  /** The account's own word. A holder that this node did not grant counts as live for a while. */
  #adopt({ lease: { epoch, holder } }: AccountState): void {
    const known = this.#lease;
    if (known !== null && known.epoch === epoch && known.holder === holder) return;
    const foreignSinceStart = known === null ? this.#unknownHolderUntilMs : this.#now().elapsedMs + LEASE_TTL_MS;
    this.#lease = { epoch, holder, untilMs: holder === null ? 0 : foreignSinceStart };
    this.#noteLeading();
  }

  async #inspect(): Promise<AccountState | Refusal> {
    const answer = await this.#deps.accounts.ask(this.accountId, { type: 'inspect' });
    return answer.ok === true ? answer.reply : answer.ok === 'duplicate' ? refuse('INTERNAL_ERROR') : answer;
  }

  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#queue.then(work, work);
    this.#queue = next.catch(() => undefined);
    return next;
  }

  #now(): Instant {
    const { clock } = this.#deps;
    return { nowMs: clock.nowMs(), elapsedMs: clock.elapsedMs() };
  }
}
