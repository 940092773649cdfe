-- The nodes that did not leave, with what each owns. `alive`: heard of within the lease.
create or replace function list_nodes(lease_seconds int)
returns table (id text, url text, about jsonb, started_at timestamptz, silent_ms bigint, alive boolean, shards int,
               chains text[])
language sql stable security definer set search_path = flock, pg_temp as $$
  with owned as materialized (
    select s.owner, count(*)::int as shards from shard s where s.owner is not null group by s.owner
  ), followed as materialized (
    select f.owner, array_agg(f.chain order by f.chain) as chains
      from chain_follower f where f.owner is not null group by f.owner
  )
  select n.id, n.url, n.about, n.started_at,
         greatest(0, extract(epoch from clock_timestamp() - n.seen_at) * 1000)::bigint,
         n.seen_at > clock_timestamp() - make_interval(secs => lease_seconds),
         coalesce(o.shards, 0), coalesce(f.chains, '{}')
    from cloud_node n
    left join owned o on o.owner = n.id
    left join followed f on f.owner = n.id
   where n.left_at is null order by n.started_at, n.id;
$$;
grant execute on function list_nodes to flock_app;
