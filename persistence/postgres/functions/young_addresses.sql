-- Addresses issued since an instant: the first `most` of them, of either environment, or those that the given keys
-- have. A last row without an address says that there are as many as were asked for, and maybe more. Not of adopted
-- ones: a batch of a million comes at once, and its blocks are read again for it alone (migration M-X3). Of an EVM
-- address only its first row: the others came when it was watched already. The young ones first: planned from the
-- registry's side, it reads everybody's addresses.
create or replace function young_addresses(of_environment text, since timestamptz, most int, keys uuid[])
returns table (address_key uuid, address_id text, account_id text, address text, purpose text)
language sql stable security definer set search_path = flock, pg_temp as $$
  with young as materialized (
    (select a.address_key, a.id, a.account_id, a.address, a.purpose, a.environment, a.wiped from address a
      where keys is null and a.created_at >= since and a.batch_id is null order by a.created_at limit most)
    union all
    select g.address_key, o.id, o.account_id, o.address, o.purpose, o.environment, o.wiped
      from unnest(keys) k(key) join address_registry g on g.address_key = k.key
     cross join lateral (
        select a.id, a.account_id, a.address, a.purpose, a.environment, a.wiped from address a
         where a.account_id = g.account_id and a.id = g.address_id and a.created_at >= since and a.batch_id is null
           offset 0) o
  )
  select y.address_key, y.id, y.account_id, y.address, y.purpose
    from young y cross join lateral (
      select from address_registry g where g.address_key = y.address_key and g.account_id = y.account_id
          and g.address_id = y.id offset 0) first
   where y.environment = of_environment and not y.wiped
  union all
  select null, null, null, null, null where keys is null and (select count(*) from young) = most;
$$;
grant execute on function young_addresses to flock_app;
