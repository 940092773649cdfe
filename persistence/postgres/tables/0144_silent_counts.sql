-- How many silent deposits the addresses of a batch have, kept as they come (count_silent): years of them are counted
-- by no question (migration M-O2). A batch that was committed before is counted as it was, row by row.
create table import_silent (
  account_id text   collate "C" not null,
  batch_id   text   collate "C" not null,
  chain      text   not null,
  silence    text   not null,
  status     text   not null,
  rows       bigint not null constraint import_silent_not_negative check (rows >= 0),
  constraint import_silent_once primary key (account_id, batch_id, chain, silence, status),
  constraint import_silent_of_batch foreign key (account_id, batch_id) references import_batch (account_id, id)
    on delete cascade
);
alter table import_batch add column counts_silent boolean not null default false;
create trigger deposit_silent_counted after insert on deposit for each row
  when (new.silence is not null) execute function count_silent();
create trigger deposit_silent_moved after update on deposit for each row
  when ((new.silence is not null or old.silence is not null)
    and (new.address_id, new.chain, new.silence, new.status)
      is distinct from (old.address_id, old.chain, old.silence, old.status))
  execute function count_silent();

-- Of one tenant.
alter table import_silent enable row level security, force row level security;
create policy tenant on import_silent for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on import_silent to flock_owner using (true) with check (true);
grant select on import_silent to flock_app;
