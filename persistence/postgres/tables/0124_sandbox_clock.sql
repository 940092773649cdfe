-- Sandbox accounts whose time is ahead of the real one, by how much, and when what is due for one was looked at last.
-- Ecosystem X75.
create table sandbox_clock (
  account_id text collate "C" primary key references account
               constraint sandbox_clock_only_sandbox check (account_id like '%\_sandbox'),
  ahead      interval not null constraint sandbox_clock_forward check (ahead > interval '0'),
  looked_at  timestamptz not null default clock_timestamp()
);
create index sandbox_clock_looked_at on sandbox_clock (looked_at); -- claim_sandbox_clocks
alter table sandbox_clock enable row level security, force row level security;
create policy tenant on sandbox_clock for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on sandbox_clock to flock_owner using (true) with check (true);
grant select on sandbox_clock to flock_app;
