-- Gives claims back without an attempt: the deliveries are due as before. `ends`: when each of the claims ends. A
-- delivery that was claimed again since stays claimed: whoever did is at work on it.
create or replace function release_claimed(ids text[], ends timestamptz[]) returns void
language sql security definer set search_path = flock, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
  with mine as materialized (
    select d.id from unnest(ids, ends) c(id, claim_ends) join delivery d on d.id = c.id
     where d.claimed_until = c.claim_ends and d.status in ('pending', 'failed') order by d.id for update of d
  )
  update delivery d set claimed_until = null from mine m where d.id = m.id;
$$;
grant execute on function release_claimed to flock_app;
