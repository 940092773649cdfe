-- Makes addresses of the next `most` rows of a batch that is being committed: nobody sees them before it is open.
-- A repeated call goes on where the last one ended.
--   filling    there may be more        filled    all rows are addresses
--   conflict   somebody claimed one of them meanwhile: nothing is written        gone    the batch is not at a commit
create or replace function fill_import(of_account text, of_batch text, most int) returns text
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  batch import_batch;
  upto int;
begin
  select * into batch from import_batch b
   where b.account_id = of_account and b.id = of_batch and b.state = 'committing'
     and not exists (select from sandbox_reset r where r.account_id = of_account) for update of b;
  if not found then return 'gone'; end if;
  select max(p.n) into upto from (
    select r.n from import_row r where r.account_id = of_account and r.batch_id = of_batch and r.n > batch.filled
     order by r.n limit most) p;
  if upto is null then return 'filled'; end if;
  if exists (
    select from simulated_claim c join import_row r on r.account_id = c.account_id and r.address_key = c.address_key
     where c.account_id = of_account and r.batch_id = of_batch and r.n > batch.filled and r.n <= upto
       and r.skip is null) then
    return 'conflict';
  end if;
  begin
    with entered as (
      insert into address (account_id, id, environment, chain, family, address, address_key, derivation_path, purpose,
          index, user_ref, tag, label, status, created_at, batch_id)
        select r.account_id, r.address_id, split_part(r.account_id, '_', 3), r.chain, r.family, r.address,
               r.address_key, r.derivation_path, 'deposit', null, r.user_ref, r.tag, r.label, 'active',
               clock_timestamp(), r.batch_id
          from import_row r
         where r.account_id = of_account and r.batch_id = of_batch and r.n > batch.filled and r.n <= upto
           and r.skip is null
         order by r.n
      returning account_id, id, address_key
    )
    insert into address_registry (address_key, account_id, address_id)
      select e.address_key, e.account_id, e.id from entered e;
  exception when unique_violation then
    return 'conflict';
  end;
  update import_batch b set filled = upto, worked_until = clock_timestamp() + interval '45 seconds'
   where b.account_id = of_account and b.id = of_batch;
  return 'filling';
end $$;
grant execute on function fill_import to flock_app;
