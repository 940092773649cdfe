-- The project that holds what is announced of an address: it was active, and is in observe. Null where there is none.
-- By the text of the address, as deliveries have it; of accounts without such a project nothing is read but that.
create or replace function project_holding(of_account text, of_address text) returns text
language sql stable set search_path = flock, pg_temp as $$
  select p.id from migration_project p
    cross join lateral (
      select a.batch_id from address a where a.account_id = of_account and a.address = of_address
         and a.batch_id is not null offset 0) a
    join import_batch b on b.account_id = p.account_id and b.id = a.batch_id and b.project_id = p.id
   where p.account_id = of_account and p.holds limit 1
$$;
grant execute on function project_holding to flock_app;
