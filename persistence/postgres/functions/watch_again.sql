-- A gas tank or treasury that an account had before it was wiped, and has again.
create or replace function watch_again(of_account text, of_key uuid) returns void language sql
set search_path = flock, pg_temp as $$
  update address a set wiped = false, status = 'active'
   where a.account_id = of_account and a.wiped and a.id = (
     select g.address_id from address_registry g where g.address_key = of_key and g.account_id = of_account);
$$;
