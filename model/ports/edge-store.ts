/** Sessions of edges and the records that replicas share. */
import type { AccountId } from '../../protocol/ids.ts';
import type { EdgeTreasury, InstructionRecord, KeySetRecord, LocalKeyRecord } from '../../protocol/frames.ts';
import type { Liveness } from '../../protocol/slugs.ts';
import type { AuditRecord } from '../rows/audit.ts';

/** A local key as the cloud shows it. Console A34. */
export type EdgeKeyRow = Pick<LocalKeyRecord, 'id' | 'label' | 'prefix' | 'createdAtMs' | 'revokedAtMs'> & {
  readonly revokeAskedAtMs: number | null;
};

export interface SessionRow {
  id: string;
  accountId: AccountId;
  role: 'leader' | 'follower';
  edgeVersion: string;
  liveness: Liveness;
  leaseEpoch: number;
  outboxMode: string;
  outboxDepth: number;
  outboxPoisoned: boolean;
  /** What it said last of registry and caps; absent or null: nothing. Treasury K15, S27. */
  treasury?: EdgeTreasury | null;
  podHint: string | null;
  lastHeartbeatAtMs: number;
  startedAtMs: number;
  endedAtMs: number | null;
  /** Of a stream that this node has; a row that is read says nothing of it. */
  identity?: string | null;
}

/** `quota`: the account has as many large records as it may leave with the cloud. */
export interface InstructionNotKept {
  readonly transactionId: string;
  readonly reason: 'unknown' | 'quota';
}

/**
 * `identity` is the public key of the edge that sends; where it is not the account's pinned one, nothing is written and
 * the answer is `not_pinned`. Null is not looked at.
 */
export interface EdgeStore {
  /** A session of an identity that is not pinned is left out. */
  saveSessions(rows: readonly SessionRow[]): Promise<void>;
  /** The open ones, and the newest 200 that ended, newest first. */
  sessions(accountId: AccountId): Promise<SessionRow[]>;
  /** Sessions that had not ended, of all accounts: what a node that starts must hear from again or report offline. */
  openSessions(): Promise<SessionRow[]>;
  reapSessions(endedBeforeMs: number): Promise<number>;
  /** True the first time; kept for `NONCE_KEEP_SECONDS`. Atomic. */
  claimNonce(keyId: string, nonce: string, expiresAtMs: number): Promise<boolean>;
  purgeNonces(nowMs: number): Promise<number>;
  /**
   * Keeps new records and the first revocation of each; answers the ids of new ones for which the account has no room
   * left.
   */
  saveLocalKeys(
    accountId: AccountId,
    records: readonly LocalKeyRecord[],
    identity?: string | null,
  ): Promise<readonly string[] | 'not_pinned'>;
  localKeys(accountId: AccountId): Promise<LocalKeyRecord[]>;
  /** Keys that edges reported, the newest first, from below an id on. */
  edgeKeys(accountId: AccountId, below: string | null, limit: number): Promise<EdgeKeyRow[]>;
  /** Notes that a key is to be revoked, with its entry of the audit log; null where the account has no such key. */
  askToRevoke(accountId: AccountId, id: string, atMs: number, audit?: AuditRecord): Promise<EdgeKeyRow | null>;
  /** Ids of keys whose revocation was asked for and not signed yet, some at a time. */
  keysToRevoke(accountId: AccountId): Promise<string[]>;
  /**
   * Keeps the newest set of each replica that no other one contains. `known`: nothing new; `no_room`: of too many
   * replicas that know nothing of each other.
   */
  saveKeySet(
    accountId: AccountId,
    set: KeySetRecord,
    identity?: string | null,
  ): Promise<'kept' | 'known' | 'no_room' | 'not_pinned'>;
  keySets(accountId: AccountId): Promise<KeySetRecord[]>;
  /** Keeps the newest record of each transaction that the account built; answers those that it does not keep. */
  saveInstructions(
    accountId: AccountId,
    records: readonly InstructionRecord[],
    identity?: string | null,
  ): Promise<readonly InstructionNotKept[] | 'not_pinned'>;
  instruction(accountId: AccountId, transactionId: string): Promise<InstructionRecord | null>;
  /** Forgets records that nobody touched since; how many. */
  reapInstructions(askedBeforeMs: number): Promise<number>;
}
