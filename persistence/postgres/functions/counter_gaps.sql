-- Counter values that were given back below the next one, by chain: gaps that the next withdrawal fills. V39.
create or replace function counter_gaps() returns table (chain text, gaps int)
language sql stable security definer set search_path = flock, pg_temp as $$
  select split_part(c.key, ':', 1), sum(jsonb_array_length(c.value -> 'free'))::int
    from account a, jsonb_each(a.state -> 'counters') c
   where a.has_counters -- most have nothing on its way
   group by 1;
$$;
grant execute on function counter_gaps to flock_app;
