-- How many facts their accounts could not take, over all accounts: a gauge.
create or replace function count_facts_set_aside() returns bigint
language sql stable security definer set search_path = flock, pg_temp as $$
  select count(*) from inbox where retry_at is not null;
$$;
grant execute on function count_facts_set_aside to flock_app;
