-- How often attempts at deliveries of an account were recorded: those who listen to the account see by it that there is
-- something to read (account_changes.sql). Written by record_attempts, one row of an account in each batch. No foreign
-- key: its check would wait for an append that has the account's row. Console C13.
create table delivery_change (
  account_id text collate "C" primary key,
  n          bigint not null constraint delivery_change_positive check (n > 0)
) with (fillfactor = 50); -- each batch updates a row in its own page

-- Read by account_changes alone.
alter table delivery_change enable row level security, force row level security;
create policy posting on delivery_change to flock_owner using (true) with check (true);
