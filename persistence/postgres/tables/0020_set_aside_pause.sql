-- How long a fact that an account could not take is left alone is the caller's to say: the first pause, twice as long after
-- each try, at most the longest.
drop function set_aside_fact(text, bigint, text);
create function set_aside_fact(of_account text, fact_id bigint, why text, first_ms bigint, longest_ms bigint) returns int
language sql security definer set search_path = flock, pg_temp as $$
  update inbox set tries = tries + 1, trouble = why,
         retry_at = clock_timestamp() + interval '1 millisecond' * least(longest_ms, first_ms * 2 ^ least(tries, 20))
   where id = fact_id and account_id = of_account
  returning tries;
$$;
grant execute on function set_aside_fact to flock_app;
