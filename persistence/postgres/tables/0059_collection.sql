-- What was paid of statements, as administrators recorded it. Console B15, B17.
create table collection (
  account_id   text        collate "C" not null,
  id           text        collate "C" not null,
  statement_id text        collate "C" not null,
  amount_cents bigint      not null constraint collection_positive check (amount_cents > 0),
  by_user      text        not null,
  reason       text        not null,
  collected_at timestamptz not null,
  primary key (account_id, id),
  constraint collection_of_statement foreign key (account_id, statement_id) references statement
);
create index collection_by_statement on collection (account_id, statement_id);
create trigger collection_immutable before update or delete on collection for each row
  execute function refuse('collection_immutable');

-- Of one tenant.
alter table collection enable row level security, force row level security;
create policy tenant on collection for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on collection to flock_owner using (true) with check (true);
grant select on collection to flock_app;

-- write_statement_letters: statements of the last weeks, by their issue.
create index statement_by_issue on statement (issued_at);
