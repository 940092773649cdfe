-- Withdrawals that were included above a fork point and are not in the new branch, as `withdrawal_orphaned` entries:
-- confirming ──reorg──▶ broadcast, once their account takes the entry.
create or replace function absent_withdrawals(of_ledger text, fork_height bigint, included jsonb) returns jsonb
language sql set search_path = flock, pg_temp as $$
  select coalesce(jsonb_agg(jsonb_build_object('accountId', w.account_id, 'fact', jsonb_build_object(
           'kind', 'withdrawal_orphaned', 'withdrawalId', w.id, 'txid', w.txid, 'height', w.height,
           'blockHash', w.block_hash, 'success', false, 'reason', 'reorg', 'fee', null)) order by w.id), '[]')
    from withdrawal w
   where w.ledger = of_ledger and w.status = 'confirming' and w.height > fork_height
     and not exists (select 1 from jsonb_array_elements(included) i where i -> 'fact' ->> 'withdrawalId' = w.id);
$$;
