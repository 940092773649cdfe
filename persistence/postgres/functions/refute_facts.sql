-- seen ──▶ orphaned, for facts that the re-read of G19 did not find in their own block. Returns the accounts touched.
create or replace function refute_facts(of_ledger text, facts jsonb) returns text[]
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  entries jsonb;
begin
  with refuted as (
    update fact f set status = 'orphaned'
      from jsonb_to_recordset(facts) r("txid" text, "outputIndex" bigint, "blockHash" text)
     where f.ledger = of_ledger and f.txid = r."txid" and f.output_index = r."outputIndex"
       and f.block_hash = r."blockHash" and f.status = 'seen'
    returning f.account_id, f.height, f.txid, f.output_index, f.transfer
  )
  select coalesce(jsonb_agg(jsonb_build_object('accountId', account_id,
           'fact', jsonb_build_object('kind', 'orphaned', 'deposit', transfer))
               order by height, txid, output_index), '[]')
    into entries from refuted;
  return post_facts(entries);
end $$;
grant execute on function refute_facts to flock_app;
