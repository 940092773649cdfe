-- A fact that came, moved, was orphaned or is about another movement, in what the audit has counted.
create or replace function audit_total_of_fact() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  if tg_op = 'UPDATE' and old.status <> 'orphaned' then
    perform correct_audit_total(old.ledger, 'received', old.address_key::text, old.height,
      coalesce(old.transfer ->> 'tokenContract', ''), -(old.transfer ->> 'amount')::numeric);
  end if;
  if new.status <> 'orphaned' then
    perform correct_audit_total(new.ledger, 'received', new.address_key::text, new.height,
      coalesce(new.transfer ->> 'tokenContract', ''), (new.transfer ->> 'amount')::numeric);
  end if;
  return null;
end $$;
