-- Ends a claim. The period's work is done, or with a pause: it failed and is anybody's again after so many seconds. Of
-- a node that lost the claim meanwhile it changes nothing. A period never goes back.
create or replace function end_job(job text, by_node text, of_period timestamptz, pause_seconds int) returns void
language sql security definer set search_path = flock, pg_temp as $$
  update background_job b
     set node = null,
         claimed_until = coalesce(clock_timestamp() + make_interval(secs => pause_seconds), '-infinity'),
         attempts = case when pause_seconds is null then 0 else b.attempts end,
         period = case when pause_seconds is null then greatest(b.period, of_period) else b.period end
   where b.name = job and b.node = by_node;
$$;
grant execute on function end_job to flock_app;
