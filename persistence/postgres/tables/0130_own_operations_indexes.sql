-- The list of withdrawals by their kind (treasury S23), alone and with a chain or a status.
create index concurrently if not exists withdrawal_by_own on withdrawal
  (account_id, kind, chain, status, created_at, id);
