-- Corrects the facts of one block, right after endpoints agreed that its recorded transfers are wrong.
--   seen, not in the block or not as recorded ──▶ orphaned      in the block ──▶ seen
-- What matured, and what is known in another block, is left alone; nothing is written when the hash is no longer the
-- recorded one, or the block's content is not proven. Returns the accounts touched.
create or replace function retell_block(of_ledger text, at_height bigint, at_hash text, transfers jsonb) returns text[]
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  entries jsonb;
  gone jsonb;
begin
  perform 1 from chain_cursor where ledger = of_ledger for update;
  if not exists (select 1 from block_link where ledger = of_ledger and height = at_height and hash = at_hash
      and not orphaned)
     or exists (select 1 from unresolved_height where ledger = of_ledger and height = at_height) then
    return '{}';
  end if;
  update fact set was = status, status = 'displaced'
   where ledger = of_ledger and height = at_height and block_hash = at_hash and status = 'seen';
  entries := record_transfers(of_ledger, coalesce((
    select jsonb_agg(t.value order by n)
        from jsonb_array_elements(keep_keys(of_ledger, transfers)) with ordinality t(value, n)
     where not exists (select 1 from fact f where f.ledger = of_ledger and f.txid = t.value ->> 'txid'
                          and f.output_index = (t.value ->> 'outputIndex')::bigint and f.status <> 'orphaned'
                          and not (f.status = 'displaced' and f.height = at_height
                               and f.block_hash = at_hash))), '[]'));
  with absent as (
    update fact set status = 'orphaned', was = null
     where ledger = of_ledger and height = at_height and block_hash = at_hash and status = 'displaced'
    returning account_id, transfer, txid, output_index
  )
  select coalesce(jsonb_agg(jsonb_build_object('accountId', account_id,
           'fact', jsonb_build_object('kind', 'orphaned', 'deposit', transfer)) order by txid, output_index), '[]')
    into gone from absent;
  return post_facts(entries || gone);
end $$;
grant execute on function retell_block to flock_app;
