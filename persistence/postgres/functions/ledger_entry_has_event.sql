-- I11: no ledger entry without its recorded event. A foreign key said so before: a reset of a sandbox account read the whole
-- ledger for each of its events (registry_of_address.sql). Runs as the owner, as ledger_entry_silence_allowed does.
create or replace function ledger_entry_has_event() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  if not exists (select from publication p where p.account_id = new.account_id and p.event_id = new.event_id) then
    raise exception 'ledger entry % of deposit % has no event', new.kind, new.deposit_id
      using errcode = 'foreign_key_violation', constraint = 'ledger_entry_has_event', table = 'ledger_entry';
  end if;
  return null;
end $$;
do $$
begin
  if exists (select from pg_trigger where tgname = 'ledger_entry_has_event' and tgrelid = 'flock.ledger_entry'::regclass) then return; end if;
  alter table flock.ledger_entry drop constraint if exists ledger_entry_has_event;
  create constraint trigger ledger_entry_has_event after insert on flock.ledger_entry
    deferrable initially deferred for each row when (new.event_id is not null) execute function ledger_entry_has_event();
end $$;
