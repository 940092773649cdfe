-- Adds transactions to a block that is there, whose random hash stays, and has it read again for adopted addresses:
-- what an old wallet received before it came (migration M-S1). False where there is no such block.
create or replace function sandbox_amend(of_ledger text, at_height bigint, added jsonb) returns boolean
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  before int;
begin
  perform 1 from sandbox_ledger l where l.ledger = of_ledger for update;
  select jsonb_array_length(b.transactions) into before from sandbox_block b
   where b.ledger = of_ledger and b.height = at_height;
  if not found then return false; end if;
  update sandbox_block b set transactions = b.transactions || added
   where b.ledger = of_ledger and b.height = at_height;
  insert into sandbox_transaction (ledger, txid, height, position, from_address, nonce)
    select of_ledger, t.value ->> 'txid', at_height, before + n - 1, t.value ->> 'from', (t.value ->> 'nonce')::bigint
      from jsonb_array_elements(added) with ordinality t(value, n);
  perform sandbox_move(of_ledger, added, 1);
  update import_catch_up c set next_height = least(c.next_height, at_height), done_at = null
   where c.ledger = of_ledger;
  return true;
end $$;
grant execute on function sandbox_amend to flock_app;
