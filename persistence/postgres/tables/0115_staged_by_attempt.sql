-- Who reads the file of a batch: each worker that begins is one more attempt, and only the newest writes. A worker that
-- was taken for dead, and goes on, changes nothing any more.
alter table import_batch add column attempt int not null default 0;

-- What was read of a file is one tenant's, and is written by an attempt's functions alone.
alter table import_row enable row level security, force row level security;
create policy tenant on import_row for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on import_row to flock_owner using (true) with check (true);
alter table import_issue enable row level security, force row level security;
create policy tenant on import_issue for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on import_issue to flock_owner using (true) with check (true);
revoke insert, delete on import_row from flock_app;
revoke insert, delete on import_issue from flock_app;
