-- Makes facts that were set aside due: one, or all of an account, or all. Returns the accounts to wake.
create or replace function retry_facts(of_account text, fact_id bigint) returns setof text
language sql security definer set search_path = flock, pg_temp as $$
  with due as (
    update inbox set retry_at = clock_timestamp()
     where retry_at is not null and (of_account is null or account_id = of_account)
       and (fact_id is null or id = fact_id)
    returning account_id)
  select distinct account_id from due;
$$;
grant execute on function retry_facts to flock_app;
