-- Migration: scans for used addresses below the keys of a source (M-D). What is found is public and holds no money;
-- nothing is adopted before a batch takes it.

--   queued ──▶ running ⇄ waiting     running ──▶ completed | failed     any of the first three ──▶ cancelled
--   completed at the limit, under review ──approved──▶ queued
create table scan (
  account_id    text   collate "C" not null references account,
  id            text   collate "C" not null,
  project_id    text   collate "C" not null,
  key_source_id text   collate "C" not null,
  chain         text   not null,
  state         text   not null default 'queued' constraint scan_state
                  check (state in ('queued', 'running', 'waiting', 'completed', 'failed', 'cancelled')),
  -- Null: as the evidence asks for.
  gap_limit     int    constraint scan_gap_limit check (gap_limit between 1 and 1000),
  max_scan      int    not null constraint scan_max check (max_scan between 1 and 1000000),
  requested_max int    constraint scan_requested check (requested_max between 10001 and 1000000),
  review        text   constraint scan_review check (review in ('pending', 'approved', 'declined')),
  tokens        jsonb  not null default '[]',
  -- Where each lane stands: a key, a branch and a script, whose indexes are read in turn.
  lanes         jsonb  not null,
  mapped_to     int,
  found         int    not null default 0,
  evidence      text,
  head_height   bigint,
  stopped_by    text   constraint scan_stopped_by check (stopped_by in ('gap_limit', 'max_scan')),
  unread        int    not null default 0,
  tries         int    not null default 0,
  reason        text,
  -- A window that was read for an older one is dropped.
  version       int    not null default 0,
  due_at        timestamptz not null,
  -- Until then somebody is at work on it.
  worked_until  timestamptz not null default '-infinity',
  created_at    timestamptz not null,
  ended_at      timestamptz,
  constraint scan_once primary key (account_id, id),
  constraint scan_of_project foreign key (account_id, project_id) references migration_project (account_id, id)
    on delete cascade,
  constraint scan_reviewed check ((requested_max is null) = (review is null)),
  constraint scan_ended check ((ended_at is null) = (state in ('queued', 'running', 'waiting'))),
  constraint scan_whole check ((state = 'completed') = (stopped_by is not null)
    and (state <> 'completed' or unread = 0))
);
create unique index scan_running_once on scan (account_id, project_id, key_source_id, chain) where ended_at is null;
create index scan_of_project_by_id on scan (account_id, project_id, id);
create index scan_due on scan (due_at) where ended_at is null;
create index scan_under_review on scan (created_at, id) where review = 'pending';
grant select, insert, update on scan to flock_app;

-- Indexes that were read, used or not: those in between were given to customers too.
create table scan_row (
  account_id text    collate "C" not null,
  scan_id    text    collate "C" not null,
  lane       int     not null,
  n          int     not null,
  address    text    collate "C" not null,
  used       boolean not null,
  constraint scan_row_once primary key (account_id, scan_id, lane, n),
  constraint scan_row_of_scan foreign key (account_id, scan_id) references scan (account_id, id) on delete cascade
);
grant select, insert on scan_row to flock_app;

-- Whose an index is, by the list that came with the scan. Of the first lane.
create table scan_reference (
  account_id text collate "C" not null,
  scan_id    text collate "C" not null,
  n          int  not null,
  user_ref   text not null,
  constraint scan_reference_once primary key (account_id, scan_id, n),
  constraint scan_reference_of_scan foreign key (account_id, scan_id) references scan (account_id, id) on delete cascade
);
grant select, insert on scan_reference to flock_app;

-- A batch is made of a file or of a scan.
alter table import_batch add column scan_id text collate "C";
alter table import_batch add constraint import_batch_of_scan foreign key (account_id, scan_id)
  references scan (account_id, id) not valid;
alter table import_batch add constraint import_batch_of_one check (upload_id is null or scan_id is null) not valid;

-- Addresses that a sandbox takes for claimed by somebody else (M-S2): an invisible organization has them.
create table simulated_claim (
  account_id  text collate "C" not null references account
                constraint simulated_claim_sandbox check (account_id like '%\_sandbox'),
  address_key uuid not null,
  constraint simulated_claim_once primary key (account_id, address_key)
);
grant select, insert, delete on simulated_claim to flock_app;
