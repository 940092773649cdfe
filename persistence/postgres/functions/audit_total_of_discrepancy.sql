-- Growth that was recorded as unattributed, in what the audit has counted.
create or replace function audit_total_of_discrepancy() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  perform correct_audit_total(new.ledger, 'unattributed', new.address_id, new.height, coalesce(new.token_contract, ''),
    new.amount);
  return null;
end $$;
