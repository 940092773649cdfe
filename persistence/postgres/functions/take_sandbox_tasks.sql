-- Leases due tasks until `lease_until`: one that is not finished by then is due again.
create or replace function take_sandbox_tasks(now_at timestamptz, lease_until timestamptz, most int)
returns table (task_id text, task_account text, task_body jsonb)
language sql security definer set search_path = flock, pg_temp as $$
  with due as materialized (
    select id, due_at from sandbox_task where due_at <= now_at order by due_at, id limit most for update skip locked
  ), taken as (
    update sandbox_task t set due_at = lease_until from due where t.id = due.id
    returning t.id, t.account_id, t.task, due.due_at
  )
  select id, account_id, task from taken order by due_at, id;
$$;
grant execute on function take_sandbox_tasks to flock_app;
