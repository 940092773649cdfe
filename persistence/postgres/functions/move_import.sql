-- Moves a batch that is not at a commit: from one of some states, and of a run, or of an attempt,
-- only its own. Returns whether it moved.
-- What is committed moves by append_imports alone.
create or replace function move_import(of_account text, of_id text, from_states text[], change jsonb) returns boolean
language sql security definer set search_path = flock, pg_temp as $$
  with moved as (
    update import_batch b set state = change ->> 'state',
        dry_run_id = coalesce(change ->> 'dryRunId', b.dry_run_id),
        dry_run_at = case when change ? 'dryRunId' then clock_timestamp() else b.dry_run_at end,
        is_staged = b.is_staged or change ->> 'state' = 'validating',
        report = coalesce(change -> 'report', b.report),
        adopting = coalesce((change ->> 'adopting')::bigint, b.adopting),
        worked_until = clock_timestamp() + interval '45 seconds'
     where b.account_id = of_account and b.id = of_id and b.state = any (from_states)
       and b.state in ('created', 'validating', 'valid', 'invalid', 'conflict', 'rolled_back')
       and change ->> 'state' in ('created', 'validating', 'valid', 'invalid', 'conflict')
       and (change ->> 'run' is null or b.dry_run_id = change ->> 'run')
       and (change ->> 'attempt' is null or b.attempt = (change ->> 'attempt')::int)
    returning b.id
  )
  select exists (select from moved);
$$;
grant execute on function move_import to flock_app;
