-- Of an EVM address only its first row: the others came when it was watched already.
create or replace function addresses_since(of_environment text, since timestamptz)
returns table (address_key uuid, address_id text, account_id text, address text, purpose text)
language sql stable security definer set search_path = flock, pg_temp as $$
  select a.address_key, a.id, a.account_id, a.address, a.purpose
    from address a join address_registry g on g.address_key = a.address_key and g.account_id = a.account_id and g.address_id = a.id
   where a.created_at >= since and a.environment = of_environment;
$$;
grant execute on function addresses_since to flock_app;
