/**
 * All edges of this node: a room per account, the port that the rest of the gateway uses, and the way by which the
 * publisher reaches leaders. One timer for all of them.
 */
import type { Attempt, DeliveryStreams, Delivery } from '../../actors/webhook/ports.ts';
import type { TimerHandle } from '../../actors/kernel/timers.ts';
import type { InstructionNotKept, SessionRow } from '../../model/ports/edge-store.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import {
  acknowledgement,
  type Acknowledgement,
  type AttemptsFrame,
  type EdgeTreasury,
  type HeartbeatBody,
  type HeartbeatReply,
  type InstructionRecord,
  type KeySetRecord,
  type LocalKeyRecord,
  type OperateFrame,
  type WelcomeFrame,
} from '../../protocol/frames.ts';
import { type AccountId, environmentOf } from '../../protocol/ids.ts';
import type { EdgeRole } from '../../protocol/slugs.ts';
import type { EdgeStreams } from '../../model/ports/edge-streams.ts';
import { shardOf } from '../../protocol/node/ids.ts';
import { OpenQuestions } from './connection.ts';
import { held } from './leases.ts';
import { LOCAL_KEYS_MAX, Room } from './room.ts';
import type { Connection, Session } from './sessions.ts';
import type { Admitted, RoomDeps } from './ports.ts';
import { TriedDeliveries } from './tried.ts';

const TICK_MS = 1_000;
/** Session rows of one statement. */
const SAVE_MAX = 1_000;
/** An edge that does not say within this time that it has a frame is asked again later. */
const DELIVER_TIMEOUT_MS = 10_000;
/** Signing includes the edge's own checks, its ledger and one request to the cloud. */
const SIGN_TIMEOUT_MS = 30_000;

/** A stream that was let in: what its frames are handed to. */
export interface Joined {
  readonly welcome: WelcomeFrame;
  /** The welcome was sent: what waited for it may follow. */
  begun(): void;
  /** Null where this node may not speak for the account: nothing is answered, and the stream closes. */
  heartbeat(body: HeartbeatBody & { leaseEpoch: number; treasury?: EdgeTreasury }): HeartbeatReply | null;
  /** Resolves when the attempts are durable. */
  attempts(frame: AttemptsFrame): Promise<Acknowledgement>;
  localKeys(records: readonly LocalKeyRecord[]): Promise<Acknowledgement>;
  keySet(set: KeySetRecord): Promise<Acknowledgement>;
  instructions(records: readonly InstructionRecord[]): Promise<Acknowledgement>;
  /** The edge stops; it must lead under this epoch. */
  release(leaseEpoch: number): Promise<Acknowledgement>;
  /** `byPeer` false for a stream that did not answer our pings. */
  left(byPeer: boolean): void;
}

export class EdgeRooms implements EdgeStreams, DeliveryStreams {
  readonly #deps: RoomDeps;
  readonly #questions = new OpenQuestions();
  readonly #rooms = new Map<AccountId, Room>();
  readonly #leaders = new Set<AccountId>();
  readonly #tried: TriedDeliveries;
  /** Since when this node has the room of a shard's accounts; of all where it serves alone. Monotonic. */
  readonly #sinceMs = new Map<number, number>();
  #startedMs = 0;
  #timer: TimerHandle = null;
  #saving = false;
  #saved: Promise<void> = Promise.resolve();
  #stopped = true;

  constructor(deps: RoomDeps) {
    this.#deps = deps;
    this.#tried = new TriedDeliveries(deps.clock);
  }

