-- How many indexes a wallet steps over between a used one and the next; all below where another phrase began meanwhile.
create or replace function unused_between(earlier bigint, later bigint, bounds bigint[]) returns bigint
language sql immutable set search_path = flock, pg_temp as $$
  select case when (select max(b.at) from unnest(bounds) b(at) where b.at <= later) > earlier then later
              else later - earlier - 1 end
$$;
grant execute on function unused_between to flock_app;
