/**
 * The turn of a node: alone it serves everything or nothing (turn-alone.ts), among several it serves its share and
 * forwards the rest (turn-share.ts). The rooms of a node know a turn by what is here.
 */
import type { Server as HttpServer } from 'node:http';
import type { Accounts } from '../model/ports/accounts.ts';
import type { DeliveryStore } from '../model/ports/delivery-store.ts';
import type { EdgeStreams } from '../model/ports/edge-streams.ts';
import type { Nodes } from '../model/ports/nodes.ts';
import type { ReadStore } from '../model/ports/read-store.ts';
import type { Serving } from '../model/ports/serving.ts';
import type { Refusal } from '../protocol/errors.ts';
import type { AccountId } from '../protocol/ids.ts';
import type { CallTrust } from './call-trust.ts';
import type { OwnActors } from './nodes.ts';

/** Edges' rooms as they come and go with the accounts. */
export interface MovingRooms {
  /** Everything is here: sessions that were open are found again. */
  start(): Promise<void>;
  /** Rooms come with `gained`. */
  begin(): void;
  stop(): Promise<void>;
  gained(shards: readonly number[]): Promise<void>;
  moved(shards: readonly number[]): Promise<void>;
}

/** Parts that follow when shards come and go. */
export interface Following {
  readonly stores: { readonly deliveries: Pick<DeliveryStore, 'releaseAbandoned'> };
  readonly rooms: MovingRooms;
  /** Ends the actors of these shards; what they are at has until the deadline, milliseconds. */
  readonly entities: { release(shards: ReadonlySet<number>, deadlineMs: number): Promise<void> };
  /** Null on a node without that role. */
  readonly publisher: { start(): void; stop(): Promise<void> } | null;
}

/** Streams of accounts that live on other nodes. */
export interface Elsewhere {
  /** Where the account lives: null when it is here; asks until somebody owns it. Refuses: SERVICE_UNAVAILABLE. */
  urlOf(accountId: AccountId): Promise<string | null | Refusal>;
  readonly trust: CallTrust;
  /** Takes what other nodes pass on. */
  readonly httpServer: HttpServer;
}

/** Doors of a node, as its rooms use them. */
export interface Reach {
  readonly accounts: Accounts;
  readonly edges: EdgeStreams;
  readonly nodes: Nodes;
  /** Undefined on a node that serves alone. */
  readonly elsewhere: Elsewhere | undefined;
}

/** What is on this node. */
export interface Local {
  readonly accounts: Accounts;
  readonly edges: EdgeStreams;
  readonly reads: Pick<ReadStore, 'idempotent'>;
  readonly actors: OwnActors;
}

/** What the nodes together leave undone, as this one knows. */
export interface Undone {
  readonly shardsUnowned: number;
  /** By chain: 1 while no node follows it. */
  readonly chainUnfollowed: Readonly<Record<string, number>>;
  /** By role: 1 while no living node has it. */
  readonly roleUnserved: Readonly<Record<string, number>>;
  /** Calls on the internal port that were refused, by reason. */
  readonly callsRefused: Readonly<Record<string, number>>;
}

export interface Turn extends Serving {
  epochOf(shard: number): number | undefined;
  look(): Promise<void>;
  /** True while a worker has nothing to do on this node. */
  paused(path: string): boolean;
  /** Whether the accounts of a shard are served here: what every node does for its own accounts alone. */
  serves(shard: number): boolean;
  shares(): Undone;
  /** Living nodes that answer requests, this one with them. */
  gateways(): number;
  /** What the rooms use in place of what is on this node. */
  reach(local: Local): Reach;
  /** From now on the parts follow, and the shards of this node are served. */
  follow(parts: Following): Promise<void>;
  /** The first step of a stop; null where requests are refused from then on. */
  readonly handOver: (() => Promise<void>) | null;
}
