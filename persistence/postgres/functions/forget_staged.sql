-- Rows and issues of the batch whose dry run is the oldest one before, a bounded number a call; with none left the
-- batch has no rows until it is validated again. A dry run is good for a day, and what waits for a person keeps its
-- rows. Returns how many rows went, and one for the batch.
create or replace function forget_staged(older_than timestamptz, most int) returns bigint
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  batch import_batch;
  gone bigint;
begin
  select * into batch from import_batch b
   where b.is_staged and b.state in ('valid', 'invalid', 'rolled_back')
     and b.dry_run_at < least(older_than, statement_timestamp() - interval '90 days')
   order by b.dry_run_at limit 1 for update skip locked;
  if not found then return 0; end if;
  delete from import_row r where r.ctid = any (array(
    select p.ctid from import_row p where p.account_id = batch.account_id and p.batch_id = batch.id limit most));
  get diagnostics gone = row_count;
  if gone < most then
    -- 20,000 of each kind at most.
    delete from import_issue i where i.account_id = batch.account_id and i.batch_id = batch.id;
    update import_batch b set is_staged = false where b.account_id = batch.account_id and b.id = batch.id;
    gone := gone + 1;
  end if;
  return gone;
end $$;
grant execute on function forget_staged to flock_app;
