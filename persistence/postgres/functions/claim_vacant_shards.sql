-- Takes the shards that nobody serves, for a node of an earlier release that serves alone.
create or replace function claim_vacant_shards(node text, lease_seconds int)
returns table (shard_id int, shard_epoch bigint)
language sql security definer set search_path = flock, pg_temp as $$
  select * from claim_released_shards(node, array(select id from shard s where s.owner is distinct from node),
      lease_seconds);
$$;
grant execute on function claim_vacant_shards to flock_app;
