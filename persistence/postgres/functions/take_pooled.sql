-- Takes a transaction into the pool of a stuck ledger, in the place of those that it replaces. False when the ledger is
-- not stuck or moved meanwhile, or something else in the pool has its counter value or spends one of its outputs.
create or replace function take_pooled(of_ledger text, expected jsonb, entry jsonb, replaced text[]) returns boolean
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  head sandbox_ledger;
  tx jsonb := entry -> 'transaction';
  outputs text[] := array(select jsonb_array_elements_text(coalesce(tx -> 'spends', '[]')));
begin
  select * into head from sandbox_ledger where ledger = of_ledger for update;
  if not coalesce(head.stuck, false) or head.height >= head.stuck_until
     or head.hash is distinct from expected ->> 'hash' or head.height is distinct from (expected ->> 'height')::bigint
     or exists (select 1 from sandbox_pool p
                 where p.ledger = of_ledger and p.from_address = entry ->> 'from' and p.replaced_by is null
                   and p.txid <> all (replaced) and p.txid <> entry ->> 'txid'
                   and (p.nonce = (tx ->> 'nonce')::bigint or p.spends && outputs)) then
    return false;
  end if;
  update sandbox_pool set replaced_by = entry ->> 'txid' where ledger = of_ledger and txid = any (replaced);
  insert into sandbox_pool (ledger, txid, from_address, nonce, spends, payload, transaction, since)
    values (of_ledger, entry ->> 'txid', entry ->> 'from', (tx ->> 'nonce')::bigint, outputs, entry ->> 'payload', tx,
            (entry ->> 'since')::timestamptz)
  on conflict (txid, ledger) do update set replaced_by = null;
  return true;
end $$;
grant execute on function take_pooled to flock_app;
