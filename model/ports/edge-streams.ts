/** What is asked of the connected edges of an account, wherever their streams are. */
import type { AccountId } from '../../protocol/ids.ts';
import type {
  Acknowledgement,
  AttemptsFrame,
  DeliverFrame,
  HeartbeatBody,
  OperateFrame,
} from '../../protocol/frames.ts';
import type { EdgeRole } from '../../protocol/slugs.ts';
import type { Refusal } from '../../protocol/errors.ts';

/** What a heartbeat over REST is answered with. */
export interface HeartbeatNoted {
  readonly role: EdgeRole;
  readonly leaseEpoch: number;
  readonly leaseTtlMs: number;
}

export interface EdgeStreams {
  /** Whether any edge of the account is heard of. */
  anyLive(accountId: AccountId): Promise<boolean>;
  /** Asks the leader edge to sign and submit. Refuses: EDGE_OFFLINE, EDGE_NO_LEADER, or what the edge refused. */
  askToSign(accountId: AccountId, transactionId: string): Promise<Acknowledgement | Refusal>;
  /**
   * Asks the leader edge to sign and submit a transaction of a treasury operation. Refuses: EDGE_OFFLINE,
   * EDGE_NO_LEADER, SERVICE_UNAVAILABLE where it did not answer.
   */
  askToOperate(accountId: AccountId, frame: Omit<OperateFrame, 'leaseEpoch'>): Promise<Acknowledgement | Refusal>;
  /**
   * Has the leader edge post a delivery that is in no ledger, and waits for its attempt. Asked again under one id it is
   * posted once. Refuses: EDGE_OFFLINE, EDGE_NO_LEADER, RATE_LIMIT_EXCEEDED where many of the account are under way,
   * SERVICE_UNAVAILABLE where the edge says nothing of it.
   */
  tryDelivery(
    accountId: AccountId,
    delivery: DeliverFrame['deliveries'][number],
  ): Promise<AttemptsFrame['attempts'][number] | Refusal>;
  /** Notifies the connected edges that a new identity was presented: they sign nothing until the owner decides. */
  announceRotation(accountId: AccountId, rotationId: string): Promise<void>;
  /** Closes every stream of an account (revoked key, rotation). */
  close(accountId: AccountId, code: string): Promise<void>;
  /**
   * The heartbeat of spec §4.3 over REST, when the stream is down: liveness, session row, role. Refuses:
   * LEASE_EPOCH_STALE.
   */
  noteHeartbeat(accountId: AccountId, beat: HeartbeatBody): Promise<HeartbeatNoted | Refusal>;
  /** When the lease of the current leader ends unless it is renewed; null when it is vacant or unknown. */
  leaseExpiresAtMs(accountId: AccountId): Promise<number | null>;
  /** Asks the leader edge for pool addresses where the stock is low: after one was issued. */
  replenish(accountId: AccountId): Promise<void>;
  /** Asks the leader edge, where one is, to revoke the local keys whose revocation was asked for. Console A34. */
  revokeKeys(accountId: AccountId): Promise<void>;
}
