-- The list of withdrawals by their kind (treasury S23), alone and with a chain or a status. `where` keeps it out of
-- reads that name no kind: as long as the table has no statistics it looks as good for one withdrawal as its key.
create index concurrently if not exists withdrawal_by_own on withdrawal
  (account_id, kind, chain, status, created_at, id) where kind is not null;
