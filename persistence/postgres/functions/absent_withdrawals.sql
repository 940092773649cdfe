-- Withdrawals that were in a block above a fork point, however deep, and are not in the new branch, as
-- `withdrawal_orphaned` entries; once their account takes the entry:
--   confirming, confirmed, failed ──reorg──▶ broadcast
-- A confirmed one is in the new branch when the same version succeeded there: it merely moved. Of one that reverts
-- there, or whose other version is there, this entry comes before the one that says so (settlement.ts).
create or replace function absent_withdrawals(of_ledger text, fork_height bigint, included jsonb) returns jsonb
language sql set search_path = flock, pg_temp as $$
  with here as materialized (
    select i -> 'fact' ->> 'withdrawalId' as id, i -> 'fact' ->> 'txid' as txid,
           coalesce((i -> 'fact' ->> 'success')::boolean, false) as success
      from jsonb_array_elements(included) i
  ), above as (
    -- One branch for each partial index: withdrawal_in_block, withdrawal_settled.
    select account_id, id, txid, height, block_hash, false as is_confirmed from withdrawal
     where ledger = of_ledger and status = 'confirming' and height > fork_height
    union all
    select account_id, id, txid, height, block_hash, status = 'confirmed' from withdrawal
     where ledger = of_ledger and status in ('confirmed', 'failed') and height is not null and height > fork_height
  )
  select coalesce(jsonb_agg(jsonb_build_object('accountId', a.account_id, 'fact', jsonb_build_object(
           'kind', 'withdrawal_orphaned', 'withdrawalId', a.id, 'txid', a.txid, 'height', a.height,
           'blockHash', a.block_hash, 'success', false, 'reason', 'reorg', 'fee', null)) order by a.id), '[]')
    from above a
    -- Two joins by what is equal, so that neither is a loop over the whole branch.
    left join (select distinct id from here) h on h.id = a.id and not a.is_confirmed
    left join (select distinct id, txid from here where success) s on s.id = a.id and s.txid = a.txid and a.is_confirmed
   where h.id is null and s.id is null;
$$;
