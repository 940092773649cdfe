-- What a watcher claims of the transfers of a block: they are in a block of this ledger that was recorded, and pay
-- addresses that their accounts have. A simulated ledger pays its own account only. Scalar subqueries, because `not
-- exists` under an `or` may be planned as a hash of the whole table.
create or replace function check_transfers(of_ledger text, transfers jsonb) returns void
language plpgsql set search_path = flock, pg_temp as $$
declare
  wrong text;
begin
  select s.wrong into wrong
    from jsonb_array_elements(transfers) t(value) cross join lateral (
      select case
        when t.value ->> 'ledger' is distinct from of_ledger
        or not ledger_fits_account(of_ledger, t.value ->> 'accountId') then 'fact_ledger_of_account'
        when (select a.id from address a where a.account_id = t.value ->> 'accountId' and a.id = t.value ->> 'addressId'
                 and a.address_key = (t.value ->> 'addressKey')::uuid) is null then 'fact_pays_issued_address'
        when (select l.hash from block_link l where l.ledger = of_ledger and l.height = (t.value ->> 'height')::bigint
                 and l.hash = t.value ->> 'blockHash' and not l.orphaned) is null then 'fact_in_recorded_block'
      end as wrong offset 0) s
   where s.wrong is not null limit 1;
  if wrong is not null then
    raise exception 'a transfer of % is refused: %', of_ledger, wrong
        using errcode = 'check_violation', constraint = wrong, table = 'fact';
  end if;
end $$;
