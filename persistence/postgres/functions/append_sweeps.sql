-- The part of an append that is about sweeps. A job or operation is written over the version that its decision read:
-- one that moved meanwhile refuses the append, and is read and decided again (treasury S17). The schema has one open
-- job for a policy and one open operation for an address.
create or replace function append_sweeps(batch jsonb) returns void language plpgsql as $$
#variable_conflict use_column
declare
  written bigint;
begin
  if batch ? 'sweep_jobs' then
    insert into sweep_job as j (account_id, id, version, policy_id, chain, token_contract, trigger, state, run,
        settings, blocked, created_at, updated_at, ended_at)
      select account_id, id, version, policy_id, chain, token_contract, trigger, state, run, settings, blocked,
             created_at, updated_at, ended_at
        from jsonb_to_recordset(batch -> 'sweep_jobs')
          r(account_id text, id text, version bigint, policy_id text, chain text, token_contract text, trigger text,
            state text, run int, settings text, blocked text, created_at timestamptz, updated_at timestamptz,
            ended_at timestamptz)
       where version = 1 or exists (select from sweep_job o where o.account_id = r.account_id and o.id = r.id)
    on conflict (account_id, id) do update set
      version = excluded.version, state = excluded.state, run = excluded.run, blocked = excluded.blocked,
      updated_at = excluded.updated_at, ended_at = excluded.ended_at
      where j.version = excluded.version - 1;
    get diagnostics written = row_count;
    if written < jsonb_array_length(batch -> 'sweep_jobs') then
      raise exception 'a sweep job moved after a decision had read it'
        using errcode = 'check_violation', constraint = 'sweep_rows_moved', table = 'sweep_job';
    end if;
  end if;
  if batch ? 'sweep_operations' then
    insert into sweep_operation as o (account_id, id, job_id, version, chain, address, state, reason, attempt, amount,
        estimate, funding, paid, fund_id, sweep_id, details, created_at, updated_at)
      select account_id, id, job_id, version, chain, address, state, reason, attempt, amount, estimate, funding, paid,
             fund_id, sweep_id, details, created_at, updated_at
        from jsonb_to_recordset(batch -> 'sweep_operations')
          r(account_id text, id text, job_id text, version bigint, chain text, address text, state text, reason text,
            attempt int, amount amount, estimate amount, funding amount, paid amount, fund_id text, sweep_id text,
            details text, created_at timestamptz, updated_at timestamptz)
       where version = 1 or exists (select from sweep_operation k where k.account_id = r.account_id and k.id = r.id)
    on conflict (account_id, id) do update set
      version = excluded.version, state = excluded.state, reason = excluded.reason, attempt = excluded.attempt,
      amount = excluded.amount, estimate = excluded.estimate, funding = excluded.funding, paid = excluded.paid,
      fund_id = excluded.fund_id, sweep_id = excluded.sweep_id, details = excluded.details,
      updated_at = excluded.updated_at
      where o.version = excluded.version - 1;
    get diagnostics written = row_count;
    if written < jsonb_array_length(batch -> 'sweep_operations') then
      raise exception 'a sweep operation moved after a decision had read it'
        using errcode = 'check_violation', constraint = 'sweep_rows_moved', table = 'sweep_operation';
    end if;
  end if;
end $$;