  /**
   * Finds the sessions that were open when the node before stopped, then watches the time. Nothing of an earlier run
   * stays.
   */
  async start(): Promise<void> {
    this.begin();
    const now = { nowMs: this.#deps.clock.nowMs(), elapsedMs: this.#startedMs };
    for (const row of await this.#deps.store.openSessions()) this.#roomOf(row.accountId).sessions.restore(row, now);
  }

  /** Watches the time; rooms come with `gained`. */
  begin(): void {
    this.#rooms.clear();
    this.#leaders.clear();
    this.#stopped = false;
    this.#startedMs = this.#deps.clock.elapsedMs();
    this.#schedule();
  }

  /** The rooms of these shards are here now: sessions that were open elsewhere must be heard from, or are reported. */
  async gained(shards: readonly number[]): Promise<void> {
    const { clock, store } = this.#deps;
    const now = { nowMs: clock.nowMs(), elapsedMs: clock.elapsedMs() };
    const here = new Set(shards);
    for (const shard of shards) this.#sinceMs.set(shard, now.elapsedMs);
    for (const row of await store.openSessions()) {
      if (here.has(shardOf(row.accountId))) this.#roomOf(row.accountId).sessions.restore(row, now);
    }
  }

  /**
   * The rooms of these shards are another node's now: their streams close, what is known is saved, and the rooms are
   * forgotten. Leases are kept: the edges come back to the next owner.
   */
  async moved(shards: readonly number[]): Promise<void> {
    const there = new Set(shards);
    const gone = [...this.#rooms].filter(([accountId]) => there.has(shardOf(accountId)));
    for (const [, room] of gone) room.close('SERVICE_UNAVAILABLE');
    await this.#saved;
    await this.#saveAll();
    for (const [accountId, room] of gone) {
      if (this.#rooms.get(accountId) === room) this.#rooms.delete(accountId);
      this.#leaders.delete(accountId);
    }
    for (const shard of shards) this.#sinceMs.delete(shard);
  }

  /** Streams that are up. */
  get streamCount(): number {
    return [...this.#rooms.values()].reduce((sum, { sessions }) => sum + sessions.connected().length, 0);
  }

  /**
   * A verified stream becomes a member of its account's room. Refuses: TIER_FEATURE_LOCKED, SERVICE_UNAVAILABLE when
   * the account is another node's by then, and what the account refuses.
   */
  async join(admitted: Admitted, connection: Connection): Promise<Joined | Refusal> {
    const { accountId, sessionId } = admitted,
      shard = shardOf(accountId);
    if (this.#stopped) return refuse('SERVICE_UNAVAILABLE', { reason: 'stopping' });
    const localKeys = await this.#deps.store.localKeys(accountId);
    if (this.#stopped || !this.#deps.isHere(shard)) return accountMoved();
    const room = this.#roomOf(accountId);
    const welcome = await room.connect(admitted, connection, localKeys);
    if (isRefusal(welcome)) return welcome;
    // The account may have moved meanwhile, even back: a stream in a forgotten room would lead, and get nothing.
    if (this.#stopped || this.#rooms.get(accountId) !== room || !this.#deps.isHere(shard)) {
      room.disconnected(sessionId, connection, false);
      return accountMoved();
    }
    this.#save();
    const session = room.sessions.get(sessionId)!;
    return {
      welcome,
      begun: () => {
        void this.#sendOtherKeys(accountId, connection, welcome.localKeys);
        void this.#sendKeySets(accountId, connection);
        void this.#askToRevoke(room);
        if (welcome.role === 'leader') void room.replenish();
      },
      heartbeat: ({ leaseEpoch, ...body }) => {
        if (room.isRevoking) void this.#askToRevoke(room);
        if (this.#deps.isHere(shard)) return room.heartbeat(session, { ...body, sessionId }, leaseEpoch);
        connection.close('SERVICE_UNAVAILABLE');
        return null;
      },
      attempts: (frame) => this.#attempts(room, session, frame),
      localKeys: (records) => this.#localKeys(room, session, records),
      keySet: (set) => this.#keySet(room, session, set),
      instructions: (records) => this.#instructions(room, session, records),
      release: async (leaseEpoch) => acknowledgementOf(await room.release(session, leaseEpoch)),
      left: (byPeer) => {
        room.disconnected(sessionId, connection, byPeer);
        this.#save();
      },
    };
  }

  async anyLive(accountId: AccountId): Promise<boolean> {
    return this.liveSessions(accountId).length > 0;
  }

  /** Sessions of an account that are heard of on this node. */
  liveSessions(accountId: AccountId): string[] {
    const sessions = this.#rooms.get(accountId)?.sessions;
    return (
      sessions
        ?.all()
        .filter(
          (session) =>
            !session.leaving && (session.connection !== null || sessions.livenessOf(session, this.#now()) === 'live'),
        )
        .map(({ id }) => id) ?? []
    );
  }

  async askToSign(accountId: AccountId, transactionId: string): Promise<Acknowledgement | Refusal> {
    return this.#askLeader(accountId, 'sign', async () => ({
      transactionId,
      record: await this.#record(accountId, transactionId),
    }));
  }

  askToOperate(accountId: AccountId, frame: Omit<OperateFrame, 'leaseEpoch'>): Promise<Acknowledgement | Refusal> {
    return this.#askLeader(accountId, 'operate', async () => frame);
  }

  async tryDelivery(accountId: AccountId, delivery: Delivery): Promise<Attempt | Refusal> {
    const leader = this.#leaderOf(accountId);
    if (isRefusal(leader)) return leader;
    return this.#tried.attempt(accountId, delivery.deliveryId, () => this.deliver(accountId, [delivery]));
  }

  async #askLeader(
    accountId: AccountId,
    frame: 'sign' | 'operate',
    body: () => Promise<object>,
  ): Promise<Acknowledgement | Refusal> {
    const before = this.#leaderOf(accountId);
    if (isRefusal(before)) return before;
    const more = await body();
    // Meanwhile the leader may have left, and another session may lead.
    const leader = this.#leaderOf(accountId);
    if (isRefusal(leader)) return leader;
    const given = { leaseEpoch: leader.epoch, ...more };
    const answer = acknowledgement.safeParse(
      await this.#questions.ask(leader.connection, frame, given, SIGN_TIMEOUT_MS),
    );
    // What the edge did is unknown; asking again is safe, since it signs a transaction once.
    return answer.success
      ? answer.data
      : refuse('SERVICE_UNAVAILABLE', { reason: 'the edge did not answer', retryAfterSeconds: 5 });
  }

  /** The stream of the leader, and its epoch. Refuses: EDGE_OFFLINE, EDGE_NO_LEADER. */
  #leaderOf(accountId: AccountId): { readonly connection: Connection; readonly epoch: number } | Refusal {
    if (this.liveSessions(accountId).length === 0) return refuse('EDGE_OFFLINE');
    const { leader, lease } = this.#rooms.get(accountId)!.leadership;
    return leader === null || leader.connection === null || lease === null
      ? refuse('EDGE_NO_LEADER')
      : { connection: leader.connection, epoch: lease.epoch };
  }

  async announceRotation(accountId: AccountId, rotationId: string): Promise<void> {
    for (const { connection } of this.#rooms.get(accountId)?.sessions.connected() ?? [])
      connection!.send('rotation', { rotationId });
  }

  async close(accountId: AccountId, code: string): Promise<void> {
    this.#rooms.get(accountId)?.close(code);
    this.#save();
  }

  noteHeartbeat(
    accountId: AccountId,
    beat: HeartbeatBody,
  ): Promise<{ role: EdgeRole; leaseEpoch: number; leaseTtlMs: number } | Refusal> {
    return this.#roomOf(accountId).heartbeatOverRest(beat);
  }

  async leaseExpiresAtMs(accountId: AccountId): Promise<number | null> {
    const lease = this.#rooms.get(accountId)?.leadership.lease;
    const { nowMs, elapsedMs } = this.#now();
    return lease == null || !held(lease, elapsedMs) ? null : nowMs + lease.untilMs - elapsedMs;
  }

  async revokeKeys(accountId: AccountId): Promise<void> {
    const room = this.#rooms.get(accountId);
    if (room !== undefined && this.#deps.isHere(room.shard)) await this.#askToRevoke(room);
  }

  async replenish(accountId: AccountId): Promise<void> {
    if (this.#leaders.has(accountId)) await this.#rooms.get(accountId)?.replenish();
  }

  leaders(): ReadonlySet<AccountId> {
    return this.#leaders;
  }

  async deliver(accountId: AccountId, deliveries: readonly Delivery[]): Promise<Acknowledgement | null> {
    const room = this.#rooms.get(accountId),
      leader = room?.leadership.leader;
    if (room === undefined || leader == null || !this.#deps.isHere(room.shard)) return null;
    const answer = acknowledgement.safeParse(
      await leader.connection!.ask(
        'deliver',
        { leaseEpoch: room.leadership.lease!.epoch, deliveries },
        DELIVER_TIMEOUT_MS,
      ),
    );
    return answer.success ? answer.data : null;
  }

  /** Closes every stream and saves what is known. Leases are kept: the edges come back to the next node. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#deps.clock.clearTimer(this.#timer);
    for (const room of this.#rooms.values()) room.close('SERVICE_UNAVAILABLE');
    await this.#saved;
    await this.#saveAll();
  }

  #roomOf(accountId: AccountId): Room {
    const known = this.#rooms.get(accountId);
    if (known !== undefined) return known;
    const sinceMs = this.#sinceMs.get(shardOf(accountId)) ?? this.#startedMs;
    const room: Room = new Room(accountId, this.#deps, sinceMs, (id, leading) => {
      if (this.#rooms.get(id) !== room) return; // a forgotten one
      if (leading) this.#leaders.add(id);
      else this.#leaders.delete(id);
    });
    this.#rooms.set(accountId, room);
    return room;
  }

  async #attempts(room: Room, session: Session, { leaseEpoch, attempts }: AttemptsFrame): Promise<Acknowledgement> {
    const stale = room.leadership.mayAct(session, leaseEpoch);
    if (stale !== null) return acknowledgementOf(stale);
    const recorded = this.#tried.reported(room.accountId, attempts);
    if (recorded.length === 0) return { ok: true };
    try {
      await this.#deps.publisher().report(room.accountId, recorded);
      return { ok: true };
    } catch (error) {
      this.#deps.log.warn(
        { err: error, accountId: room.accountId, count: attempts.length },
        'attempts could not be recorded',
      );
      return { ok: false, code: 'SERVICE_UNAVAILABLE' };
    }
  }

  /**
   * Stored, then sent to every other replica. The edges check who signed a record; the cloud only carries it, and of
   * one account only so many.
   */
  async #localKeys(room: Room, from: Session, records: readonly LocalKeyRecord[]): Promise<Acknowledgement> {
    const environment = environmentOf(room.accountId);
    if (records.some((record) => record.environment !== environment)) return { ok: false, code: 'INVALID_INPUT' };
    let notKept: readonly string[] | 'not_pinned';
    try {
      notKept = await this.#deps.store.saveLocalKeys(room.accountId, records, from.identity);
    } catch (error) {
      this.#deps.log.warn({ err: error, accountId: room.accountId }, 'local keys could not be stored');
      return { ok: false, code: 'SERVICE_UNAVAILABLE' };
    }
    if (notKept === 'not_pinned') return noLongerPinned(from);
    const left = notKept,
      kept = records.filter(({ id }) => !left.includes(id));
    for (const session of room.sessions.connected()) {
      if (session.id !== from.id && kept.length > 0) session.connection!.send('keys', { records: kept });
    }
    return notKept.length === 0 ? { ok: true } : { ok: false, code: 'PAYLOAD_TOO_LARGE', details: { notKept } };
  }

  /** Asks the leader for the revocations that wait; with each heartbeat of the account again, until none does. */
  async #askToRevoke(room: Room): Promise<void> {
    try {
      const ids = await this.#deps.store.keysToRevoke(room.accountId);
      room.isRevoking = ids.length > 0;
      if (room.isRevoking) room.leadership.leader?.connection?.send('revoke_keys', { ids });
    } catch (error) {
      room.isRevoking = true;
      this.#deps.log.warn({ err: error, accountId: room.accountId }, 'keys to revoke could not be read');
    }
  }

  /** What a welcome lacks: keys beyond those it carries, and what others shared while the stream was coming up. */
  async #sendOtherKeys(
    accountId: AccountId,
    connection: Connection,
    welcomed: readonly LocalKeyRecord[],
  ): Promise<void> {
    try {
      const known = new Set(welcomed.map(({ id, signature }) => `${id} ${signature}`));
      const others = (await this.#deps.store.localKeys(accountId)).filter(
        ({ id, signature }) => !known.has(`${id} ${signature}`),
      );
      for (let from = 0; from < others.length; from += LOCAL_KEYS_MAX) {
        connection.send('keys', { records: others.slice(from, from + LOCAL_KEYS_MAX) });
      }
    } catch (error) {
      this.#deps.log.warn({ err: error, accountId }, 'local keys could not be read');
    }
  }

  /** Stored, then sent to every other replica, which checks the signature itself. */
  async #keySet(room: Room, from: Session, set: KeySetRecord): Promise<Acknowledgement> {
    if (set.environment !== environmentOf(room.accountId)) return { ok: false, code: 'INVALID_INPUT' };
    let kept: Awaited<ReturnType<RoomDeps['store']['saveKeySet']>>;
    try {
      kept = await this.#deps.store.saveKeySet(room.accountId, set, from.identity);
    } catch (error) {
      this.#deps.log.warn({ err: error, accountId: room.accountId }, 'a key set could not be stored');
      return { ok: false, code: 'SERVICE_UNAVAILABLE' };
    }
    if (kept === 'not_pinned') return noLongerPinned(from);
    if (kept === 'no_room') return { ok: false, code: 'PAYLOAD_TOO_LARGE' };
    for (const session of room.sessions.connected()) {
      if (session.id !== from.id && kept === 'kept') session.connection!.send('key_set', { set });
    }
    return { ok: true };
  }

  async #sendKeySets(accountId: AccountId, connection: Connection): Promise<void> {
    try {
      for (const set of await this.#deps.store.keySets(accountId)) connection.send('key_set', { set });
    } catch (error) {
      this.#deps.log.warn({ err: error, accountId }, 'key sets could not be read');
    }
  }

  /**
   * Stored for a leader that comes later, then sent to every other replica, which checks the signature itself. Only of
   * transactions that this account built, and of very large ones only so many.
   */
  async #instructions(room: Room, from: Session, records: readonly InstructionRecord[]): Promise<Acknowledgement> {
    const environment = environmentOf(room.accountId);
    if (records.some((record) => record.environment !== environment)) return { ok: false, code: 'INVALID_INPUT' };
    let notKept: readonly InstructionNotKept[] | 'not_pinned';
    try {
      notKept = await this.#deps.store.saveInstructions(room.accountId, records, from.identity);
    } catch (error) {
      this.#deps.log.warn({ err: error, accountId: room.accountId }, 'instructions could not be stored');
      return { ok: false, code: 'SERVICE_UNAVAILABLE' };
    }
    if (notKept === 'not_pinned') return noLongerPinned(from);
    const left = notKept,
      kept = records.filter(({ transactionId }) => left.every((record) => record.transactionId !== transactionId));
    for (const session of room.sessions.connected()) {
      if (session.id !== from.id && kept.length > 0) session.connection!.send('instructions', { records: kept });
    }
    if (notKept.length === 0) return { ok: true };
    return {
      ok: false,
      code: notKept.some(({ reason }) => reason === 'quota') ? 'PAYLOAD_TOO_LARGE' : 'NOT_FOUND',
      details: { notKept },
    };
  }

  async #record(accountId: AccountId, transactionId: string): Promise<InstructionRecord | null> {
    try {
      return await this.#deps.store.instruction(accountId, transactionId);
    } catch (error) {
      this.#deps.log.warn({ err: error, accountId }, 'an instruction could not be read');
      return null;
    }
  }

  #schedule(): void {
    this.#timer = this.#deps.clock.setTimer(TICK_MS, () => {
      if (this.#stopped) return;
      // Where the account may be another node's, nobody is elected and nothing is reported of it.
      for (const [accountId, room] of this.#rooms)
        if (this.#deps.isHere(room.shard) && !room.tick()) this.#rooms.delete(accountId);
      this.#save();
      this.#schedule();
    });
  }

  /** Writes what changed; what changes meanwhile is written by the next tick. */
  #save(): void {
    if (!this.#saving) this.#saved = this.#saveAll();
  }

  async #saveAll(): Promise<void> {
    this.#saving = true;
    const rows: SessionRow[] = [];
    for (const room of this.#rooms.values()) rows.push(...room.takeUnsaved());
    for (let from = 0; from < rows.length; from += SAVE_MAX) {
      const batch = rows.slice(from, from + SAVE_MAX);
      try {
        await this.#deps.store.saveSessions(batch);
      } catch (error) {
        this.#deps.log.warn({ err: error, count: batch.length }, 'sessions could not be saved');
        const ids = new Set(batch.map(({ id }) => id));
        for (const room of this.#rooms.values()) room.putBackUnsaved(ids);
      }
    }
    this.#saving = false;
  }

  #now(): { nowMs: number; elapsedMs: number } {
    const { clock } = this.#deps;
    return { nowMs: clock.nowMs(), elapsedMs: clock.elapsedMs() };
  }
}

/** The identity of this stream was replaced, or its account wiped, since it was let in: it must be admitted anew. */
function noLongerPinned({ connection }: Session): Acknowledgement {
  connection?.close('UNAUTHORIZED');
  return { ok: false, code: 'UNAUTHORIZED', details: { reason: 'identity_not_pinned' } };
}

function acknowledgementOf(refusal: Refusal | null): Acknowledgement {
  return refusal === null ? { ok: true } : { ok: false, code: refusal.code, details: refusal.details };
}

/** Refuses a stream whose account's room is not here any more: the edge comes again, to the owner of then. */
export const accountMoved = (): Refusal =>
  refuse('SERVICE_UNAVAILABLE', { reason: 'the account has moved', retryAfterSeconds: 1 });
