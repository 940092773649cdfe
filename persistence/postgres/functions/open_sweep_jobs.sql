-- Sweep jobs that have not ended, or that a reorg took a sweep back of, of all accounts, behind one of them: each owner
-- of accounts goes on with its own, whichever node began them.
create or replace function open_sweep_jobs(behind_account text, behind_id text, most int)
returns table (account_id text, id text, chain text)
language sql stable security definer set search_path = flock, pg_temp as $$
  select j.account_id, j.id, j.chain from sweep_job j
   where (j.ended_at is null or j.taken_back) and (j.account_id, j.id) > (behind_account, behind_id)
   order by j.account_id, j.id limit most;
$$;
grant execute on function open_sweep_jobs to flock_app;
