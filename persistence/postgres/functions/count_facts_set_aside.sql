-- How many facts their accounts could not take, over all accounts, up to 10,000: a gauge.
create or replace function count_facts_set_aside() returns bigint
language sql stable security definer set search_path = flock, pg_temp as $$
  select count(*) from (select from inbox where retry_at is not null limit 10000) i;
$$;
grant execute on function count_facts_set_aside to flock_app;
