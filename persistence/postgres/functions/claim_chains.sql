-- Takes those of some chains that nobody follows, as claim_released_shards does.
create or replace function claim_chains(node text, chains text[], lease_seconds int)
returns table (followed text, followed_epoch bigint)
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  insert into chain_follower (chain) select c from unnest(chains) c order by c on conflict do nothing;
  return query
    with wanted as materialized (
      select f.chain from chain_follower f
       where f.chain = any (chains)
         and (f.owner = node or shard_is_vacant(f.owner, f.claimed_at, make_interval(secs => lease_seconds)))
         and exists (select 1 from cloud_node n where n.id = node and n.left_at is null)
       order by f.chain for update
    )
    update chain_follower f set epoch = f.epoch + 1, owner = node, claimed_at = clock_timestamp()
      from wanted w where f.chain = w.chain
    returning f.chain, f.epoch;
end $$;
grant execute on function claim_chains to flock_app;
