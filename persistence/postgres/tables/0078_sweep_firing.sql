-- When sweep policies fire by themselves: what the worker looks for, so that its work grows with what is due and not
-- with what exists (treasury S5, S7, S11). The policies themselves are of their accounts' states; append_sweeps writes
-- a row here with each change of one, and sweepable_of_entries counts the firings by threshold.
create table sweep_policy (
  account_id     text collate "C" not null references account,
  id             text collate "C" not null,
  chain          text not null,
  token_contract text collate "C" not null,
  -- An address that holds so much fires it; null where none does now.
  min_amount     amount,
  next_run_at    timestamptz,
  -- It could not be planned: no look before this.
  held_until     timestamptz,
  -- Firings by threshold, how many of them a plan has seen, and since when there are some that none has.
  fired          bigint not null default 0 constraint sweep_policy_fired_not_negative check (fired >= 0),
  seen           bigint not null default 0,
  fired_at       timestamptz,
  due_at         timestamptz generated always as (
                   case when next_run_at is null and fired_at is null then null
                        else greatest(held_until, least(next_run_at, fired_at)) end) stored,
  constraint sweep_policy_once primary key (account_id, id),
  constraint sweep_policy_of_asset unique (account_id, chain, token_contract),
  constraint sweep_policy_seen check (seen between 0 and fired),
  constraint sweep_policy_fired_since check ((fired_at is null) = (seen = fired))
);
create index sweep_policy_due on sweep_policy (due_at, account_id, id) where due_at is not null; -- due_sweep_policies

-- Of one tenant.
alter table sweep_policy enable row level security, force row level security;
create policy tenant on sweep_policy for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on sweep_policy to flock_owner using (true) with check (true);
grant select on sweep_policy to flock_app;

-- Policies that were there before; those of what the cloud does not sweep yet never fire. A threshold that an address
-- has reached fires now.
insert into sweep_policy (account_id, id, chain, token_contract, min_amount, next_run_at, fired, fired_at)
  select p.*, w.fired, case when w.fired > 0 then now() end from (
    select a.account_id, p ->> 'id' as id, p ->> 'chain' as chain, coalesce(p ->> 'token', '') as token_contract,
           case when p ->> 'triggerMode' like 'THRESHOLD%' and (p ->> 'enabled')::boolean
                 and p ->> 'pausedAtMs' is null and p ->> 'chain' in ('eth', 'bsc', 'polygon', 'avax', 'base')
                then (p ->> 'minAmount')::amount end as min_amount,
           case when p ->> 'chain' in ('eth', 'bsc', 'polygon', 'avax', 'base')
                then to_timestamp((p ->> 'nextRunAtMs')::numeric / 1000) end
      from account a cross join jsonb_array_elements(coalesce(a.state -> 'sweepPolicies', '[]')) p) p
 cross join lateral (select count(*) as fired from (
    select from sweepable s where s.account_id = p.account_id and s.chain = p.chain
       and s.token_contract = p.token_contract and s.amount >= p.min_amount limit 1) k) w;
