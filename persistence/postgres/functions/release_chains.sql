-- A node stops to follow chains: another one may begin at once.
create or replace function release_chains(node text, chains text[]) returns int
language sql security definer set search_path = flock, pg_temp as $$
  with mine as materialized (
    select chain from chain_follower where chain = any (chains) and owner = node order by chain for update
  ), released as (
    update chain_follower f set epoch = f.epoch + 1, owner = null, claimed_at = null
      from mine m where f.chain = m.chain returning 1
  )
  select count(*)::int from released;
$$;
grant execute on function release_chains to flock_app;
