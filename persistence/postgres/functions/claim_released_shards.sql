-- Takes those of some shards that nobody serves. READ COMMITTED looks at each row again after a lock wait: one that
-- another node has taken meanwhile was claimed just now and is not vacant. A node asks for what it does not hold: a
-- shard that is its own here was claimed with an answer that never came, and gets a new epoch.
create or replace function claim_released_shards(node text, shards int[], lease_seconds int)
returns table (shard_id int, shard_epoch bigint)
language sql security definer set search_path = flock, pg_temp as $$
  with wanted as materialized (
    select s.id from shard s
     where s.id = any (shards)
       and (s.owner = node or shard_is_vacant(s.owner, s.claimed_at, make_interval(secs => lease_seconds)))
       and exists (select 1 from cloud_node n where n.id = node and n.left_at is null)
     order by s.id for no key update
  )
  update shard s set epoch = s.epoch + 1, owner = node, claimed_at = clock_timestamp()
    from wanted w where s.id = w.id
  returning s.id, s.epoch;
$$;
grant execute on function claim_released_shards to flock_app;
