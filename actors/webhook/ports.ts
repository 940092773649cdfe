/** What the publisher needs of the rest of a node, and what the edge stream needs of the publisher. */
import type { SandboxControl } from '../../model/ports/sandbox-control.ts';
import type { SecretBox } from '../../model/ports/secret-box.ts';
import type { DeliveryStore } from '../../model/ports/delivery-store.ts';
import type { Acknowledgement, AttemptsFrame, DeliverFrame } from '../../protocol/frames.ts';
import type { AccountId } from '../../protocol/ids.ts';
import type { DeliveryStatus } from '../../protocol/slugs.ts';
import type { Clock } from '../kernel/timers.ts';
import type { Ladder } from './ladder.ts';

export type Delivery = DeliverFrame['deliveries'][number];
export type Attempt = AttemptsFrame['attempts'][number];

/** The way to leader edges. The edge-stream room implements it. */
export interface DeliveryStreams {
  /** Accounts whose leader is connected to this node. */
  leaders(): ReadonlySet<AccountId>;
  /** One frame to the leader; null when it was not acknowledged in time or the stream closed. Never rejects. */
  deliver(accountId: AccountId, deliveries: readonly Delivery[]): Promise<Acknowledgement | null>;
}

export interface Publisher {
  start(): void;
  /** An account has something new, or (without one) all may have. Cheap, coalesced. */
  ring(accountId?: AccountId): void;
  /** Attempts that the account's leader reports. Resolves when they are durable. Rejects: when they may not be. */
  report(accountId: AccountId, attempts: readonly Attempt[]): Promise<void>;
  /** The leader is gone or another one leads: what was sent to it and not reported is due again. */
  leaderLost(accountId: AccountId): void;
  /** Takes nothing more, gives claims back, waits for what is being recorded. */
  stop(): Promise<void>;
}

export interface PublisherHooks {
  /** Time from when a delivery was due to when its success was recorded. */
  onDelivered?(latencyMs: number): void;
  onAttempts?(count: number, failed: number): void;
  /** An attempt is recorded. `lateMs`: since it was due; null where this node did not claim it. */
  onAttempt?(attempt: number, status: DeliveryStatus, lateMs: number | null): void;
}

export interface PublisherDeps {
  /** The node that this is, as it owns shards. */
  readonly node: string;
  readonly store: DeliveryStore;
  readonly streams: DeliveryStreams;
  readonly secrets: Pick<SecretBox, 'open'>;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: { warn(fields: object, message: string): void };
  readonly ladder?: Ladder;
  /** What a sandbox makes of attempts (`simulate-endpoint-failure`); absent where nothing is simulated. */
  readonly simulated?: Pick<SandboxControl, 'takeEndpointFailures'>;
  readonly hooks?: PublisherHooks;
}
