-- Records the transfers of one proven block and returns what became of each, as inbox entries:
--   none, or orphaned before ──▶ seen
--   seen | matured in another block ──▶ the same in this one, an entry `moved`
--   displaced, found in the block where it was ──▶ what it was, no entry
--   another movement under its key ──▶ orphaned for its account, seen for the new one
--   in this block already ──▶ no change
-- The lists are joined by hash, which a node's session does not do by itself; facts are fenced off by OFFSET 0, so that
-- they are still looked up one by one.
create or replace function record_transfers(of_ledger text, transfers jsonb) returns jsonb
language plpgsql set search_path = flock, pg_temp set enable_hashjoin = on as $$
declare
  entries jsonb;
begin
  if jsonb_array_length(transfers) = 0 then return '[]'; end if;
  transfers := standing_transfers(transfers);
  if jsonb_array_length(transfers) = 0 then return '[]'; end if;
  perform check_transfers(of_ledger, transfers);
  with incoming as materialized (
    select t.value as transfer, n, t.value ->> 'txid' as txid, (t.value ->> 'outputIndex')::bigint as output_index
      from jsonb_array_elements(transfers) with ordinality t(value, n)
  ), known as materialized (
    select f.txid, f.output_index, f.status, f.height, f.block_hash, f.account_id, f.transfer,
           f.status <> 'orphaned' and (f.account_id, f.transfer ->> 'addressId', f.transfer ->> 'amount',
               f.transfer ->> 'tokenContract')
             is distinct from (i.transfer ->> 'accountId', i.transfer ->> 'addressId', i.transfer ->> 'amount',
                               i.transfer ->> 'tokenContract') as changed
      from incoming i cross join lateral (
        select * from fact where ledger = of_ledger and txid = i.txid and output_index = i.output_index offset 0) f
  ), written as (
    insert into fact as f (ledger, txid, output_index, account_id, address_key, status, height, block_hash, transfer)
      select of_ledger, i.txid, i.output_index, i.transfer ->> 'accountId', (i.transfer ->> 'addressKey')::uuid, 'seen',
             (i.transfer ->> 'height')::bigint, i.transfer ->> 'blockHash', i.transfer - 'accountId' - 'addressKey'
        from incoming i order by n
    on conflict on constraint fact_once do update
      set status = case
            when (f.account_id, f.transfer ->> 'addressId', f.transfer ->> 'amount', f.transfer ->> 'tokenContract')
              is distinct from (excluded.account_id, excluded.transfer ->> 'addressId', excluded.transfer ->> 'amount',
                                excluded.transfer ->> 'tokenContract') then 'seen'
            when f.status = 'orphaned' then 'seen' when f.status = 'displaced' then f.was else f.status end,
          was = null, displaced_above = null, displaced_until = null,
          account_id = excluded.account_id, address_key = excluded.address_key,
          height = excluded.height, block_hash = excluded.block_hash, transfer = excluded.transfer
      where (f.height, f.block_hash) <> (excluded.height, excluded.block_hash) or f.status in ('orphaned', 'displaced')
    returning f.txid, f.output_index
  ), outcome as (
    select i.n, 0 as part, k.account_id, 'orphaned' as kind, k.transfer as deposit
      from incoming i join written w using (txid, output_index) join known k using (txid, output_index)
     where k.changed
    union all
    select i.n, 1, i.transfer ->> 'accountId',
           case when k.txid is null or k.status = 'orphaned' or k.changed then 'seen' else 'moved' end,
           i.transfer - 'accountId' - 'addressKey'
      from incoming i join written w using (txid, output_index) left join known k using (txid, output_index)
     -- A displaced one that is found unchanged in the block where it was needs no entry.
     where k.txid is null or k.status = 'orphaned' or k.changed
        or (k.height, k.block_hash) <> ((i.transfer ->> 'height')::bigint, i.transfer ->> 'blockHash')
  )
  select coalesce(jsonb_agg(jsonb_build_object('accountId', account_id,
           'fact', jsonb_build_object('kind', kind, 'deposit', deposit)) order by n, part), '[]')
    into entries from outcome;
  -- What an adopted address had after its commit closes the way back.
  insert into import_hit (account_id, batch_id, ledger, txid, output_index)
    select a.account_id, a.batch_id, of_ledger, t.value ->> 'txid', (t.value ->> 'outputIndex')::bigint
      from jsonb_array_elements(transfers) t(value) cross join lateral (
        select o.account_id, o.batch_id from address o
         where o.account_id = t.value ->> 'accountId' and o.id = t.value ->> 'addressId' offset 0) a
      -- One batch of one address: a join would read those of all accounts, for each block.
      cross join lateral (
        select o.heights from import_batch o where o.account_id = a.account_id and o.id = a.batch_id offset 0) b
     where (t.value ->> 'height')::bigint > coalesce((b.heights ->> (t.value ->> 'chain'))::bigint, -1)
     order by 1, 2, 3, 4, 5
  on conflict do nothing;
  return entries;
end $$;
