-- refused_in_sight: what every node refused, until it is proven that it cannot land.
create index concurrently if not exists withdrawal_refused on withdrawal (ledger, account_id, id)
  where status = 'failed' and height is null and versions @> '[{"watched": true}]';
