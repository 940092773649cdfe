-- Decisions 3: an answer is kept for 24 hours, whatever the caller's clock says. Removes one page: a busy day's answers
-- in one statement would run into its limit of time, and none would be removed. Returns how many were removed; fewer
-- than a page are the last.
create or replace function purge_idempotent(older_than timestamptz) returns bigint
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  before timestamptz := least(older_than, clock_timestamp() - interval '24 hours');
  gone bigint;
begin
  delete from idempotency i
   where i.ctid = any (array(select o.ctid from idempotency o
       where o.created_at < before order by o.created_at limit 10000)) and i.created_at < before;
  get diagnostics gone = row_count;
  return gone;
end $$;
grant execute on function purge_idempotent to flock_app;
