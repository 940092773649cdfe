-- Who owns what: every shard and every chain that has ever been followed. `vacant`: nobody serves it (shard_is_vacant).
create or replace function owner_map(lease_seconds int)
returns table (kind text, key text, epoch bigint, owner text, vacant boolean)
language sql stable security definer set search_path = flock, pg_temp as $$
  with owners as materialized (
    select o.owner, shard_is_vacant(o.owner, max(o.claimed_at), make_interval(secs => lease_seconds)) as vacant
      from (select owner, claimed_at from shard union all select owner, claimed_at from chain_follower) o
     where o.owner is not null group by o.owner
  )
  select m.kind, m.key, m.epoch, m.owner, coalesce(o.vacant, true)
    from (select 'shard' as kind, s.id::text as key, s.epoch, s.owner from shard s
          union all select 'chain', f.chain, f.epoch, f.owner from chain_follower f) m
    left join owners o on o.owner = m.owner;
$$;
grant execute on function owner_map to flock_app;
