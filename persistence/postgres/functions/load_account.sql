-- As `activate_account`, for a node of a release before it, whose builds do not expire.
create or replace function load_account(wanted text, epoch bigint)
returns table (known boolean, account_version bigint, account_epoch bigint, account_state jsonb)
language sql security definer set search_path = flock, pg_temp as $$
  select * from activate_account(wanted, epoch, '-infinity');
$$;
grant execute on function load_account to flock_app;
