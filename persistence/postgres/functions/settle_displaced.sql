-- Displaced facts that no unproven block can hold any more are gone from the chain.
create or replace function settle_displaced(of_ledger text) returns jsonb language plpgsql set search_path = flock, pg_temp as $$
declare
  entries jsonb;
begin
  if exists (select 1 from unresolved_height where ledger = of_ledger)
     or not exists (select 1 from fact where ledger = of_ledger and status = 'displaced') then
    return '[]';
  end if;
  with gone as (
    update fact set status = 'orphaned', was = null where ledger = of_ledger and status = 'displaced'
    returning account_id, transfer, txid, output_index
  )
  select coalesce(jsonb_agg(jsonb_build_object('accountId', account_id,
           'fact', jsonb_build_object('kind', 'orphaned', 'deposit', transfer)) order by txid, output_index), '[]')
    into entries from gone;
  return entries;
end $$;
