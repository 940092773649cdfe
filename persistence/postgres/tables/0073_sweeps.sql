-- What deposits left on addresses, and the sweeps that bring it home: jobs of a policy, each with one operation for an
-- address. Jobs and operations are written by append_sweeps, each over the version that its decision read; what is
-- sweepable follows from the ledger and from withdrawals by triggers alone (treasury S5, S7, S17).

-- Credits less what left again, of an address and asset; '' is the native coin. Below zero where a deposit was reversed
-- after it was swept.
create table sweepable (
  account_id     text collate "C" not null references account,
  chain          text not null,
  token_contract text collate "C" not null,
  address        text collate "C" not null,
  amount         amount not null,
  constraint sweepable_once primary key (account_id, chain, token_contract, address)
);
-- Candidates of a cycle and of a preview: largest first, however many addresses there are (treasury S9).
create index sweepable_largest on sweepable (account_id, chain, token_contract, amount desc, address);

-- Of one tenant.
alter table sweepable enable row level security, force row level security;
create policy tenant on sweepable for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on sweepable to flock_owner using (true) with check (true);
grant select on sweepable to flock_app;

-- One row for a run of a policy. `settings` is the policy as it was then, JSON; `blocked` the setting of the edge that
-- stops it, JSON.
create table sweep_job (
  account_id     text collate "C" not null references account,
  id             text collate "C" not null,
  version        bigint not null constraint sweep_job_version_positive check (version >= 1),
  policy_id      text collate "C" not null,
  chain          text not null,
  token_contract text,
  trigger        text not null constraint sweep_job_trigger check (trigger in ('manual', 'schedule', 'threshold')),
  state          text not null constraint sweep_job_state
                   check (state in ('PLANNED', 'COMPLETED', 'PARTIAL', 'FAILED')),
  run            int  not null constraint sweep_job_run_positive check (run >= 1),
  settings       text not null constraint sweep_job_settings_size check (octet_length(settings) <= 8192),
  blocked        text constraint sweep_job_blocked_size check (octet_length(blocked) <= 8192),
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  ended_at       timestamptz,
  constraint sweep_job_once primary key (account_id, id),
  constraint sweep_job_ended check ((state = 'PLANNED') = (ended_at is null))
);
-- S7: one open job for a policy, whoever plans.
create unique index sweep_job_open_once on sweep_job (account_id, policy_id) where ended_at is null;
create index sweep_job_newest on sweep_job (account_id, created_at, id); -- the list, and that of a policy
create index sweep_job_of_policy on sweep_job (account_id, policy_id, created_at, id);
create index sweep_job_open on sweep_job (account_id, id) where ended_at is null; -- open_sweep_jobs

create trigger sweep_job_immutable before update on sweep_job for each row
  when ((new.account_id, new.id, new.policy_id, new.chain, new.token_contract, new.trigger, new.settings,
         new.created_at)
        is distinct from (old.account_id, old.id, old.policy_id, old.chain, old.token_contract, old.trigger,
         old.settings, old.created_at))
  execute function refuse('sweep_job_immutable');

-- Of one tenant.
alter table sweep_job enable row level security, force row level security;
create policy tenant on sweep_job for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on sweep_job to flock_owner using (true) with check (true);
grant select on sweep_job to flock_app;

-- One address of a job. `fund_id` and `sweep_id` are the ids of its transactions, chosen before they are built, so that
-- a build that is repeated is the same one; `details` what the edge said, JSON.
create table sweep_operation (
  account_id text collate "C" not null,
  id         text collate "C" not null,
  job_id     text collate "C" not null,
  version    bigint not null constraint sweep_operation_version_positive check (version >= 1),
  chain      text not null,
  address    text collate "C" not null,
  state      text not null constraint sweep_operation_state
               check (state in ('PLANNED', 'FUNDING', 'SIGNING', 'BROADCAST', 'CONFIRMED', 'FAILED', 'SKIPPED')),
  reason     text,
  attempt    int  not null constraint sweep_operation_attempt_positive check (attempt >= 1),
  amount     amount not null constraint sweep_operation_amount_not_negative check (amount >= 0),
  estimate   amount not null constraint sweep_operation_estimate_not_negative check (estimate >= 0),
  funding    amount constraint sweep_operation_funding_positive check (funding > 0),
  paid       amount constraint sweep_operation_paid_not_negative check (paid >= 0),
  fund_id    text collate "C" not null,
  sweep_id   text collate "C" not null,
  details    text constraint sweep_operation_details_size check (octet_length(details) <= 8192),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint sweep_operation_once primary key (account_id, id),
  constraint sweep_operation_job foreign key (account_id, job_id) references sweep_job (account_id, id),
  constraint sweep_operation_reason check ((state in ('FAILED', 'SKIPPED')) = (reason is not null))
);
create index sweep_operation_of_job on sweep_operation (account_id, job_id, id);
-- S15: an address is in one open operation at a time, over all policies of its chain.
create unique index sweep_operation_open_once on sweep_operation (account_id, chain, address)
  where state in ('PLANNED', 'FUNDING', 'SIGNING', 'BROADCAST');

-- What is over comes back only as another attempt, with transactions of its own (S19).
create trigger sweep_operation_ended before update on sweep_operation for each row
  when ((new.account_id, new.id, new.job_id, new.chain, new.address)
          is distinct from (old.account_id, old.id, old.job_id, old.chain, old.address)
    or (old.state in ('CONFIRMED', 'SKIPPED') and new.state is distinct from old.state)
    or (old.state = 'FAILED' and (new.state <> 'PLANNED' or new.attempt <= old.attempt
          or new.sweep_id = old.sweep_id or new.fund_id = old.fund_id)))
  execute function refuse('sweep_operation_ended');

-- Of one tenant.
alter table sweep_operation enable row level security, force row level security;
create policy tenant on sweep_operation for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on sweep_operation to flock_owner using (true) with check (true);
grant select on sweep_operation to flock_app;

-- What was there before: credits less what confirmed withdrawals took, with their fees where they are native.
insert into sweepable (account_id, chain, token_contract, address, amount)
  select d.account_id, d.chain, coalesce(d.token_contract, ''), d.address, sum(e.amount)
    from ledger_entry e join deposit d on d.account_id = e.account_id and d.id = e.deposit_id
   where e.kind in ('credit', 'reversal')
   group by 1, 2, 3, 4;
update sweepable s set amount = s.amount - w.amount
  from (select w.account_id, w.chain, coalesce(w.token_contract, '') as token_contract, w.from_address,
               sum(w.amount + case when w.token_contract is null then coalesce(w.fee, 0) else 0 end) as amount
          from withdrawal w where w.status = 'confirmed' group by 1, 2, 3, 4) w
 where s.account_id = w.account_id and s.chain = w.chain and s.token_contract = w.token_contract
   and s.address = w.from_address;

create trigger ledger_entry_sweepable after insert on ledger_entry referencing new table as added
  for each statement execute function sweepable_of_entries();
create trigger withdrawal_sweepable after update on withdrawal for each row
  when (new.status <> old.status and 'confirmed' in (new.status, old.status))
  execute function sweepable_of_withdrawal();
