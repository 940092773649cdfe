-- Imports: a file of an old wallet as a batch, its rows as they were read, and what was found wrong with them. The rows
-- that are not adopted yet hold no money, so the application writes them; a batch moves by move_import and by the
-- account's own append (append_imports), and addresses are made of it by fill_import alone.

--   created ──validate──▶ validating ──▶ valid | invalid | conflict        valid ──commit──▶ committing ──▶ committed
--   committed ──rollback──▶ rolling_back ──▶ rolled_back      committing, a claim lost ──▶ rolling_back ──▶ conflict
create table import_batch (
  account_id   text   collate "C" not null references account,
  id           text   collate "C" not null,
  project_id   text   collate "C" not null,
  upload_id    text   collate "C",
  chain        text,
  with_change  boolean not null default false,
  state        text   not null default 'created' constraint import_batch_state check (state in ('created', 'validating',
                 'valid', 'invalid', 'conflict', 'committing', 'committed', 'rolling_back', 'rolled_back')),
  -- The newest dry run, which a commit quotes, and its report.
  dry_run_id   text   collate "C",
  dry_run_at   timestamptz,
  report       jsonb,
  adopting     bigint not null default 0 constraint import_batch_adopting check (adopting >= 0),
  -- By chain: what is in a block up to this height was before (M-I12).
  heights      jsonb  not null default '{}',
  -- Rows up to this one are addresses.
  filled       int    not null default 0,
  committed_at timestamptz,
  -- What it becomes when its claims are released.
  becomes      text   constraint import_batch_becomes check (becomes in ('rolled_back', 'conflict')),
  -- Until then somebody is at work on it.
  worked_until timestamptz,
  created_at   timestamptz not null,
  constraint import_batch_once primary key (account_id, id),
  constraint import_batch_of_project foreign key (account_id, project_id)
    references migration_project (account_id, id),
  constraint import_batch_of_upload foreign key (upload_id) references upload,
  constraint import_batch_committed check ((state = 'committed') <= (committed_at is not null)),
  constraint import_batch_released check ((state = 'rolling_back') = (becomes is not null))
);
create index import_batch_of_project on import_batch (account_id, project_id);
create unique index import_batch_upload_once on import_batch (upload_id) where upload_id is not null;
create index import_batch_at_work on import_batch (worked_until)
  where state in ('validating', 'committing', 'rolling_back');
grant select, insert on import_batch to flock_app;
create trigger import_batch_moves before update on import_batch for each row
  when (new.state <> old.state and (old.state, new.state) not in (
    ('created', 'validating'), ('valid', 'validating'), ('invalid', 'validating'), ('rolled_back', 'validating'),
    ('validating', 'valid'), ('validating', 'invalid'), ('validating', 'conflict'), ('conflict', 'created'),
    ('valid', 'conflict'), ('valid', 'committing'), ('committing', 'committed'), ('committing', 'rolling_back'),
    ('committed', 'rolling_back'), ('rolling_back', 'rolled_back'), ('rolling_back', 'conflict')))
  execute function refuse('import_batch_moves');
create trigger import_batch_begins before insert on import_batch for each row when (new.state <> 'created')
  execute function refuse('import_batch_begins');

-- Rows as they are adopted, in the order of the file; `skip` says why one is not.
create table import_row (
  account_id      text collate "C" not null,
  batch_id        text collate "C" not null,
  n               int  not null,
  line            int  not null,
  chain           text not null,
  family          text not null,
  address         text collate "C" not null,
  address_key     uuid not null,
  derivation_path text not null,
  user_ref        text,
  tag             text,
  label           text,
  address_id      text collate "C" not null,
  skip            text,
  constraint import_row_once primary key (account_id, batch_id, n),
  constraint import_row_of_batch foreign key (account_id, batch_id) references import_batch (account_id, id)
    on delete cascade
);
create index import_row_by_key on import_row (account_id, batch_id, address_key, n);
grant select, insert, delete on import_row to flock_app;

-- What is wrong, warned of or passed over, in the order in which it was found.
create table import_issue (
  account_id text collate "C" not null,
  batch_id   text collate "C" not null,
  n          int  not null,
  phase      text not null,
  severity   text not null constraint import_issue_severity check (severity in ('error', 'warning', 'skip')),
  code       text not null,
  line       int,
  col        int,
  field      text,
  message    text not null,
  constraint import_issue_once primary key (account_id, batch_id, n),
  constraint import_issue_of_batch foreign key (account_id, batch_id) references import_batch (account_id, id)
    on delete cascade
);
grant select, insert, delete on import_issue to flock_app;

-- Movements above the recorded height that an adopted address had: they close the way back (M-R1).
create table import_hit (
  account_id   text   collate "C" not null,
  batch_id     text   collate "C" not null,
  ledger       text   collate "C" not null,
  txid         text   collate "C" not null,
  output_index bigint not null,
  constraint import_hit_once primary key (account_id, batch_id, ledger, txid, output_index),
  constraint import_hit_of_batch foreign key (account_id, batch_id) references import_batch (account_id, id)
    on delete cascade
);

-- Blocks above the recorded height that are read again for a batch, ledger by ledger (M-I15).
create table import_catch_up (
  ledger      text   collate "C" not null,
  account_id  text   collate "C" not null,
  batch_id    text   collate "C" not null,
  chain       text   not null,
  next_height bigint not null,
  done_at     timestamptz,
  constraint import_catch_up_once primary key (account_id, batch_id, ledger),
  constraint import_catch_up_of_batch foreign key (account_id, batch_id) references import_batch (account_id, id)
    on delete cascade
);
create index import_catch_up_behind on import_catch_up (ledger, account_id, batch_id) where done_at is null;
create index import_catch_up_simulated on import_catch_up (ledger)
  where done_at is null and ledger like '%@%\_sandbox';
grant select, update on import_catch_up to flock_app;

-- Recorded at the cutover, by chain: what is in a block up to this height stays silent (M-O5).
alter table migration_project add column activated jsonb not null default '{}';

-- Released: adopted, and given back. Such a row stands only for its deposits.
alter table address drop constraint address_status;
alter table address add constraint address_status check (status in ('active', 'archived')
  or (status = 'released' and batch_id is not null));
create index address_of_batch on address (account_id, batch_id, id) where batch_id is not null and status <> 'released';
-- Deposits that nobody was told of, for their counts.
create index deposit_silent on deposit (account_id, address_id) where silence is not null;
