-- What is under way on a ledger, account by account (open_by_account.sql, open_after.sql). Made while the nodes append.
create index concurrently if not exists withdrawal_open_by_account on withdrawal (ledger, account_id, created_at, id)
  where status in ('signing', 'broadcast', 'confirming');
drop index concurrently if exists withdrawal_open;
