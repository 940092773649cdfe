-- Another worker begins to read the file of a batch in its run: rows and issues of before go, and whoever read it until
-- now writes no more of them. Returns the number of the attempt, null where the run is over.
create or replace function begin_import_attempt(of_account text, of_batch text, run text) returns int
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  mine int;
begin
  update import_batch b set attempt = b.attempt + 1, worked_until = clock_timestamp() + interval '45 seconds'
   where b.account_id = of_account and b.id = of_batch and b.state = 'validating' and b.dry_run_id = run
  returning b.attempt into mine;
  if mine is null then return null; end if;
  delete from import_issue i where i.account_id = of_account and i.batch_id = of_batch;
  delete from import_row r where r.account_id = of_account and r.batch_id = of_batch;
  return mine;
end $$;
grant execute on function begin_import_attempt to flock_app;
