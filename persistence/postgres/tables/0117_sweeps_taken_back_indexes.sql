-- open_sweep_jobs, and the job of a sweep that left the chain (sweepable_of_withdrawal).
create index concurrently if not exists sweep_job_looked_at on sweep_job (account_id, id)
  where ended_at is null or taken_back;
create index concurrently if not exists sweep_operation_of_sweep on sweep_operation (account_id, sweep_id);
drop index concurrently if exists sweep_job_open;
