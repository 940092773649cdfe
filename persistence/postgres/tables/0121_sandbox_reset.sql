-- Sandboxes that are begun anew: the mark, and how far the deletion is (reset_step). The account's own state refuses
-- new rows meanwhile; the append that ends the reset removes the row (reset_sandbox).
create table sandbox_reset (
  account_id text        collate "C" primary key references account,
  step       text        not null default 'cut',
  began_at   timestamptz not null default clock_timestamp(),
  constraint sandbox_reset_only_sandbox check (account_id like '%\_sandbox')
);
alter table sandbox_reset enable row level security, force row level security;
create policy tenant on sandbox_reset for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on sandbox_reset to flock_owner using (true) with check (true);
grant select on sandbox_reset to flock_app;
