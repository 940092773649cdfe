-- How far the time of an account is ahead of the real one: nothing, but of a sandbox whose clock was moved. X75.
create or replace function ahead_of(of_account text) returns interval
language sql stable security definer set search_path = flock, pg_temp as $$
  select coalesce((select c.ahead from sandbox_clock c where c.account_id = of_account), interval '0')
$$;
grant execute on function ahead_of to flock_app;
