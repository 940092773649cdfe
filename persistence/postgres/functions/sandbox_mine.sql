-- Appends blocks above `expected` ({height, hash}, or null at the first one); false when the ledger moved meanwhile.
create or replace function sandbox_mine(of_ledger text, expected jsonb, blocks jsonb) returns boolean
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  head sandbox_ledger;
  block jsonb;
begin
  insert into sandbox_ledger (ledger) values (of_ledger) on conflict do nothing;
  select * into head from sandbox_ledger where ledger = of_ledger for update;
  if head.hash is distinct from expected ->> 'hash' or head.height is distinct from (expected ->> 'height')::bigint then
    return false;
  end if;
  for block in select value from jsonb_array_elements(blocks) with ordinality b(value, n) order by n loop
    if head.hash is not null and (block ->> 'parentHash' <> head.hash
        or (block ->> 'height')::bigint <> head.height + 1) then
      raise exception 'block % of % does not follow its parent', block ->> 'height', of_ledger
        using errcode = 'check_violation', constraint = 'sandbox_block_is_linked', table = 'sandbox_block';
    end if;
    head.height := (block ->> 'height')::bigint;
    head.hash := block ->> 'hash';
    insert into sandbox_block (ledger, height, hash, parent_hash, time, transactions)
      values (of_ledger, head.height, head.hash, block ->> 'parentHash', (block ->> 'time')::timestamptz,
          block -> 'transactions');
    insert into sandbox_transaction (ledger, txid, height, position, from_address, nonce)
      select of_ledger, t.value ->> 'txid', head.height, n - 1, t.value ->> 'from', (t.value ->> 'nonce')::bigint
        from jsonb_array_elements(block -> 'transactions') with ordinality t(value, n);
    -- A block takes its transactions out of the pool, and with them every other version that they exclude.
    delete from sandbox_pool p using jsonb_array_elements(block -> 'transactions') t(value)
     where p.ledger = of_ledger and (p.txid = t.value ->> 'txid' or p.from_address = t.value ->> 'from' and (
             p.nonce = (t.value ->> 'nonce')::bigint
             or p.spends && array(select jsonb_array_elements_text(coalesce(t.value -> 'spends', '[]')))));
    perform sandbox_move(of_ledger, block -> 'transactions', 1);
  end loop;
  update sandbox_ledger set height = head.height, hash = head.hash, behind = true where ledger = of_ledger;
  return true;
end $$;
grant execute on function sandbox_mine to flock_app;
