-- I33: every key of the registry is of an address that its account has. Not a foreign key: deleting an address would
-- look for it in the registry by columns that have no index there, so that a sandbox reset would read the whole
-- registry for each of its addresses; an index would cost every address. Addresses are append-only, and a reset removes
-- both sides under the account's lock, so that a look when a key is written holds the same.
create or replace function registry_of_address() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  if exists (select from entered e where (select a.id from address a
      where a.account_id = e.account_id and a.id = e.address_id) is null) then
    raise exception 'a key of the registry is of no address'
      using errcode = 'foreign_key_violation', constraint = 'address_registry_of_address', table = 'address_registry';
  end if;
  return null;
end $$;
