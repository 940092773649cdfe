/** What is asked of the connected edges of an account. */
import type { AccountId } from '../../protocol/ids.ts';
import type { Acknowledgement, HeartbeatBody } from '../../protocol/frames.ts';
import type { EdgeRole } from '../../protocol/slugs.ts';
import type { Refusal } from '../../protocol/errors.ts';

export interface EdgeStreams {
  liveSessions(accountId: AccountId): string[];
  /** Asks the leader edge to sign and submit. Refuses: EDGE_OFFLINE, EDGE_NO_LEADER, or what the edge refused. */
  askToSign(accountId: AccountId, transactionId: string): Promise<Acknowledgement | Refusal>;
  /** Notifies the connected edges that a new identity was presented: they sign nothing until the owner decides. */
  announceRotation(accountId: AccountId, rotationId: string): void;
  /** Closes every stream of an account (revoked key, rotation). */
  close(accountId: AccountId, code: string): void;
  /**
   * The heartbeat of spec §4.3 over REST, when the stream is down: liveness, session row, role. Refuses:
   * LEASE_EPOCH_STALE.
   */
  noteHeartbeat(
    accountId: AccountId,
    beat: HeartbeatBody,
  ): Promise<{ role: EdgeRole; leaseEpoch: number; leaseTtlMs: number } | Refusal>;
  /** When the lease of the current leader ends unless it is renewed; null when it is vacant or another node's. */
  leaseExpiresAtMs(accountId: AccountId): number | null;
  /** Asks the leader edge for pool addresses where the stock is low: after one was issued. */
  replenish(accountId: AccountId): Promise<void>;
}
