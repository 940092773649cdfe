-- 0077_simulated_work.sql: indexes for looks at what is on its way.
-- sandbox_ledgers_behind goes from one signed withdrawal of a simulated ledger to the next, and reads a page of them.
create index withdrawal_waiting_simulated on withdrawal (ledger, id)
  where status in ('signing', 'broadcast') and ledger like '%@%\_sandbox';
drop index withdrawal_open_simulated;

-- absent_withdrawals reads what a reorg took out of blocks, and not all that is on its way.
create index withdrawal_in_block on withdrawal (ledger, height) where status = 'confirming';
