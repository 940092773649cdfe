-- Accounts whose active addresses are billed by the peak of a daily snapshot. Spec §8.1.
create or replace function accounts_with_addresses(after text, wanted int) returns table (account_id text)
language sql stable security definer set search_path = flock, pg_temp as $$
  select a.account_id from account a
   where a.account_id > after and (a.state ->> 'activeAddresses')::bigint > 0
   order by a.account_id limit wanted;
$$;
grant execute on function accounts_with_addresses to flock_app;
