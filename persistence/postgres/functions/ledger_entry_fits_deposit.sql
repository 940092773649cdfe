-- I7: an entry has the amount of its deposit's incarnation, unless the deposit has a later one by now. Reversals are
-- held to their credit by a foreign key. Runs as the owner, so that row security hides no deposit.
create or replace function ledger_entry_fits_deposit() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  if new.kind <> 'reversal' and not exists (
    select 1 from deposit d where d.account_id = new.account_id and d.id = new.deposit_id
       and (d.incarnation > new.incarnation or (d.incarnation = new.incarnation and d.amount = new.amount))) then
    raise exception 'a % of % does not fit deposit %', new.kind, new.amount, new.deposit_id
      using errcode = 'check_violation', constraint = 'ledger_entry_fits_deposit', table = 'ledger_entry';
  end if;
  return new;
end $$;
