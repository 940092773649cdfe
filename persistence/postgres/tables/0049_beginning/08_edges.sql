-- What the cloud remembers of edges: sessions, spent nonces, signed records of local keys and of instructions. No money
-- is here; the application writes these tables row by row (persistence/postgres/edge-store.ts), but for
-- edge_instruction.

-- Connections of edge replicas. What an edge calls its session is its own matter: two accounts may use one name.
create table edge_session (
  id                text collate "C" not null,
  account_id        text collate "C" not null references account,
  role              text   not null constraint edge_session_role check (role in ('leader', 'follower')),
  edge_version      text   not null,
  liveness          text   not null,
  lease_epoch       bigint not null,
  outbox_mode       text   not null,
  outbox_depth      bigint not null,
  outbox_poisoned   boolean not null,
  pod_hint          text,
  last_heartbeat_at timestamptz not null,
  started_at        timestamptz not null,
  ended_at          timestamptz
) with (fillfactor = 70); -- each heartbeat updates the row in its own page
create index edge_session_of_account on edge_session (account_id, started_at); -- the sessions of an account
create index edge_session_ended on edge_session (ended_at) where ended_at is not null; -- the purge
alter table edge_session add primary key (account_id, id);
-- Sessions that are open, by account: a scrape of /metrics and a node that starts ask for them.
create index edge_session_open on edge_session (account_id, started_at, id) where ended_at is null;
grant select, insert, update, delete on edge_session to flock_app;

-- A nonce that is here was used. In PostgreSQL, so that a restart opens no replay.
create table edge_nonce (
  key_id     text collate "C" not null,
  nonce      text collate "C" not null,
  expires_at timestamptz not null,
  primary key (key_id, nonce)
);
create index edge_nonce_age on edge_nonce (expires_at); -- the purge
grant select, insert, update, delete on edge_nonce to flock_app;

-- Local keys of edges, as their edge signed them.
create table local_key (
  account_id  text collate "C" not null references account,
  id          text collate "C" not null,
  environment text not null,
  hash        text collate "C" not null,
  label       text not null,
  prefix      text not null,
  created_at  timestamptz not null,
  revoked_at  timestamptz,
  signature   text not null,
  primary key (account_id, id)
);
-- A revoked key stays revoked, whatever record of it arrives later.
create trigger local_key_stays_revoked before update on local_key for each row
  when (old.revoked_at is not null and new.revoked_at is null) execute function refuse('local_key_stays_revoked');
grant select, insert, update on local_key to flock_app;

-- Local keys of an edge as each of its replicas signed them last. A set that another replica's set contains is removed.
create table local_key_set (
  account_id text collate "C" not null references account,
  replica    text collate "C" not null,
  version    bigint not null,
  -- The newest version of each other replica that this document contains.
  covers     jsonb not null,
  record     text not null,
  primary key (account_id, replica)
);
grant select, insert, update, delete on local_key_set to flock_app;

-- What an edge replica was instructed by its own caller, signed by the edge's identity and kept for the replica that
-- will lead. The cloud reads only the id and the age; the edges check the signature. Written by save_instructions.
create table edge_instruction (
  account_id     text collate "C" not null references account,
  transaction_id text collate "C" not null,
  asked_at       timestamptz not null,
  record         text not null constraint edge_instruction_size check (octet_length(record) <= 2097152),
  primary key (account_id, transaction_id)
);
create index edge_instruction_age on edge_instruction (asked_at); -- the purge
-- save_instructions counts records larger than a payment's apart: transactions with very many inputs.
create index edge_instruction_large on edge_instruction (account_id) where octet_length(record) > 65536;
grant select, delete on edge_instruction to flock_app;
