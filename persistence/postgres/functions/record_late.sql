-- Transfers of a height that is done, which pay addresses younger than the block. Facts that exist are left alone;
-- nothing is written when the hash is no longer the recorded one.
create or replace function record_late(of_ledger text, at_height bigint, at_hash text, transfers jsonb) returns text[]
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  perform 1 from chain_cursor where ledger = of_ledger for update;
  if not exists (select 1 from block_link where ledger = of_ledger and height = at_height and hash = at_hash
      and not orphaned) then
    return '{}';
  end if;
  return post_facts(record_transfers(of_ledger, coalesce((
    select jsonb_agg(t.value order by n)
        from jsonb_array_elements(keep_keys(of_ledger, transfers)) with ordinality t(value, n)
     where not exists (select 1 from fact f where f.ledger = of_ledger and f.txid = t.value ->> 'txid'
                          and f.output_index = (t.value ->> 'outputIndex')::bigint)), '[]')));
end $$;
grant execute on function record_late to flock_app;
