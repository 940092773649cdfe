-- What operators ask of all accounts at once.

-- Counter values that were given back below the next one, by chain: gaps that the next withdrawal fills. V39.
create function counter_gaps() returns table (chain text, gaps int)
language sql stable security definer set search_path = flock, pg_temp as $$
  select split_part(c.key, ':', 1), sum(jsonb_array_length(c.value -> 'free'))::int
    from account a, jsonb_each(a.state -> 'counters') c
   where a.has_counters -- most have nothing on its way
   group by 1;
$$;
grant execute on function counter_gaps() to flock_app;

-- Accounts whose active addresses are billed by the peak of a daily snapshot. Spec §8.1.
create function accounts_with_addresses(after text, wanted int) returns table (account_id text)
language sql stable security definer set search_path = flock, pg_temp as $$
  select a.account_id from account a
   where a.account_id > after and (a.state ->> 'activeAddresses')::bigint > 0
   order by a.account_id limit wanted;
$$;
grant execute on function accounts_with_addresses(text, int) to flock_app;
