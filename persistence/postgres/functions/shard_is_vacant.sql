-- True when nobody serves a shard: its owner left, or neither claimed nor renewed anything for the lease. An owner
-- without a row of its own was recorded by an older release.
create or replace function shard_is_vacant(owner text, claimed_at timestamptz, lease interval) returns boolean
language sql stable set search_path = flock, pg_temp as $$
  select coalesce((select n.left_at is not null or greatest(n.seen_at, claimed_at) <= clock_timestamp() - lease
                     from cloud_node n where n.id = owner),
                  claimed_at <= clock_timestamp() - lease, true);
$$;
