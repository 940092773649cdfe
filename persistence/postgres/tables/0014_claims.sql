-- Claims of a node that is gone. Whoever takes its shards gives them back at once, instead of waiting for them to end:
-- a cloud that was killed between a claim and its report goes on within seconds.
create function release_abandoned_claims(shards int[]) returns bigint
language sql security definer set search_path = flock, pg_temp as $$
  with released as (
    update delivery d set claimed_until = null
      from account a
     where d.claimed_until is not null and d.status in ('pending', 'failed')
       and a.account_id = d.account_id and a.shard_id = any (shards)
    returning 1
  )
  select count(*) from released;
$$;
grant execute on function release_abandoned_claims(int[]) to flock_app;
