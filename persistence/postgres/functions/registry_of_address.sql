-- Every key of the registry is of an address that its account has. A foreign key said so before: deleting an address asked the
-- registry for it, by columns that have no index there, so that to begin a sandbox account anew read the whole registry for each
-- of its addresses. An index would cost every address. Addresses are append-only, and a reset takes both sides away under the
-- account's lock: to look when a key is written holds the same.
create or replace function registry_of_address() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  if exists (select from entered e where (select a.id from address a where a.account_id = e.account_id and a.id = e.address_id) is null) then
    raise exception 'a key of the registry is of no address'
      using errcode = 'foreign_key_violation', constraint = 'address_registry_of_address', table = 'address_registry';
  end if;
  return null;
end $$;
