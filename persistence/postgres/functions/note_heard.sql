-- Records that a node reported its head, whether or not it had risen; by this database's clock at the latest. Changes
-- nothing before a first head was noted.
create or replace function note_heard(of_ledger text, told_at timestamptz) returns void
language sql security definer set search_path = flock, pg_temp as $$
  update chain_head set heard_at = greatest(heard_at, least(told_at, clock_timestamp())) where ledger = of_ledger;
$$;
grant execute on function note_heard to flock_app;
