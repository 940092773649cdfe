-- seen ──▶ matured, for facts that are still in the block that was read again (G19) and as deep as their threshold asks
-- below a head that was noted or recorded; the others stay seen (I7). Returns the accounts touched.
create or replace function mature_facts(of_ledger text, facts jsonb) returns text[]
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  entries jsonb;
begin
  with matured as (
    update fact f
       set status = 'matured', transfer = f.transfer || jsonb_build_object('confirmations', r."confirmations")
      from jsonb_to_recordset(facts) r("txid" text, "outputIndex" bigint, "blockHash" text, "confirmations" bigint)
     where f.ledger = of_ledger and f.txid = r.txid and f.output_index = r."outputIndex"
       and f.block_hash = r."blockHash" and f.status = 'seen'
       and r."confirmations" >= (f.transfer ->> 'threshold')::int
       and f.height + r."confirmations" - 1 <= greatest(
             (select c.height from chain_cursor c where c.ledger = of_ledger),
             (select h.height from chain_head h where h.ledger = of_ledger))
    returning f.account_id, f.height, f.txid, f.output_index, f.transfer
  )
  select coalesce(jsonb_agg(jsonb_build_object('accountId', account_id,
           'fact', jsonb_build_object('kind', 'matured', 'deposit', transfer))
               order by height, txid, output_index), '[]')
    into entries from matured;
  return post_facts(entries);
end $$;
grant execute on function mature_facts to flock_app;
