/** Membership and ownership of the nodes of one database. */
import type { NodeAbout, NodeStatus } from '../../model/ports/nodes.ts';
import type { ClusterStore, Holding, Member } from '../../model/ports/cluster-store.ts';
import { failpoint } from '../../protocol/node/failpoint.ts';
import { SHARD_COUNT } from '../../protocol/node/ids.ts';
import type { Chain } from '../../protocol/slugs.ts';
import type { Sql } from './sql.ts';

interface OwnerRow extends Holding {
  readonly kind: 'shard' | 'chain';
  readonly key: string;
}

export function createClusterStore(sql: Sql): ClusterStore {
  return {
    async clusterId(fresh) {
      const [row] = await sql<{ clusterId: string }[]>`select cluster_id(${fresh})`;
      return row!.clusterId;
    },
    async join(node, url, about, proofs) {
      const [row] = await sql<{ accepted: boolean; databaseAt: number }[]>`
        select * from join_cluster(${node}, ${url}, ${sql.json(about as never)}, ${[...proofs]}::text[])`;
      return row!.accepted ? row!.databaseAt : null;
    },
    async beat(node, leaseSeconds) {
      const [row] = await sql<{ owned: number; mapVersion: number; members: Member[] }[]>`
        select * from beat_node(${node}, ${leaseSeconds})`;
      const { owned, mapVersion, members } = row!;
      return { owned, mapVersion: Number(mapVersion), members: members.map(memberOf) };
    },
    async owners(leaseSeconds) {
      const rows = await sql<OwnerRow[]>`select * from owner_map(${leaseSeconds})`;
      const shards = Array<Holding>(SHARD_COUNT);
      const chains = new Map<Chain, Holding>();
      for (const { kind, key, ...holding } of rows) {
        if (kind === 'shard') shards[Number(key)] = holding;
        else chains.set(key as Chain, holding);
      }
      return { shards, chains };
    },
    async claimShards(node, shards, leaseSeconds) {
      failpoint('claim_released_shards.before');
      const rows = await sql<{ shardId: number; shardEpoch: number }[]>`
        select * from claim_released_shards(${node}, ${[...shards]}::int[], ${leaseSeconds})`;
      failpoint('claim_released_shards.after');
      return new Map(rows.map(({ shardId, shardEpoch }) => [shardId, shardEpoch]));
    },
    async releaseShards(node, shards) {
      failpoint('release_shards.before');
      await sql`select release_shards(${node}, ${[...shards]}::int[])`;
    },
    async claimChains(node, chains, leaseSeconds) {
      const rows = await sql<{ followed: Chain; followedEpoch: number }[]>`
        select * from claim_chains(${node}, ${[...chains]}::text[], ${leaseSeconds})`;
      return new Map(rows.map(({ followed, followedEpoch }) => [followed, followedEpoch]));
    },
    async releaseChains(node, chains) {
      await sql`select release_chains(${node}, ${[...chains]}::text[])`;
    },
    async describe(node, about) {
      await sql`select describe_node(${node}, ${sql.json(about as never)})`;
    },
    async nodes(leaseSeconds) {
      const rows = await sql<(Omit<NodeStatus, 'startedAtMs'> & { startedAt: number; about: NodeAbout | object })[]>`
        select * from list_nodes(${leaseSeconds})`;
      return rows.map(({ id, about, startedAt, silentMs, alive, shards, chains }) => ({
        id,
        about: aboutOf(about),
        startedAtMs: startedAt,
        silentMs: Number(silentMs),
        alive,
        shards,
        chains,
      }));
    },
    async sharing(leaseSeconds) {
      const rows = await sql<{ id: string }[]>`
        select id from list_nodes(${leaseSeconds}) where alive and url is not null`;
      return rows.map(({ id }) => id);
    },
    async leave(node) {
      await sql`select leave_node(${node})`;
    },
  };
}

/** A node of an earlier release says nothing of itself. */
const aboutOf = (about: NodeAbout | object | null): NodeAbout | null =>
  about !== null && 'version' in about ? about : null;

const memberOf = ({ id, url, about, sinceMs }: Member): Member => ({
  id,
  url,
  about: aboutOf(about),
  sinceMs: Number(sinceMs),
});
