-- Decisions 3: an answer is kept for 24 hours, whatever the caller's clock says.
create or replace function purge_idempotent(older_than timestamptz) returns bigint
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  gone bigint;
begin
  delete from idempotency where created_at < least(older_than, clock_timestamp() - interval '24 hours');
  get diagnostics gone = row_count;
  return gone;
end $$;
grant execute on function purge_idempotent to flock_app;
