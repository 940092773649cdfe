-- Shared links that wait for an address of their account's present identity, oldest first (payments S17).
create or replace function links_retired(wanted int) returns table (account_id text, id text)
language sql stable security definer set search_path = flock, pg_temp as $$
  select l.account_id, l.id from payment_link l
   where l.retired_at is not null and l.status <> 'closed'
   order by l.retired_at limit wanted
$$;
grant execute on function links_retired to flock_app;
