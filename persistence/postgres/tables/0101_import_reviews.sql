-- Batches with addresses that another account claims wait for a person: one review of each, opened when the batch
-- becomes `conflict`. Migration M-I7.
--   open ──drop_rows──▶ dropped: the batch is `created`, and leaves these rows out      open ──refuse──▶ refused
create table import_review (
  account_id text        collate "C" not null,
  batch_id   text        collate "C" not null,
  id         text        collate "C" not null constraint import_review_id unique,
  state      text        not null default 'open' constraint import_review_state
               check (state in ('open', 'dropped', 'refused')),
  conflicts  bigint      not null constraint import_review_conflicts check (conflicts >= 0),
  opened_at  timestamptz not null default clock_timestamp(),
  decided_at timestamptz,
  decided_by text        collate "C",
  constraint import_review_once primary key (account_id, batch_id),
  constraint import_review_of_batch foreign key (account_id, batch_id) references import_batch (account_id, id)
    on delete cascade,
  constraint import_review_decided check ((state = 'open') = (decided_at is null)
    and (decided_at is null) = (decided_by is null))
);
create index import_review_by_state on import_review (state, id);
create index import_review_by_account on import_review (account_id, opened_at);
grant select on import_review to flock_app;

-- Whether rows that another account claims are left out, as an administrator decided.
alter table import_batch add column drops_claimed boolean not null default false;

create trigger import_batch_review after update of state on import_batch for each row
  when (new.state <> old.state and 'conflict' in (new.state, old.state)) execute function import_batch_review();
