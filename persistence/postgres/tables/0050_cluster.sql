-- Several cloud nodes of one database. Decision 40.

-- Where the other nodes reach a node, and what it runs: written once, by join_cluster. A node that serves alone, and
-- one of an earlier release, has no address.
alter table cloud_node add column url text, add column about jsonb not null default '{}';

-- One row. `id` names this database to the nodes, `proof` is a code of it under the cluster's secret: nodes with
-- different secrets do not join one cluster. Written by cluster_id and join_cluster.
create table cluster (
  singleton boolean primary key default true constraint cluster_is_one check (singleton),
  id        text    not null,
  proof     text
);
grant select on cluster to flock_app;

-- Which node follows a chain. That two nodes which both believe it do no harm is the compare-and-set of the height
-- (cursor_follows_parent). Written by claim_chains and release_chains.
create table chain_follower (
  chain      text   collate "C" primary key,
  epoch      bigint not null default 0,
  owner      text,
  claimed_at timestamptz
);
create trigger chain_follower_epoch_rises before update on chain_follower for each row
  when (new.epoch < old.epoch or (new.owner is distinct from old.owner and new.epoch = old.epoch))
  execute function refuse('chain_follower_epoch_rises');
grant select on chain_follower to flock_app;
