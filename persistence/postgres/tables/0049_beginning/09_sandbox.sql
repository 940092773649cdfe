-- The simulated ledgers of sandbox accounts. A ledger's id ends with its account: eth@org_…_sandbox. A sandbox reset
-- (reset_sandbox_ledgers) deletes all of an account.

-- Head of each ledger, and until when it answers nobody (simulate-chain-down). Written by sandbox_mine, sandbox_unmine
-- and the application (sandbox-store.ts).
create table sandbox_ledger (
  ledger     text collate "C" primary key constraint sandbox_ledger_form check (ledger like '%@%\_sandbox'),
  height     bigint,
  hash       text,
  down_until timestamptz,
  -- No block takes anything (simulate-stuck): what is broadcast goes to the pool.
  stuck      boolean not null default false,
  -- The head may not be the watchers' cursor yet (sandbox_behind).
  behind     boolean not null default true
);
create index sandbox_ledger_behind on sandbox_ledger (ledger) where behind; -- sandbox_behind
grant select, insert, update on sandbox_ledger to flock_app;

-- Blocks with their transactions. Written by sandbox_mine, removed by sandbox_unmine.
create table sandbox_block (
  ledger       text collate "C" not null references sandbox_ledger,
  height       bigint not null,
  hash         text   not null,
  parent_hash  text   not null,
  time         timestamptz not null,
  transactions jsonb  not null,
  primary key (ledger, height)
);
-- Movements of an address (sandbox-store.ts).
create index sandbox_block_of_address on sandbox_block using gin (transactions jsonb_path_ops);
grant select on sandbox_block to flock_app;

-- Where each transaction is, and the counter values of senders. Written with its block.
create table sandbox_transaction (
  ledger       text collate "C" not null,
  txid         text collate "C" not null,
  height       bigint not null,
  position     int    not null,
  from_address text collate "C",
  nonce        bigint,
  constraint sandbox_transaction_of_block foreign key (ledger, height)
    references sandbox_block (ledger, height) on delete cascade
);
create unique index sandbox_nonce_once on sandbox_transaction (ledger, from_address, nonce) where nonce is not null;
create index sandbox_transaction_of_height on sandbox_transaction (ledger, height); -- for ..._of_block, sandbox_unmine
alter table sandbox_transaction add constraint sandbox_transaction_once primary key (txid, ledger);
grant select on sandbox_transaction to flock_app;

-- What addresses hold. `token` is '' for the native coin. Written by sandbox_move.
create table sandbox_balance (
  ledger  text collate "C" not null,
  address text collate "C" not null,
  token   text collate "C" not null,
  amount  amount not null constraint sandbox_balance_not_negative check (amount >= 0),
  primary key (ledger, address, token)
);
grant select on sandbox_balance to flock_app;

-- What was broadcast while no block takes anything. Written by take_pooled and drop_pooled; sandbox_mine empties it.
create table sandbox_pool (
  ledger       text collate "C" not null references sandbox_ledger on delete cascade,
  txid         text collate "C" not null,
  from_address text collate "C" not null,
  nonce        bigint,
  spends       text[] not null,
  payload      text not null,
  transaction  jsonb not null,
  since        timestamptz not null,
  replaced_by  text collate "C",
  added        bigint generated always as identity,
  constraint sandbox_pool_once primary key (txid, ledger)
);
-- Of the versions that share a counter value one is in the pool.
create unique index sandbox_pool_nonce_once on sandbox_pool (ledger, from_address, nonce)
  where nonce is not null and replaced_by is null;
create index sandbox_pool_of_sender on sandbox_pool (ledger, from_address); -- take_pooled, sandbox_mine
grant select on sandbox_pool to flock_app;

-- What sandbox accounts had signed before simulated ledgers had ids of their own: their ledgers still take these very
-- bytes. Nothing is added; a database that began here has none.
create table sandbox_former (
  ledger text collate "C" not null references sandbox_ledger on delete cascade,
  txid   text collate "C" not null,
  constraint sandbox_former_once primary key (txid, ledger)
);
grant select on sandbox_former to flock_app;

-- Timers of simulations. Written by the application (sandbox-store.ts), leased by take_sandbox_tasks.
create table sandbox_task (
  id         text collate "C" primary key,
  account_id text collate "C" not null references account,
  due_at     timestamptz not null,
  task       jsonb not null
);
create index sandbox_task_due on sandbox_task (due_at); -- take_sandbox_tasks
create index sandbox_task_of_account on sandbox_task (account_id); -- for its foreign key, reset_sandbox_ledgers
grant select, insert, update, delete on sandbox_task to flock_app;
