-- Open wipes that have something to do: their time has come, or what lies on the addresses is not counted yet.
create or replace function due_wipes(now_at timestamptz, after_account text, most int)
returns table (account_id text, status text, scheduled_for timestamptz)
language sql stable security definer set search_path = flock, pg_temp as $$
  select w.account_id, w.status, w.scheduled_for from wipe w
   where w.status in ('scheduled', 'closing', 'running') and w.account_id > after_account
     and (w.scheduled_for <= now_at or not w.counted)
   order by w.account_id limit most;
$$;
grant execute on function due_wipes to flock_app;
