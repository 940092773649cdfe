-- I11: an entry that names an event names a published one, and is of no silent deposit (migration M-X2).
-- Not a foreign key: a reset of a sandbox account would read the whole ledger for each of its events
-- (registry_of_address.sql). Runs as the owner, as ledger_entry_silence_allowed does.
create or replace function ledger_entry_has_event() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  if not exists (select from publication p where p.account_id = new.account_id and p.event_id = new.event_id) then
    raise exception 'ledger entry % of deposit % has no event', new.kind, new.deposit_id
      using errcode = 'foreign_key_violation', constraint = 'ledger_entry_has_event', table = 'ledger_entry';
  end if;
  if exists (select from deposit d where d.account_id = new.account_id and d.id = new.deposit_id
                and d.incarnation = new.incarnation and d.silence is not null) then
    raise exception 'ledger entry % of the silent deposit % has an event', new.kind, new.deposit_id
      using errcode = 'check_violation', constraint = 'ledger_entry_silent', table = 'ledger_entry';
  end if;
  return null;
end $$;
