-- I11: an entry without an event is of an archived address, which stays quiet, of a deposit that is detected again,
-- which was announced when it came first, of a silent deposit to an adopted address, or takes back a credit that was
-- not announced. Runs as the owner: up to PostgreSQL 17 a deferred trigger fires as the session's role, whose row
-- security hides the address.
create or replace function ledger_entry_silence_allowed() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  if new.event_id is null and not (new.kind = 'detected' and new.incarnation > 1)
     and not exists (select 1 from deposit d join address a on a.account_id = d.account_id and a.id = d.address_id
                      where d.account_id = new.account_id and d.id = new.deposit_id
                        and (a.status = 'archived' or (d.silence is not null and a.batch_id is not null)))
     and not (new.kind = 'reversal' and exists (select from ledger_entry e where e.deposit_id = new.deposit_id
                and e.incarnation = new.incarnation and e.kind = 'credit' and e.event_id is null)) then
    raise exception 'ledger entry % of deposit % has no event', new.kind, new.deposit_id
      using errcode = 'check_violation', constraint = 'ledger_entry_silence_allowed', table = 'ledger_entry';
  end if;
  return null;
end $$;
