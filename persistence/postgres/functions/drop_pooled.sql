-- Takes a transaction out of the pool that can be in no block.
create or replace function drop_pooled(of_ledger text, of_txid text) returns void
language sql security definer set search_path = flock, pg_temp as $$
  delete from sandbox_pool where ledger = of_ledger and txid = of_txid;
$$;
grant execute on function drop_pooled to flock_app;
