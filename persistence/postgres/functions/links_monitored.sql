-- Closed links whose addresses were reported long enough, behind one of them, oldest first (payments M11): their
-- accounts archive the paid ones.
create or replace function links_monitored(now_at timestamptz,
    behind_at timestamptz, behind_account text, behind_id text, wanted int)
returns table (account_id text, id text, at text)
language sql stable security definer set search_path = flock, pg_temp as $$
  select l.account_id, l.id, l.monitor_until::text from payment_link l
   where l.status = 'closed' and l.monitored_at is null and l.monitor_until <= (select least(now_at, clock_timestamp()))
     and (l.monitor_until, l.account_id, l.id) > (behind_at, behind_account, behind_id)
   order by l.monitor_until, l.account_id, l.id limit wanted
$$;
grant execute on function links_monitored to flock_app;
