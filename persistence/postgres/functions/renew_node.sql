-- The heartbeat of a node, and the proof that the database takes writes: a durable one, and one that needs space on its
-- disk (a temporary table, which its commit empties again). Returns how many shards are the node's, and how many
-- nobody's.
create or replace function renew_node(node text, lease_seconds int) returns table (owned int, vacant int)
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  insert into cloud_node as n (id) values (node) on conflict (id) do update set seen_at = clock_timestamp();
  if to_regclass('pg_temp.space') is null then
    create temporary table space (filler text) on commit delete rows;
    alter table pg_temp.space alter column filler set storage plain;
  end if;
  insert into pg_temp.space select repeat('x', 8000) from generate_series(1, 8);
  return query
    select coalesce(sum(o.shards) filter (where o.owner = node), 0)::int,
           coalesce(sum(o.shards) filter (where shard_is_vacant(o.owner, o.claimed_at,
               make_interval(secs => lease_seconds))), 0)::int
      from (select s.owner, max(s.claimed_at) as claimed_at, count(*) as shards from shard s group by s.owner) o;
end $$;
grant execute on function renew_node to flock_app;
