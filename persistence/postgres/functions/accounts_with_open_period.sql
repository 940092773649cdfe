-- Accounts whose month is over and has no statement yet, and those on a band that have no month at all (they were on it
-- before there were statements). Console B10.
create or replace function accounts_with_open_period(this_month text, after text, wanted int)
returns table (account_id text)
language sql stable security definer set search_path = flock, pg_temp as $$
  select a.account_id from account a
   where a.account_id > after and a.open_period < this_month
   order by a.account_id limit wanted;
$$;
grant execute on function accounts_with_open_period to flock_app;
