-- Batches that somebody began to validate, commit or roll back, and is not at work on any more: for this node, for a
-- while.
create or replace function claim_imports(most int)
returns table (account_id text, id text, state text, dry_run_id text)
language sql security definer set search_path = flock, pg_temp as $$
  with due as materialized (
    select b.account_id, b.id from import_batch b
     where b.state in ('validating', 'committing', 'rolling_back') and b.worked_until < clock_timestamp()
     order by b.worked_until limit most for update skip locked
  )
  update import_batch b set worked_until = clock_timestamp() + interval '45 seconds' from due d
   where b.account_id = d.account_id and b.id = d.id
  returning b.account_id, b.id, b.state, b.dry_run_id;
$$;
grant execute on function claim_imports to flock_app;
