-- What watchers record of chains: how far each ledger was followed, facts about transfers, each account's inbox of
-- facts, and where a chain contradicts the facts. Written by the watchers' functions alone; the application reads.

-- Where a ledger begins, known before its first block is recorded: the instant since which this installation runs the
-- chain, and the height once a node reported one. An address that was issued since then may have been paid from there
-- on. Written by begin_chain and note_chain_start.
create table chain_start (
  ledger text collate "C" primary key,
  since  timestamptz not null,
  height bigint constraint chain_start_height check (height >= 0)
);
grant select on chain_start to flock_app;

-- I8: the newest block of a ledger that was recorded. Written by record_block and record_reorg.
create table chain_cursor (
  ledger text collate "C" primary key,
  height bigint not null,
  hash   text   not null
);
create trigger cursor_follows_parent before update on chain_cursor
  for each row execute function cursor_follows_parent();
grant select on chain_cursor to flock_app;

-- The head that nodes of the chain report. Written by note_head; note_heard says that a node answered, whether or not
-- its head had risen: how old all is that is known of the chain.
create table chain_head (
  ledger   text collate "C" primary key,
  height   bigint not null,
  at       timestamptz not null,
  heard_at timestamptz
);
grant select on chain_head to flock_app;

-- Blocks that were followed, the newest 10,000 heights. Those of an abandoned branch are marked, so that (height, hash)
-- says what we recorded at the time. Written by record_link.
create table block_link (
  ledger        text collate "C" not null,
  height        bigint not null,
  hash          text   not null,
  parent_hash   text   not null,
  parent_height bigint not null,
  time          timestamptz,
  orphaned      boolean not null default false,
  primary key (ledger, height, hash)
);
create unique index block_link_one_branch on block_link (ledger, height) where not orphaned; -- I8
grant select on block_link to flock_app;

-- Heights whose content could not be proven yet: the header advanced, the content is retried for ever. Written by
-- record_unresolved, note_unresolved and reopen_height; resolve_height removes them.
create table unresolved_height (
  ledger text collate "C" not null,
  height bigint not null,
  hash   text   not null,
  reason text   not null,
  tries  int    not null default 1,
  since  timestamptz not null default clock_timestamp(),
  primary key (ledger, height)
);
grant select on unresolved_height to flock_app;

-- One fact per (ledger, txid, output index) that pays an issued address. Written by record_transfers and record_reorg,
-- moved by mature_facts, refute_facts, retell_block and settle_displaced.
--   seen ──threshold and re-read──▶ matured      seen, matured ──reorg, absent──▶ orphaned ──included again──▶ seen
--   seen, matured ──reorg with unproven blocks──▶ displaced ──all proven──▶ where it was, or orphaned
create table fact (
  ledger          text collate "C" not null,
  txid            text collate "C" not null,
  output_index    bigint not null,
  account_id      text collate "C" not null,
  address_key     uuid   not null,
  status          text   not null
    constraint fact_status check (status in ('seen', 'matured', 'orphaned', 'displaced')),
  was             text   constraint fact_was check ((was is not null) = (status = 'displaced')),
  height          bigint not null,
  block_hash      text   not null,
  transfer        jsonb  not null,
  -- Head at which its own threshold is reached: confirmations = head − height + 1 (G18).
  matures_at      bigint generated always as (height + (transfer ->> 'threshold')::bigint - 1) stored,
  -- A displaced fact may still be in an unproven block of the branch that replaced its own, in
  -- (displaced_above, displaced_until]. Only unresolved heights in there hold its reversal back.
  displaced_above bigint,
  displaced_until bigint,
  -- Its key counted every frame of an EVM transaction's trace, as keys did before; now they count frames that moved
  -- value. A fact keeps its key for ever, and so do all movements of its transaction (keep_keys).
  former_key      boolean not null default false,
  constraint fact_of_account foreign key (account_id) references account (account_id)
);
create index fact_by_height on fact (ledger, height) where status <> 'orphaned'; -- record_reorg, retell_block
create index fact_immature on fact (ledger, matures_at) where status = 'seen'; -- immature_facts
create index fact_of_address on fact (ledger, address_key); -- until 0089
create index fact_of_account on fact (account_id); -- for fact_of_account
alter table fact add constraint fact_once primary key (txid, output_index, ledger);
create index fact_displaced on fact (ledger) where status = 'displaced'; -- settle_displaced

-- Of one tenant.
alter table fact enable row level security, force row level security;
create policy tenant on fact for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on fact to flock_owner using (true) with check (true);
grant select on fact to flock_app;

-- Facts that an account has not decided, in order. `subject` is the transfer or withdrawal, `fact_key` which statement
-- about it: one that is the last one waiting is not repeated, but seen, orphaned, seen are three. Written by
-- post_facts; the account's append takes them (append_stream). A fact that the account could not take (`trouble`,
-- `tries`) is tried again at `retry_at`, with pauses that double, and holds up only the later facts of its subject
-- (set_aside_fact).
create table inbox (
  id         bigint generated always as identity,
  account_id text collate "C" not null references account,
  subject    text collate "C" not null,
  fact_key   text collate "C" not null,
  fact       jsonb not null,
  created_at timestamptz not null default clock_timestamp(),
  tries      int not null default 0,
  retry_at   timestamptz,
  trouble    text,
  constraint inbox_trouble check ((retry_at is null) = (trouble is null) and (tries > 0) = (trouble is not null))
);
create index inbox_age on inbox (created_at); -- operators: what waits longest
create index inbox_of_account on inbox (account_id, id); -- inboxOf (inbox-store.ts), accounts_with_due_facts
create index inbox_of_subject on inbox (subject, account_id, id); -- post_facts, accounts_with_due_facts
alter table inbox add primary key (id, account_id);
create index inbox_set_aside on inbox (account_id, subject, id) where retry_at is not null; -- inboxOf
-- accounts_with_due_facts looks for facts whose push was lost, account by account.
create index inbox_new on inbox (account_id, id) where retry_at is null;
create index inbox_again on inbox (account_id, retry_at) where retry_at is not null;
create index inbox_set_aside_by_id on inbox (id) where retry_at is not null; -- facts_set_aside, count_facts_set_aside

-- Of one tenant.
alter table inbox enable row level security, force row level security;
create policy tenant on inbox for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on inbox to flock_owner using (true) with check (true);
grant select on inbox to flock_app;

-- V7, G24: where the chain holds something else than the facts say. Evidence, never a credit. Written by
-- record_discrepancy.
create table discrepancy (
  id             text collate "C" primary key,
  ledger         text collate "C" not null,
  account_id     text collate "C" not null,
  address_id     text collate "C" not null,
  address        text collate "C" not null,
  token_contract text collate "C",
  kind           text   not null constraint discrepancy_kind check (kind in ('unattributed', 'shortfall')),
  amount         amount not null constraint discrepancy_amount_positive check (amount > 0),
  expected       amount not null,
  found          amount not null,
  height         bigint not null,
  evidence       jsonb  not null,
  recorded_at    timestamptz not null,
  -- Growth is found once per height, a shortfall is one finding until it is gone.
  finding        text generated always as (
    coalesce(token_contract, '') || '|' || kind
      || case kind when 'unattributed' then '|' || height::text else '' end) stored,
  constraint discrepancy_once unique (ledger, address_id, finding)
);
create index discrepancy_by_age on discrepancy (ledger, recorded_at); -- the operators' list (audit-store.ts)
grant select on discrepancy to flock_app;
