-- The pool of simulated ledgers: what was broadcast while no block takes anything (simulate-stuck).
alter table sandbox_ledger add column stuck boolean not null default false;

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
create unique index sandbox_pool_nonce_once on sandbox_pool (ledger, from_address, nonce) where nonce is not null and replaced_by is null;
create index sandbox_pool_of_sender on sandbox_pool (ledger, from_address);
grant select on sandbox_pool to flock_app;
