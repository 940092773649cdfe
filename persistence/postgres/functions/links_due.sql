-- Links whose date has come, oldest first (payments 3.2): their accounts close them.
create or replace function links_due(now_at timestamptz, wanted int) returns table (account_id text, id text)
language sql stable security definer set search_path = flock, pg_temp as $$
  select l.account_id, l.id from payment_link l
   where l.status <> 'closed' and l.closes_at is not null and l.closes_at <= now_at
   order by l.closes_at limit wanted
$$;
grant execute on function links_due to flock_app;
