-- Makes facts that were set aside due: one, or a page of an account's, or a page of all, those that would wait
-- longest first. Returns the accounts to wake, one for each fact, and an account that was asked for once more. 1,000
-- or more say that there may be another page.
create or replace function retry_facts(of_account text, fact_id bigint) returns setof text
language plpgsql security definer set search_path = flock, pg_temp
set enable_seqscan = off set enable_bitmapscan = off as $$
begin
  if fact_id is not null then
    return query update inbox i set retry_at = clock_timestamp()
      where i.id = fact_id and i.retry_at is not null and (of_account is null or i.account_id = of_account)
      returning i.account_id;
  elsif of_account is not null then
    return query select of_account where exists (
      select from inbox i where i.account_id = of_account and i.retry_at is not null);
    return query with page as materialized (
      select i.id from inbox i
       where i.account_id = of_account and i.retry_at > clock_timestamp() and i.retry_at is not null
       order by i.account_id desc, i.retry_at desc limit 1000 for update
    ) update inbox i set retry_at = clock_timestamp() from page p where i.id = p.id and i.account_id = of_account
      returning i.account_id;
  else
    return query with page as materialized (
      select i.id, i.account_id from inbox i where i.retry_at > clock_timestamp() and i.retry_at is not null
       order by i.retry_at desc limit 1000 for update
    ) update inbox i set retry_at = clock_timestamp() from page p where i.id = p.id and i.account_id = p.account_id
      returning i.account_id;
  end if;
end $$;
grant execute on function retry_facts to flock_app;
