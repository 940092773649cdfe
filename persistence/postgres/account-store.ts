/** Accounts and shards: activation with its fence, the grouped append, ownership. */
import type { AccountState } from '../../model/account/capabilities.ts';
import type { STORE_AWAY } from '../../model/entity.ts';
import { upcast } from '../../model/account/snapshot.ts';
import { failpoint } from '../../protocol/node/failpoint.ts';
import { SHARD_COUNT, shardOf } from '../../protocol/node/ids.ts';
import type { AccountStore, Ownership } from '../../model/ports/account-store.ts';
import { groupedAppend, type GroupedAppendOptions } from './grouped-append.ts';
import { rethrowAway } from './away.ts';
import type { Sql } from './sql.ts';

/** This node does not own the account's shard, or another incarnation has a newer epoch. */
export class StaleOwner extends Error {
  readonly code: typeof STORE_AWAY = 'store_away';
  constructor(accountId: string) {
    super(`another node owns ${accountId}`);
    this.name = 'StaleOwner';
  }
}

/** How long a build is one after its last change, where BUILD_TTL says nothing. Milliseconds. */
export const BUILD_TTL_MS = 86_400_000;

export interface AccountStoreOptions extends GroupedAppendOptions {
  /** Epoch under which this node owns a shard; undefined when it does not. */
  readonly epochOf: (shard: number) => number | undefined;
  /** How long a build that nobody signs is one, milliseconds. */
  readonly buildTtlMs?: number;
}

/**
 * Accounts of one node. `load` throws StaleOwner; `append` rejects with AppendRefused when a row breaks an invariant.
 */
export function createAccountStore(options: AccountStoreOptions): AccountStore {
  const { sql, nowMs, epochOf, buildTtlMs = BUILD_TTL_MS } = options;
  const append = groupedAppend(options);
  return {
    async load(accountId) {
      const epoch = epochOf(shardOf(accountId));
      if (epoch === undefined) throw new StaleOwner(accountId);
      failpoint('load.before');
      const [row] = await sql<
        { known: boolean; accountVersion: number | null; accountEpoch: number; accountState: AccountState }[]
      >`
        select * from activate_account(${accountId}, ${epoch}, ${nowMs() - buildTtlMs}::timestamptz)`.catch(
        rethrowAway,
      );
      failpoint('load.after');
      if (!row!.known) return null;
      if (row!.accountVersion === null) throw new StaleOwner(accountId);
      return {
        state: upcast<AccountState>(row!.accountState),
        version: row!.accountVersion,
        ownerEpoch: row!.accountEpoch,
      };
    },
    append,
    holds: (accountId, ownerEpoch) => epochOf(shardOf(accountId)) === ownerEpoch,
  };
}

const ALL_SHARDS = Array.from({ length: SHARD_COUNT }, (_, shard) => shard);

type ClaimedShard = { shardId: number; shardEpoch: number };
const epochsOf = (rows: readonly ClaimedShard[]) =>
  new Map(rows.map(({ shardId, shardEpoch }) => [shardId, shardEpoch]));

export function createOwnership(sql: Sql): Ownership {
  return {
    async claimShards(node, shards) {
      failpoint('claim_shards.before');
      const rows = await sql<ClaimedShard[]>`select * from claim_shards(${node}, ${[...shards]}::int[])`;
      failpoint('claim_shards.after');
      return epochsOf(rows);
    },
    async claimVacantShards(node, leaseSeconds) {
      failpoint('claim_vacant_shards.before');
      const rows = await sql<ClaimedShard[]>`
        select * from claim_released_shards(${node}, ${ALL_SHARDS}::int[], ${leaseSeconds})`;
      failpoint('claim_vacant_shards.after');
      return epochsOf(rows);
    },
    async renewNode(node, leaseSeconds) {
      const [row] = await sql<{ owned: number; vacant: number }[]>`select * from renew_node(${node}, ${leaseSeconds})`;
      return row!;
    },
    async leaveNode(node) {
      await sql`select leave_node(${node})`;
    },
  };
}
