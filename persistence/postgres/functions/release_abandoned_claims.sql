-- Ends the claims of a node that is gone. The node that takes its shards does this at once, instead of waiting for
-- claims to end: a cloud that was killed between a claim and its report goes on within seconds. Endpoint by endpoint:
-- only what is due has an entry in that index, however much was delivered before.
create or replace function release_abandoned_claims(shards int[]) returns bigint
language sql security definer set search_path = flock, pg_temp set enable_seqscan = off set enable_hashjoin = off
set enable_mergejoin = off as $$
  with mine as materialized (
    select d.id from webhook w join account a on a.account_id = w.account_id and a.shard_id = any (shards)
        cross join lateral (
      select o.id from delivery o
       where o.webhook_id = w.id and o.account_id = w.account_id and o.next_attempt_at is not null
         and o.claimed_until is not null
         and o.status in ('pending', 'failed') order by o.next_attempt_at, o.seq offset 0) d
  ), locked as materialized (
    select d.id from delivery d join mine m on m.id = d.id
     where d.claimed_until is not null and d.status in ('pending', 'failed') order by d.id for update of d
  ), released as (
    update delivery d set claimed_until = null from locked l where d.id = l.id returning 1
  )
  select count(*) from released;
$$;
grant execute on function release_abandoned_claims to flock_app;
