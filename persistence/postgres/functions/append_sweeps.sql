-- The part of an append that is about sweeps. A policy's row says when it fires. A job or operation is written over the
-- version that its decision read: one that moved meanwhile refuses the append, and is read and decided again (treasury
-- S17). The schema has one open job for a policy and one open operation for an address.
create or replace function append_sweeps(batch jsonb) returns void language plpgsql as $$
#variable_conflict use_column
declare
  written bigint;
begin
  if batch ? 'sweep_policies' then
    delete from sweep_policy p
     using jsonb_to_recordset(batch -> 'sweep_policies')
             r(account_id text, id text, chain text, token_contract text, is_gone boolean)
     where p.account_id = r.account_id
       -- Another policy of its asset was deleted by a release that writes no rows here.
       and (p.id = r.id and r.is_gone
            or p.id <> r.id and not r.is_gone and p.chain = r.chain and p.token_contract = r.token_contract);
    -- A threshold that is new may be reached already. What a plan has seen fires no more, nor what is left of a
    -- threshold that there is no more.
    insert into sweep_policy (account_id, id, chain, token_contract, min_amount, next_run_at, held_until, fired, seen,
        fired_at)
      select r.account_id, r.id, r.chain, r.token_contract, r.min_amount, r.next_run_at,
             -- No pause is as long: a policy does not wait for what a clock that was ahead called now.
             case when r.held_until is not null
               then least(r.held_until, clock_timestamp() + ahead_of(r.account_id) + interval '1 hour') end,
             f.fired, n.seen,
             case when n.seen < f.fired then coalesce(o.fired_at, clock_timestamp()) end
        from jsonb_to_recordset(batch -> 'sweep_policies')
          r(account_id text, id text, chain text, token_contract text, min_amount amount, next_run_at timestamptz,
            held_until timestamptz, seen bigint, again boolean, fires boolean, is_gone boolean)
        left join sweep_policy o on o.account_id = r.account_id and o.id = r.id
       cross join lateral (select coalesce(o.fired, 0) + case when r.again or (r.min_amount is not null
              and o.min_amount is distinct from r.min_amount
              and r.min_amount <= (select s.amount from sweepable s where s.account_id = r.account_id
                     and s.chain = r.chain and s.token_contract = r.token_contract
                   order by s.amount desc limit 1)) then 1 else 0 end as fired) f
       cross join lateral (select case when not r.fires or (r.min_amount is null and not r.again) then f.fired
              else greatest(coalesce(o.seen, 0), least(coalesce(r.seen, 0), coalesce(o.fired, 0))) end as seen) n
       where not r.is_gone
    on conflict (account_id, id) do update set
      min_amount = excluded.min_amount, next_run_at = excluded.next_run_at, held_until = excluded.held_until,
      fired = excluded.fired, seen = excluded.seen, fired_at = excluded.fired_at;
  end if;
  if batch ? 'sweep_jobs' then
    insert into sweep_job as j (account_id, id, version, policy_id, chain, token_contract, trigger, state, run,
        settings, blocked, created_at, updated_at, ended_at, taken_back)
      select account_id, id, version, policy_id, chain, token_contract, trigger, state, run, settings, blocked,
             created_at, updated_at, ended_at, taken_back
        from jsonb_to_recordset(batch -> 'sweep_jobs')
          r(account_id text, id text, version bigint, policy_id text, chain text, token_contract text, trigger text,
            state text, run int, settings text, blocked text, created_at timestamptz, updated_at timestamptz,
            ended_at timestamptz, taken_back boolean)
       where version = 1 or exists (select from sweep_job o where o.account_id = r.account_id and o.id = r.id)
    on conflict (account_id, id) do update set
      version = excluded.version, state = excluded.state, run = excluded.run, blocked = excluded.blocked,
      updated_at = excluded.updated_at, ended_at = excluded.ended_at,
      taken_back = coalesce(excluded.taken_back, j.taken_back)
      where j.version = excluded.version - 1;
    get diagnostics written = row_count;
    if written < jsonb_array_length(batch -> 'sweep_jobs') then
      raise exception 'a sweep job moved after a decision had read it'
        using errcode = 'check_violation', constraint = 'sweep_rows_moved', table = 'sweep_job';
    end if;
  end if;
  if batch ? 'sweep_operations' then
    insert into sweep_operation as o (account_id, id, job_id, version, chain, address, state, reason, attempt, amount,
        estimate, funding, promised, paid, fund_id, sweep_id, first_fund_id, details, created_at, updated_at)
      select account_id, id, job_id, version, chain, address, state, reason, attempt, amount, estimate, funding,
             coalesce(promised, 0), paid, fund_id, sweep_id, first_fund_id, details, created_at, updated_at
        from jsonb_to_recordset(batch -> 'sweep_operations')
          r(account_id text, id text, job_id text, version bigint, chain text, address text, state text, reason text,
            attempt int, amount amount, estimate amount, funding amount, promised amount, paid amount, fund_id text,
            sweep_id text, first_fund_id text, details text, created_at timestamptz, updated_at timestamptz)
       where version = 1 or exists (select from sweep_operation k where k.account_id = r.account_id and k.id = r.id)
    on conflict (account_id, id) do update set
      version = excluded.version, state = excluded.state, reason = excluded.reason, attempt = excluded.attempt,
      amount = excluded.amount, estimate = excluded.estimate, funding = excluded.funding,
      promised = excluded.promised, paid = excluded.paid, fund_id = excluded.fund_id, sweep_id = excluded.sweep_id,
      first_fund_id = excluded.first_fund_id, details = excluded.details, updated_at = excluded.updated_at
      where o.version = excluded.version - 1;
    get diagnostics written = row_count;
    if written < jsonb_array_length(batch -> 'sweep_operations') then
      raise exception 'a sweep operation moved after a decision had read it'
        using errcode = 'check_violation', constraint = 'sweep_rows_moved', table = 'sweep_operation';
    end if;
    -- S21: a withdrawal of the address was built after the round had looked.
    if exists (select from jsonb_to_recordset(batch -> 'sweep_operations')
                 r(account_id text, chain text, address text, state text)
                join withdrawal w on w.account_id = r.account_id and w.chain = r.chain
                 and w.from_address = r.address and w.kind <> 'sweep'
               where r.state = 'SIGNING' and (w.status in ('signing', 'broadcast', 'confirming')
                  or w.status = 'built' and w.updated_at > now() - interval '10 minutes')) then
      raise exception 'a withdrawal of the address was built meanwhile'
        using errcode = 'check_violation', constraint = 'sweep_rows_moved', table = 'withdrawal';
    end if;
  end if;
  -- S21: a sweep of the address was built after the caller's build had looked.
  if batch ? 'withdrawals' and exists (
      select from jsonb_to_recordset(batch -> 'withdrawals')
               r(account_id text, kind text, chain text, from_address text, status text, created_at timestamptz,
                 updated_at timestamptz)
        join sweep_operation o on o.account_id = r.account_id and o.chain = r.chain and o.address = r.from_address
       where r.status = 'built' and r.updated_at = r.created_at and r.kind is distinct from 'sweep'
         and o.state in ('SIGNING', 'BROADCAST')) then
    raise exception 'a sweep of the address was built meanwhile'
      using errcode = 'check_violation', constraint = 'sweep_rows_moved', table = 'sweep_operation';
  end if;
end $$;
