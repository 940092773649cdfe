-- Claims of a node that is gone. Whoever takes its shards gives them back at once, instead of waiting for them to end:
-- a cloud that was killed between a claim and its report goes on within seconds.
create or replace function release_abandoned_claims(shards int[]) returns bigint
language sql security definer set search_path = flock, pg_temp as $$
  with mine as materialized (
    select d.id from delivery d join account a on a.account_id = d.account_id
     where d.claimed_until is not null and d.status in ('pending', 'failed') and a.shard_id = any (shards)
     order by d.id for update of d
  ), released as (
    update delivery d set claimed_until = null from mine m where d.id = m.id returning 1
  )
  select count(*) from released;
$$;
grant execute on function release_abandoned_claims to flock_app;
