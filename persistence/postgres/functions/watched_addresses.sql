-- Which accounts have these addresses, over all accounts. This, young_addresses and addresses_since are the watchers'
-- only reads of addresses.
create or replace function watched_addresses(of_environment text, keys uuid[])
returns table (address_key uuid, address_id text, account_id text, address text, purpose text)
language sql stable security definer set search_path = flock, pg_temp as $$
  select r.address_key, r.address_id, r.account_id, a.address, a.purpose
    from address_registry r join address a on a.account_id = r.account_id and a.id = r.address_id
   where r.address_key = any (keys) and a.environment = of_environment and not a.wiped
     -- Adopted ones only while their batch is open. Each is looked up: of an EXISTS behind an OR the planner makes a
     -- table of all batches of all accounts, for each block.
     and (a.batch_id is null or coalesce((select b.state = 'committed' from import_batch b
       where b.account_id = a.account_id and b.id = a.batch_id), false));
$$;
grant execute on function watched_addresses to flock_app;
