-- Takes shards for a node: a new epoch for each, in the order of their ids.
create or replace function claim_shards(node text, shards int[]) returns table (shard_id int, shard_epoch bigint)
language sql security definer set search_path = flock, pg_temp as $$
  with wanted as materialized (select id from shard where id = any (shards) order by id for update)
  update shard s set epoch = s.epoch + 1, owner = node, claimed_at = clock_timestamp()
    from wanted w where s.id = w.id
  returning s.id, s.epoch;
$$;
grant execute on function claim_shards to flock_app;
