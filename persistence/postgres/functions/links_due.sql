-- Links whose date has come, behind one of them, oldest first (payments 3.2): their accounts close them. By this
-- database's clock: one of a node that is ahead closes none early.
create or replace function links_due(now_at timestamptz,
    behind_at timestamptz, behind_account text, behind_id text, wanted int)
returns table (account_id text, id text, at text)
language sql stable security definer set search_path = flock, pg_temp as $$
  select l.account_id, l.id, l.closes_at::text from payment_link l
   where l.status <> 'closed' and l.closes_at is not null and l.closes_at <= (select least(now_at, clock_timestamp()))
     and (l.closes_at, l.account_id, l.id) > (behind_at, behind_account, behind_id)
   order by l.closes_at, l.account_id, l.id limit wanted
$$;
grant execute on function links_due to flock_app;
