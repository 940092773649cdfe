/** Accounts as their actors load and append them, and who owns which. */
import type { AccountEvent, AccountState, RowWrite } from '../account/capabilities.ts';
import type { EntityStore } from '../entity.ts';

export type AccountStore = EntityStore<AccountState, AccountEvent, RowWrite>;

export interface Ownership {
  /** Takes shards for a node: mints a new epoch for each in one statement. Answers shard → epoch. */
  claimShards(node: string, shards: readonly number[]): Promise<Map<number, number>>;
  /**
   * Takes every shard that nobody has served for the lease, and under new epochs those that are the node's. Answers
   * shard → epoch.
   */
  claimVacantShards(node: string, leaseSeconds: number): Promise<Map<number, number>>;
  /**
   * The node's heartbeat, and a write that needs the database's disk. Answers shards that are the node's, and nobody's.
   */
  renewNode(node: string, leaseSeconds: number): Promise<{ owned: number; vacant: number }>;
  /** The node stops: what it owned is vacant at once. */
  leaveNode(node: string): Promise<void>;
}
