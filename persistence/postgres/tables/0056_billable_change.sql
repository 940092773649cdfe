-- A withdrawal that was billed and failed after all takes one off the month in which it did; confirmed after that it is
-- counted again. Console B4.
create table billable_change (
  account_id    text     collate "C" not null,
  withdrawal_id text     collate "C" not null,
  nth           int      not null constraint billable_change_starts check (nth > 0),
  period        text     not null constraint billable_change_period check (period ~ '^[0-9]{4}-[0-9]{2}$'),
  change        smallint not null
    constraint billable_change_turns check (change = case when nth % 2 = 1 then -1 else 1 end),
  primary key (account_id, withdrawal_id, nth),
  constraint billable_change_of_billable foreign key (account_id, withdrawal_id) references billable
);
create index billable_change_by_period on billable_change (account_id, period); -- settled_transactions

-- Of one tenant.
alter table billable_change enable row level security, force row level security;
create policy tenant on billable_change for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on billable_change to flock_owner using (true) with check (true);
grant select on billable_change to flock_app;

-- I25: a month is never below nothing.
create or replace view settled_transactions with (security_invoker = true) as
  select account_id, period, greatest(0, sum(change))::bigint as settled
    from (select account_id, period, 1 as change from billable
          union all select account_id, period, change from billable_change) counted
   group by account_id, period;
