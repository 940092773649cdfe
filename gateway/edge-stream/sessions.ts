/**
 * Presence: the edge sessions of this node, in memory. Heartbeats are no facts and never reach an account's stream;
 * rows are written in batches so that lists and a restart find them. Spec §2.8, §3.2; decisions 3.
 *
 *   silent for     session
 *   < 60 s         live
 *   < 120 s        stale
 *   longer         down: the session has ended; it is shown for an hour, and is live again if it speaks
 */
import type { SessionRow } from '../../model/ports/edge-store.ts';
import {
  LIVENESS_DOWN_MS,
  LIVENESS_STALE_MS,
  SESSION_REAP_MS,
  type EdgeTreasury,
  type HandshakeAuth,
  type HeartbeatBody,
} from '../../protocol/frames.ts';
import type { AccountId } from '../../protocol/ids.ts';
import type { Admitted } from './ports.ts';

/** Sessions of one account, ended ones included; a looping replica must not fill the memory of the node. */
export const SESSIONS_PER_ACCOUNT_MAX = 1_000;

/** One stream, whatever carries it. */
export interface Connection {
  send(frame: string, body: object): void;
  /** The acknowledgement; null when none came in time or the stream closed. Never rejects. */
  ask(frame: string, body: object, timeoutMs: number): Promise<unknown>;
  /** Says why, then closes. */
  close(code: string): void;
}

export interface Session {
  readonly id: string;
  readonly accountId: AccountId;
  edgeVersion: string;
  podHint: string | null;
  /** Public key of the edge whose stream it is; null for one that was restored, or came by REST alone. */
  identity: string | null;
  outboxMode: string;
  outboxDepth: number;
  outboxPoisoned: boolean;
  /** What it said last of registry and caps; null: nothing yet. */
  treasury: EdgeTreasury | null;
  readonly startedAtMs: number;
  /** Wall clock, for people. */
  lastHeartbeatAtMs: number;
  endedAtMs: number | null;
  /** Monotonic: when it was last heard of, and since when its stream is up. */
  seenMs: number;
  connectedMs: number;
  connection: Connection | null;
  /** It said that it stops: it is granted nothing more on this stream. */
  leaving: boolean;
  /** Epoch under which it led last; null when it never did. */
  ledEpoch: number | null;
  /** Epoch that it was sent last. */
  sentEpoch: number;
  unsaved: boolean;
}

export interface Instant {
  readonly nowMs: number;
  readonly elapsedMs: number;
}

export type SessionLiveness = 'live' | 'stale' | 'down';

/** Liveness after a silence, by the table above. */
export function livenessAfter(silentMs: number): SessionLiveness {
  if (silentMs < LIVENESS_STALE_MS) return 'live';
  return silentMs < LIVENESS_DOWN_MS ? 'stale' : 'down';
}

/** Sessions of one account. */
export class Sessions {
  readonly #accountId: AccountId;
  readonly #byId = new Map<string, Session>();

  constructor(accountId: AccountId) {
    this.#accountId = accountId;
  }

  get(id: string): Session | undefined {
    return this.#byId.get(id);
  }

  all(): Session[] {
    return [...this.#byId.values()];
  }

  connected(): Session[] {
    return this.all().filter(({ connection }) => connection !== null);
  }

  /** True when the account has as many sessions as a node keeps. */
  get full(): boolean {
    return this.#byId.size >= SESSIONS_PER_ACCOUNT_MAX;
  }

  /** The session that is heard of now; a new one begins. */
  see(
    id: string,
    details: Pick<HandshakeAuth, 'edgeVersion' | 'podHint'> &
      Partial<HeartbeatBody> & { treasury?: EdgeTreasury } & Pick<Admitted, 'publicKey'>,
    now: Instant,
  ): Session {
    const known = this.#byId.get(id) ?? this.#begun(id, now);
    this.#byId.set(id, known);
    const { edgeVersion, podHint, outboxDepth, outboxMode, outboxPoisoned, treasury, publicKey } = details;
    return Object.assign(known, {
      edgeVersion,
      podHint,
      identity: publicKey ?? known.identity,
      outboxDepth: outboxDepth ?? known.outboxDepth,
      outboxMode: outboxMode ?? known.outboxMode,
      outboxPoisoned: outboxPoisoned ?? known.outboxPoisoned,
      treasury: treasury ?? known.treasury,
      lastHeartbeatAtMs: now.nowMs,
      seenMs: now.elapsedMs,
      endedAtMs: null,
      unsaved: true,
    });
  }

  /** A session that a node which ran before had left open. It could not speak meanwhile: its silence begins now. */
  restore(row: SessionRow, { elapsedMs }: Instant): void {
    if (this.#byId.has(row.id)) return;
    this.#byId.set(row.id, {
      ...row,
      treasury: row.treasury ?? null,
      identity: null,
      seenMs: elapsedMs,
      connectedMs: 0,
      connection: null,
      leaving: false,
      ledEpoch: null,
      sentEpoch: row.leaseEpoch,
      unsaved: false,
    });
  }

  livenessOf(session: Session, { elapsedMs }: Instant): SessionLiveness {
    return livenessAfter(elapsedMs - session.seenMs);
  }

  /** True while any session is within the tolerance. */
  anyAlive(now: Instant): boolean {
    return this.all().some((session) => this.livenessOf(session, now) !== 'down');
  }

  /** Ends what is silent for too long and forgets what ended an hour ago. False when nothing is left. */
  age(now: Instant): boolean {
    for (const session of this.#byId.values()) {
      if (session.endedAtMs === null && this.livenessOf(session, now) === 'down') {
        session.endedAtMs = now.nowMs;
        session.unsaved = true;
      }
      if (session.endedAtMs !== null && !session.unsaved && now.nowMs - session.endedAtMs >= SESSION_REAP_MS) {
        this.#byId.delete(session.id);
      }
    }
    return this.#byId.size > 0;
  }

  /** Row of a session; `leader` is the session that leads. */
  rowOf(session: Session, leader: string | null, now: Instant): SessionRow {
    const {
      id,
      accountId,
      edgeVersion,
      outboxMode,
      outboxDepth,
      outboxPoisoned,
      treasury,
      podHint,
      lastHeartbeatAtMs,
      startedAtMs,
      endedAtMs,
      sentEpoch,
      identity,
    } = session;
    return {
      id,
      accountId,
      role: id === leader ? 'leader' : 'follower',
      edgeVersion,
      liveness: this.livenessOf(session, now),
      leaseEpoch: sentEpoch,
      outboxMode,
      outboxDepth,
      outboxPoisoned,
      treasury,
      podHint,
      lastHeartbeatAtMs,
      startedAtMs,
      endedAtMs,
      identity,
    };
  }

  #begun(id: string, { nowMs, elapsedMs }: Instant): Session {
    return {
      id,
      accountId: this.#accountId,
      edgeVersion: '',
      podHint: null,
      identity: null,
      outboxMode: 'durable',
      outboxDepth: 0,
      outboxPoisoned: false,
      treasury: null,
      startedAtMs: nowMs,
      lastHeartbeatAtMs: nowMs,
      endedAtMs: null,
      seenMs: elapsedMs,
      connectedMs: elapsedMs,
      connection: null,
      leaving: false,
      ledEpoch: null,
      sentEpoch: 0,
      unsaved: true,
    };
  }
}
