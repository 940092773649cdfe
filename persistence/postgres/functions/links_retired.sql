-- Shared links that wait for an address of their account's present identity, behind one of them, oldest first (payments
-- S17).
create or replace function links_retired(behind_at timestamptz, behind_account text, behind_id text, wanted int)
returns table (account_id text, id text, at text)
language sql stable security definer set search_path = flock, pg_temp as $$
  select l.account_id, l.id, l.retired_at::text from payment_link l
   where l.retired_at is not null and l.status <> 'closed'
     and (l.retired_at, l.account_id, l.id) > (behind_at, behind_account, behind_id)
   order by l.retired_at, l.account_id, l.id limit wanted
$$;
grant execute on function links_retired to flock_app;
