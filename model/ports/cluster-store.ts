/** The nodes of one database, and who owns what. PostgreSQL alone decides; its functions mint every epoch. */
import type { Chain } from '../../protocol/slugs.ts';
import type { NodeAbout, NodeStatus } from './nodes.ts';

/** A node that neither left nor was silent for the lease. */
export interface Member {
  readonly id: string;
  /** Where other nodes reach it; null for one that serves alone. */
  readonly url: string | null;
  readonly about: NodeAbout | null;
  readonly sinceMs: number;
}

export interface Holding {
  readonly epoch: number;
  readonly owner: string | null;
  /** Nobody serves it: the owner left, or was silent for the lease. */
  readonly vacant: boolean;
}

export interface OwnerMap {
  /** By number, all of them. */
  readonly shards: readonly Holding[];
  /** Those that were ever followed. */
  readonly chains: ReadonlyMap<Chain, Holding>;
}

export interface Heartbeat {
  /** Shards of this node. */
  readonly owned: number;
  /** Rises whenever a shard or a chain changes its owner. */
  readonly mapVersion: number;
  readonly members: readonly Member[];
}

export interface ClusterStore {
  /** The name of the database; the first caller's `fresh`. */
  clusterId(fresh: string): Promise<string>;
  /**
   * Becomes a member. `proofs` are codes of the cluster's name under each secret, the one that signs first. Answers the
   * database's clock, epoch milliseconds; null when no secret is that of the cluster.
   */
  join(node: string, url: string, about: NodeAbout, proofs: readonly string[]): Promise<number | null>;
  /** The heartbeat, which is also the proof that the database takes writes. */
  beat(node: string, leaseSeconds: number): Promise<Heartbeat>;
  owners(leaseSeconds: number): Promise<OwnerMap>;
  /** Takes those of some shards that nobody serves. Answers shard → epoch. */
  claimShards(node: string, shards: readonly number[], leaseSeconds: number): Promise<Map<number, number>>;
  releaseShards(node: string, shards: readonly number[]): Promise<void>;
  /** Takes those of some chains that nobody follows. Answers chain → epoch. */
  claimChains(node: string, chains: readonly Chain[], leaseSeconds: number): Promise<Map<Chain, number>>;
  releaseChains(node: string, chains: readonly Chain[]): Promise<void>;
  /** What a node that serves alone says of itself. */
  describe(node: string, about: NodeAbout): Promise<void>;
  /** Nodes that did not leave, the oldest first. */
  nodes(leaseSeconds: number): Promise<NodeStatus[]>;
  /** Living nodes that share the database with others: those that joined under a secret. */
  sharing(leaseSeconds: number): Promise<string[]>;
  /** The node stops: what it owned is vacant at once. */
  leave(node: string): Promise<void>;
}
