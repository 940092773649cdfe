-- An entry of the audit log follows the one before it: no gap, and the hash of both.
create or replace function audit_extends_chain() returns trigger language plpgsql
security definer set search_path = flock, pg_temp as $$
declare
  previous bytea;
begin
  if new.seq = 1 then
    previous := sha256(convert_to(new.organization_id, 'UTF8'));
  else
    select e.hash into previous from audit_entry e
     where e.organization_id = new.organization_id and e.seq = new.seq - 1;
  end if;
  if previous is null or new.text is null or new.hash <> sha256(previous || convert_to(new.text, 'UTF8')) then
    raise exception 'entry % of the audit log does not follow the one before it', new.seq
      using errcode = 'check_violation', constraint = 'audit_entry_extends_chain', table = 'audit_entry';
  end if;
  return new;
end $$;
