-- Versions of the token registry after the one that ships with the code, who signed them, and from which height each
-- ledger was read with them. What was published stays as it is. Treasury K10, K12.

create table registry_version (
  version      int primary key constraint registry_version_follows_first check (version > 1),
  -- JSON with keys in order and no spaces: what was signed.
  content      text not null constraint registry_version_length check (length(content) <= 1500000),
  hash         text not null constraint registry_version_hash
                 check (hash = encode(sha256(convert_to(content, 'UTF8')), 'hex')),
  -- Null where an operator's command published it.
  published_by text collate "C" references console_user,
  published_at timestamptz not null default clock_timestamp()
);
create index registry_version_of_user on registry_version (published_by); -- for its foreign key
create trigger registry_version_stays before update or delete on registry_version for each row
  execute function refuse('registry_version_stays');
grant select on registry_version to flock_app;

-- Contracts that a version brought.
create table registry_token (
  chain    text not null,
  contract text collate "C" not null,
  version  int  not null references registry_version,
  primary key (chain, contract)
);
create index registry_token_of_version on registry_token (version); -- for its foreign key
create trigger registry_token_stays before update or delete on registry_token for each row
  execute function refuse('registry_token_stays');
grant select on registry_token to flock_app;

create table registry_signature (
  version   int  not null references registry_version,
  key       text not null constraint registry_signature_key check (key ~ '^[0-9a-f]{64}$'),
  signature text not null constraint registry_signature_form check (signature ~ '^[0-9a-f]{128}$'),
  primary key (version, key)
);
create trigger registry_signature_stays before update or delete on registry_signature for each row
  execute function refuse('registry_signature_stays');
grant select on registry_signature to flock_app;

-- The first block of a ledger that was read with a version, where the ledger was read with an earlier one before.
create table registry_start (
  ledger  text collate "C" not null,
  version int    not null,
  height  bigint not null constraint registry_start_height check (height >= 0),
  primary key (ledger, version)
);
grant select on registry_start to flock_app;

-- The version that the newest block was read with; null: the first one. An earlier one moves it no more.
alter table chain_cursor add column registry int;
