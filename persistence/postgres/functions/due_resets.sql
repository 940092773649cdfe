-- Resets of sandboxes that began a while ago: who asked for them is gone, or had no more time.
create or replace function due_resets(after_account text, most int) returns table (account_id text)
language sql stable security definer set search_path = flock, pg_temp as $$
  select r.account_id from sandbox_reset r
   where r.account_id > after_account and r.began_at < clock_timestamp() - interval '20 seconds'
   order by r.account_id limit most;
$$;
grant execute on function due_resets to flock_app;
