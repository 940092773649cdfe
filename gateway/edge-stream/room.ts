/**
 * The edges of one account on this node: their sessions, who leads, what was reported of them to the account.
 * Everything that asks the account actor goes through one queue per room, so that two arrivals never race for the
 * lease.
 */
import type { AccountState } from '../../model/account/capabilities.ts';
import { tierLimit } from '../../actors/plan/limits.ts';
import { replenishment } from '../../actors/address/pools.ts';
import type { SessionRow } from '../../model/ports/edge-store.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import {
  HEARTBEAT_MS,
  type EdgeTreasury,
  type HeartbeatBody,
  type HeartbeatReply,
  type LocalKeyRecord,
  type WelcomeFrame,
} from '../../protocol/frames.ts';
import type { AccountId } from '../../protocol/ids.ts';
import { shardOf } from '../../protocol/node/ids.ts';
import { TIER_TERMS } from '../../protocol/plans.ts';
import { POOLED_CHAINS, type EdgeRole } from '../../protocol/slugs.ts';
import { Leadership, type OnLead } from './leadership.ts';
import type { Admitted, RoomDeps } from './ports.ts';
import { REFILL_TIMEOUT_MS, Refills, type Wanted } from './refills.ts';
import { Sessions, SESSIONS_PER_ACCOUNT_MAX, type Connection, type Instant, type Session } from './sessions.ts';
import { LivenessTeller } from './announce.ts';

/** Records that a frame takes, a welcome too. */
export const LOCAL_KEYS_MAX = 1_000;
/** How often the stock of an account with pools is looked at, beside what an issue asks for. */
const STOCK_EVERY_MS = 60_000;

export class Room {
  readonly accountId: AccountId;
  readonly shard: number;
  readonly sessions: Sessions;
  readonly leadership: Leadership;
  /** Revocations of local keys wait for the leader, as far as this node knows. */
  isRevoking = false;
  readonly #deps: RoomDeps;
  readonly #teller: LivenessTeller;
  #queue: Promise<unknown> = Promise.resolve();
  /** Arrivals and others in the queue. */
  #queued = 0;
  /** The account has pools, as it said last, and when that was. */
  #pooled = false;
  #stockedMs = 0;
  readonly #refills = new Refills();
  #stocking: Promise<void> | null = null;
  #stockAgain = false;

  constructor(accountId: AccountId, deps: RoomDeps, startedMs: number, onLead: OnLead) {
    this.accountId = accountId;
    this.shard = shardOf(accountId);
    this.sessions = new Sessions(accountId);
    this.leadership = new Leadership(accountId, deps, this.sessions, startedMs, onLead);
    this.#deps = deps;
    this.#teller = new LivenessTeller(accountId, deps.accounts, () => this.sessions.anyAlive(this.#now()));
  }

