create or replace function addresses_since(of_environment text, since timestamptz)
returns table (address_key uuid, address_id text, account_id text, address text, purpose text)
language sql stable security definer set search_path = flock, pg_temp as $$
  select address_key, id, account_id, address, purpose from address where created_at >= since and environment = of_environment;
$$;
grant execute on function addresses_since to flock_app;
