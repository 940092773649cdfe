-- For nodes of an earlier release; ours ask young_addresses, which reads no more than it is asked for.
-- Not of adopted ones: a batch of a million comes at once, and its blocks are read again for it alone (migration M-X3).
-- Of an EVM address only its first row: the others came when it was watched already. The young ones first: planned from
-- the registry's side, it reads everybody's addresses.
create or replace function addresses_since(of_environment text, since timestamptz)
returns table (address_key uuid, address_id text, account_id text, address text, purpose text)
language sql stable security definer set search_path = flock, pg_temp as $$
  with young as materialized (
    select a.address_key, a.id, a.account_id, a.address, a.purpose from address a
        where a.created_at >= since and a.environment = of_environment and a.batch_id is null and not a.wiped
  )
  select y.address_key, y.id, y.account_id, y.address, y.purpose
    from young y cross join lateral (
      select from address_registry g where g.address_key = y.address_key and g.account_id = y.account_id
          and g.address_id = y.id offset 0) first;
$$;
grant execute on function addresses_since to flock_app;
