-- Sandbox accounts whose clock was moved, those first that nobody looked at for longest: what is due for them by their
-- own time is no row that the look at everybody's finds. Not those that were looked at just now: a moment that stands
-- still ends the range of the index there. Ecosystem X75.
create or replace function claim_sandbox_clocks(most int) returns table (account_id text)
language sql security definer set search_path = flock, pg_temp as $$
  with turn as materialized (
    select c.account_id from sandbox_clock c where c.looked_at < statement_timestamp() - interval '900 milliseconds'
     order by c.looked_at limit most for update skip locked
  )
  update sandbox_clock c set looked_at = clock_timestamp() from turn where c.account_id = turn.account_id
  returning c.account_id
$$;
grant execute on function claim_sandbox_clocks to flock_app;
