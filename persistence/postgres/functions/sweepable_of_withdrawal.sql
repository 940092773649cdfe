-- S5 of treasury: what a confirmed transaction took can be swept no more, with its issuer's share or its native fee;
-- one that a reorg takes out of the chain gives it back. Sweeps and withdrawals are alike. Runs as the owner, so that
-- row security hides nothing.
create or replace function sweepable_of_withdrawal() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  taken numeric;
begin
  -- A reorg takes the fee out of the row: what was taken is in the one before it.
  taken := case when new.status = 'confirmed' then left_by(new.versions, new.txid, new.amount)
    else -left_by(old.versions, old.txid, old.amount) end;
  if new.token_contract is null then
    taken := taken + case when new.status = 'confirmed' then fee_of_sender(new.unsigned, new.from_address, new.fee)
      else -fee_of_sender(old.unsigned, old.from_address, old.fee) end;
  end if;
  update sweepable s set amount = s.amount - taken
   where s.account_id = new.account_id and s.chain = new.chain
     and s.token_contract = coalesce(new.token_contract, '') and s.address = new.from_address;
  -- S22: its operation says that it is confirmed, and follows it.
  if new.kind = 'sweep' and old.status = 'confirmed' then
    update sweep_job j set taken_back = true, version = j.version + 1
      from sweep_operation o
     where o.account_id = new.account_id and o.sweep_id = new.id and j.account_id = o.account_id and j.id = o.job_id;
  end if;
  return null;
end $$;
