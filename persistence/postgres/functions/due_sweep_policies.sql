-- Sweep policies of all accounts that fire now and have no open job, behind one of them, the longest due first. A
-- threshold fires once its first firing is so old: what comes until then is one cycle (treasury S5, S7).
create or replace function due_sweep_policies(at timestamptz, debounce interval,
    behind_due timestamptz, behind_account text, behind_id text, most int)
returns table (account_id text, id text, fired bigint, due text)
language sql stable security definer set search_path = flock, pg_temp as $$
  select p.account_id, p.id, p.fired, p.due_at::text from sweep_policy p
   where p.due_at <= at and (p.due_at, p.account_id, p.id) > (behind_due, behind_account, behind_id)
     and (p.next_run_at <= at or p.fired_at <= at - debounce)
     and not exists (select from sweep_job j
          where j.account_id = p.account_id and j.policy_id = p.id and j.ended_at is null)
   order by p.due_at, p.account_id, p.id limit most;
$$;
grant execute on function due_sweep_policies to flock_app;
