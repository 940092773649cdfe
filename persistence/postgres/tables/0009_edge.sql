-- What the cloud remembers of edges: sessions, spent nonces, signed records of local keys.

create table edge_session (
  id                text collate "C" primary key,
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
) with (fillfactor = 70);
create index edge_session_of_account on edge_session (account_id, started_at);
create index edge_session_ended on edge_session (ended_at) where ended_at is not null;

-- A nonce that is here was used. In PostgreSQL, so that a restart opens no replay.
create table edge_nonce (
  key_id     text collate "C" not null,
  nonce      text collate "C" not null,
  expires_at timestamptz not null,
  primary key (key_id, nonce)
);
create index edge_nonce_age on edge_nonce (expires_at);

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
