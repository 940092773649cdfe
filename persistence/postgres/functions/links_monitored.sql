-- Closed links whose addresses were reported long enough, oldest first (payments M11): their accounts archive the paid
-- ones.
create or replace function links_monitored(now_at timestamptz, wanted int) returns table (account_id text, id text)
language sql stable security definer set search_path = flock, pg_temp as $$
  select l.account_id, l.id from payment_link l
   where l.status = 'closed' and l.monitored_at is null and l.monitor_until <= now_at
   order by l.monitor_until limit wanted
$$;
grant execute on function links_monitored to flock_app;
