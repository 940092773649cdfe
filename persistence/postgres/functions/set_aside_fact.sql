-- A fact that its account could not take: due again after a pause, `first_ms` and twice as long after each try, at most
-- `longest_ms`; the later facts of its subject wait with it. Returns the tries so far.
create or replace function set_aside_fact(of_account text, fact_id bigint, why text, first_ms bigint, longest_ms bigint)
returns int
language sql security definer set search_path = flock, pg_temp as $$
  update inbox set tries = tries + 1, trouble = why,
         retry_at = clock_timestamp() + interval '1 millisecond' * least(longest_ms, first_ms * 2 ^ least(tries, 20))
   where id = fact_id and account_id = of_account
  returning tries;
$$;
grant execute on function set_aside_fact to flock_app;
