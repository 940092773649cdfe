/** What the edge-stream room is made of. */
import type { Publisher } from '../../actors/webhook/ports.ts';
import type { Clock } from '../../actors/kernel/timers.ts';
import type { EdgeStore } from '../../model/ports/edge-store.ts';
import type { AccountId } from '../../protocol/ids.ts';
import type { Accounts } from '../../model/ports/accounts.ts';

/** The part of a pino logger that is used here. */
export interface StreamLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface RoomDeps {
  /**
   * Whether the rooms of a shard are this node's now. False too once its lease may be over, until its next beat: a
   * process that was frozen speaks for nobody from memory.
   */
  readonly isHere: (shard: number) => boolean;
  readonly accounts: Pick<Accounts, 'ask'>;
  readonly store: Pick<
    EdgeStore,
    | 'saveSessions'
    | 'openSessions'
    | 'saveLocalKeys'
    | 'localKeys'
    | 'keysToRevoke'
    | 'saveKeySet'
    | 'keySets'
    | 'saveInstructions'
    | 'instruction'
  >;
  /** Where attempts go; notified when a leader comes or goes. Bound late: the publisher sends through this room. */
  readonly publisher: () => Pick<Publisher, 'report' | 'ring' | 'leaderLost'>;
  readonly clock: Clock;
  /** How long a lease lasts without a renewal; LEASE_TTL_MS where absent. */
  readonly leaseTtlMs?: number;
  readonly log: StreamLog;
}

/** An edge whose API key and signature were verified. */
export interface Admitted {
  readonly accountId: AccountId;
  readonly sessionId: string;
  readonly edgeVersion: string;
  readonly podHint: string | null;
  /** Its identity, which was pinned then; a door of the release before does not say it. */
  readonly publicKey?: string;
}
