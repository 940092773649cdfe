-- Gives shards of a node to nobody: the next owner may take them at once. Those that are another node's by now stay
-- as they are.
create or replace function release_shards(node text, shards int[]) returns int
language sql security definer set search_path = flock, pg_temp as $$
  with mine as materialized (
    select id from shard where id = any (shards) and owner = node order by id for no key update
  ), released as (
    update shard s set epoch = s.epoch + 1, owner = null, claimed_at = null from mine m where s.id = m.id returning 1
  )
  select count(*)::int from released;
$$;
grant execute on function release_shards to flock_app;
