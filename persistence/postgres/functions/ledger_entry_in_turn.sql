-- I6: a deposit has one credit at a time. What was credited in an incarnation is reversed before a later one has an
-- entry, however many steps one append holds; so its entries sum to zero or to the amount of its newest incarnation.
create or replace function ledger_entry_in_turn() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  standing record;
begin
  select c.deposit_id, c.incarnation into standing
    from (select distinct account_id, deposit_id from added) a
    join deposit d on d.account_id = a.account_id and d.id = a.deposit_id and d.incarnation > 1
    join ledger_entry c on c.deposit_id = d.id and c.kind = 'credit' and c.incarnation < d.incarnation
   where not exists (select from ledger_entry r
                      where r.deposit_id = c.deposit_id and r.incarnation = c.incarnation and r.kind = 'reversal')
   limit 1;
  if found then
    raise exception 'deposit % has a later incarnation than %, whose credit is not reversed', standing.deposit_id,
        standing.incarnation
      using errcode = 'check_violation', constraint = 'ledger_entry_in_turn', table = 'ledger_entry';
  end if;
  return null;
end $$;