  /**
   * A stream that was admitted. Refuses: TIER_FEATURE_LOCKED above the tier's sessions, and what the account refuses.
   * `localKeys` are read before, so that nothing but the account is waited for in here.
   */
  connect(
    admitted: Admitted,
    connection: Connection,
    localKeys: readonly LocalKeyRecord[],
  ): Promise<WelcomeFrame | Refusal> {
    return this.#inOrder(async () => {
      const state = await this.#inspect();
      if (isRefusal(state)) return state;
      const locked = this.#sessionLimit(state, admitted.sessionId);
      if (locked !== null) return locked;
      const now = this.#now(),
        session = this.sessions.see(admitted.sessionId, admitted, now);
      if (session.connection !== null) this.#refills.closed(session.id);
      session.connection?.close('CONFLICT');
      session.connection = connection;
      session.leaving = false;
      session.connectedMs = now.elapsedMs;
      this.#teller.note();
      const role = await this.leadership.claim(state, session);
      if (isRefusal(role)) {
        if (session.connection === connection) session.connection = null;
        return role;
      }
      this.#noteSessions(state);
      return {
        sessionId: session.id,
        role,
        leaseEpoch: session.sentEpoch,
        leaseTtlMs: this.leadership.ttlMs,
        heartbeatMs: HEARTBEAT_MS,
        serverTimeMs: now.nowMs,
        localKeys: localKeys.slice(0, LOCAL_KEYS_MAX),
        keySets: true,
        treasury: true,
      };
    });
  }

  /** A stream that closed; `byPeer` when the other side or the network closed it, not our own ping timeout. */
  disconnected(sessionId: string, connection: Connection, byPeer: boolean): void {
    const session = this.sessions.get(sessionId);
    if (session === undefined || session.connection !== connection) return;
    session.connection = null;
    session.unsaved = true;
    this.#refills.closed(sessionId);
    if (byPeer) this.leadership.closed(sessionId);
    this.leadership.note();
  }

  /** A heartbeat on the stream, which renews the leader's lease. `ok` false: its stream is to be closed. */
  heartbeat(session: Session, body: HeartbeatBody & { treasury?: EdgeTreasury }, leaseEpoch: number): HeartbeatReply {
    const now = this.#now();
    this.sessions.see(session.id, body, now);
    this.#teller.note();
    const epoch = this.leadership.lease?.epoch ?? session.sentEpoch;
    const reply = { leaseEpoch: epoch, leaseTtlMs: this.leadership.ttlMs };
    const leads = this.leadership.leads(session);
    if (leads) {
      this.leadership.renew(session);
      if (this.#pooled && now.elapsedMs - this.#stockedMs >= STOCK_EVERY_MS) void this.replenish();
    }
    // Who led under an older epoch and says so still believes in it; a follower is only late to learn the new one.
    else if (leaseEpoch < epoch && session.ledEpoch === leaseEpoch) {
      session.ledEpoch = null;
      return { ok: false, code: 'LEASE_EPOCH_STALE', role: 'follower', ...reply };
    }
    session.sentEpoch = epoch;
    return { ok: true, role: leads ? 'leader' : 'follower', ...reply };
  }

  /**
   * The heartbeat over REST. It renews the lease of a leader whose stream is down only while no other edge has one: an
   * edge with a stream can also deliver. Refuses: LEASE_EPOCH_STALE once for a session that was replaced.
   */
  heartbeatOverRest(
    body: HeartbeatBody,
  ): Promise<{ role: EdgeRole; leaseEpoch: number; leaseTtlMs: number } | Refusal> {
    return this.#inOrder(async () => {
      const full = this.#sessionCeiling(body.sessionId);
      if (full !== null) return full;
      const state = await this.#inspect();
      if (isRefusal(state)) return state;
      const lease = this.leadership.adopt(state);
      const session = this.sessions.see(body.sessionId, body, this.#now());
      this.#teller.note();
      if (session.ledEpoch !== null && session.ledEpoch < lease.epoch && lease.holder !== session.id) {
        session.ledEpoch = null;
        return refuse('LEASE_EPOCH_STALE', { epoch: lease.epoch });
      }
      session.sentEpoch = lease.epoch;
      const alone = this.sessions.connected().every(({ id }) => id === session.id);
      const leads = alone && this.leadership.leads(session);
      if (leads) this.leadership.renew(session);
      return { role: leads ? 'leader' : 'follower', leaseEpoch: lease.epoch, leaseTtlMs: this.leadership.ttlMs };
    });
  }

  /**
   * The leader stops; the session that has been live longest leads next. Refuses: LEASE_EPOCH_STALE, what the account
   * refuses.
   */
  async release(session: Session, leaseEpoch: number): Promise<Refusal | null> {
    const refusal = await this.#inOrder(() => this.leadership.release(session, leaseEpoch));
    if (refusal === null) this.#electIfVacant();
    return refusal;
  }

  /**
   * What time alone changes: ended sessions, a lease that ran out, liveness. False when the room is empty and nobody
   * comes.
   */
  tick(): boolean {
    const now = this.#now();
    const anyLeft = this.sessions.age(now);
    this.leadership.note();
    if (anyLeft || this.#teller.open) this.#teller.note();
    this.#electIfVacant();
    return anyLeft || this.#teller.open || this.#queued > 0;
  }

  /** Rows that are not saved yet; they count as saved from now on. */
  takeUnsaved(): SessionRow[] {
    const now = this.#now();
    const unsaved = this.sessions.all().filter((session) => session.unsaved);
    for (const session of unsaved) session.unsaved = false;
    return unsaved.map((session) => this.sessions.rowOf(session, this.leadership.lease?.holder ?? null, now));
  }

  /** The rows that could not be saved after all. */
  putBackUnsaved(ids: ReadonlySet<string>): void {
    for (const session of this.sessions.all()) if (ids.has(session.id)) session.unsaved = true;
  }

  /** Closes every stream. What the account knows may have changed with the reason, so the lease is asked for again. */
  close(code: string): void {
    for (const session of this.sessions.connected()) {
      this.#refills.closed(session.id);
      session.connection!.close(code);
      session.connection = null;
    }
    this.leadership.closed(this.leadership.lease?.holder ?? null);
    this.leadership.note();
  }

  /**
   * Asks the leader for pool addresses where the stock is low. One look at a time: a call meanwhile causes one
   * more.
   */
  replenish(): Promise<void> {
    this.#stockAgain = true;
    return (this.#stocking ??= (async () => {
      while (this.#stockAgain) {
        this.#stockAgain = false;
        await this.#lookAtStock();
      }
    })().finally(() => {
      this.#stocking = null;
    }));
  }

  async #lookAtStock(): Promise<void> {
    this.#stockedMs = this.#now().elapsedMs;
    const state = await this.#inspect(),
      { leader, lease } = this.leadership;
    if (isRefusal(state) || leader === null) return;
    this.#pooled = Object.keys(state.pools).length > 0;
    for (const chain of POOLED_CHAINS) {
      const pool = state.pools[chain],
        wanted = pool === undefined ? null : replenishment(pool);
      if (wanted !== null) this.#refill(leader, lease!.epoch, { chain, ...wanted });
    }
  }

  #refill(leader: Session, leaseEpoch: number, wanted: Wanted): void {
    const flight = this.#refills.ask(leader.id, wanted, this.#now().elapsedMs);
    if (flight === null) return;
    const { chain, from, count } = flight;
    void leader.connection!.ask('replenish', { leaseEpoch, chain, from, count }, REFILL_TIMEOUT_MS).then((answer) => {
      const useful = (answer as { ok?: unknown } | null)?.ok === true;
      if (this.#refills.answered(flight, useful, this.#now().elapsedMs)) void this.replenish();
    });
  }

  #electIfVacant(): void {
    if (this.leadership.doubtful) {
      const look = () => this.#inOrder(() => this.#inspect());
      void this.leadership.settle(look).then(() => {
        if (!this.leadership.doubtful) this.#electIfVacant();
      });
    }
    if (this.leadership.vacant) void this.leadership.elect((work) => this.#inOrder(work)).then(() => this.replenish());
  }

  #sessionLimit(state: AccountState, sessionId: string): Refusal | null {
    const others = this.sessions.connected().filter(({ id }) => id !== sessionId).length;
    const ofTier = tierLimit(state, 'edgeSessions', others, TIER_TERMS[state.plan.tier].edgeSessions);
    return ofTier ?? this.#sessionCeiling(sessionId);
  }

  /** For the warnings of a tier that limits them; a note that is lost comes with the next session. Console B16. */
  #noteSessions({ environment, plan }: AccountState): void {
    if (environment === 'sandbox' || TIER_TERMS[plan.tier].edgeSessions === null) return;
    const open = this.sessions.connected().length;
    void this.#deps.accounts.ask(this.accountId, { type: 'note_sessions', open }).catch(() => undefined);
  }

  /** "Unlimited" has a ceiling too. */
  #sessionCeiling(sessionId: string): Refusal | null {
    const known = this.sessions.get(sessionId) !== undefined;
    return known || !this.sessions.full
      ? null
      : refuse('TIER_FEATURE_LOCKED', { feature: 'edgeSessions', limit: SESSIONS_PER_ACCOUNT_MAX });
  }

  async #inspect(): Promise<AccountState | Refusal> {
    const answer = await this.#deps.accounts.ask(this.accountId, { type: 'inspect' });
    return answer.ok === true ? answer.reply : answer.ok === 'duplicate' ? refuse('INTERNAL_ERROR') : answer;
  }

  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    this.#queued += 1;
    const next = this.#queue.then(work, work).finally(() => {
      this.#queued -= 1;
    });
    this.#queue = next.catch(() => undefined);
    return next;
  }

  #now(): Instant {
    const { clock } = this.#deps;
    return { nowMs: clock.nowMs(), elapsedMs: clock.elapsedMs() };
  }
}
