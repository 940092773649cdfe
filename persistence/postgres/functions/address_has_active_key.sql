-- I21: an address is never derived from a key that is held back. Pooled chains have addresses and no key; what was
-- adopted needs none (migration M-X4).
create or replace function address_has_active_key() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  if exists (select 1 from issued i where i.family not in ('sol', 'xlm') and i.batch_id is null 
       -- A scalar subquery: `not exists` may be planned as a hash of all keys of all accounts.
       and (select k.account_id from account_key k
             where k.account_id = i.account_id and k.family = i.family and k.status = 'active' limit 1) is null) then
    raise exception 'an address has no active key'
      using errcode = 'check_violation', constraint = 'address_has_active_key', table = 'address';
  end if;
  return null;
end $$;
