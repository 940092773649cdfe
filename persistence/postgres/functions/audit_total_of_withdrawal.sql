-- A withdrawal that came into a block, left it, or cost another fee, in what the audit has counted.
create or replace function audit_total_of_withdrawal() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  if tg_op = 'UPDATE' and old.height is not null and old.status in ('confirming', 'confirmed', 'failed') then
    perform correct_audit_total(old.ledger, 'sent', old.from_address, old.height, coalesce(old.token_contract, ''),
      case old.status when 'failed' then 0 else -left_by(old.versions, old.txid, old.amount) end);
    perform correct_audit_total(old.ledger, 'sent', old.from_address, old.height, '',
      -fee_of_sender(old.unsigned, old.from_address, old.fee));
  end if;
  if new.height is not null and new.status in ('confirming', 'confirmed', 'failed') then
    perform correct_audit_total(new.ledger, 'sent', new.from_address, new.height, coalesce(new.token_contract, ''),
      case new.status when 'failed' then 0 else left_by(new.versions, new.txid, new.amount) end);
    perform correct_audit_total(new.ledger, 'sent', new.from_address, new.height, '',
      fee_of_sender(new.unsigned, new.from_address, new.fee));
  end if;
  return null;
end $$;
