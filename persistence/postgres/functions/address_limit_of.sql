-- Active addresses that a live plan may hold: `addressLimitOf` of protocol/plans.ts, which a test compares.
create or replace function address_limit_of(plan jsonb) returns bigint language sql immutable as $$
  select case when plan ->> 'tier' = 'free' then 100 else case plan ->> 'band'
           when 'launch' then 1000 when 'growth' then 10000 when 'scale' then 100000 when 'enterprise' then 1000000
           when 'custom' then 10000000 else 0 end end;
$$;
