-- Migration: projects, and files on their way in. No money is here, so the application writes these tables row by row
-- (persistence/postgres/upload-store.ts).

-- One old wallet system. What is adopted in it waits in `observe` for the cutover (migration M-O1).
create table migration_project (
  account_id text collate "C" not null references account,
  id         text collate "C" not null,
  name       text not null constraint migration_project_name check (length(name) between 1 and 120),
  state      text not null default 'draft' constraint migration_project_state
               check (state in ('draft', 'observe', 'active')),
  created_at timestamptz not null,
  constraint migration_project_once primary key (account_id, id)
);
grant select, insert on migration_project to flock_app;

-- A file by its tries: a second PUT takes the place of the first when it has ended, one that breaks off leaves nothing.
-- `url_key` signs the URL, which is the only credential of the PUT (M-U1).
--   open ──PUT──▶ open, with content ──complete──▶ complete ──a batch takes it──▶ used
--   open ──a secret was found──▶ rejected      any ──7 days──▶ erased
create table upload (
  id              text   collate "C" primary key,
  account_id      text   collate "C" not null references account,
  filename        text   not null,
  declared_bytes  bigint,
  declared_sha256 text,
  max_bytes       bigint not null constraint upload_max_bytes check (max_bytes between 1 and 268435456),
  url_key         bytea  not null,
  state           text   not null default 'open' constraint upload_state
                    check (state in ('open', 'complete', 'rejected', 'used', 'erased')),
  begun           int    not null default 0,
  stored          int,
  bytes           bigint,
  sha256          text,
  format          text constraint upload_format check (format in ('csv', 'json_lines', 'descriptors', 'key_value')),
  deadline        timestamptz not null,
  created_at      timestamptz not null,
  constraint upload_measured check ((stored is null) = (bytes is null) and (stored is null) = (sha256 is null)
    and bytes <= max_bytes and stored <= begun),
  constraint upload_complete check (state not in ('complete', 'used') or stored is not null)
);
create index upload_of_account on upload (account_id, created_at);
create index upload_to_erase on upload (created_at) where state <> 'erased';
grant select, insert, update on upload to flock_app;

-- Only what the guard let through (M-U6).
create table upload_chunk (
  upload_id text  collate "C" not null references upload on delete cascade,
  try       int   not null,
  n         int   not null,
  bytes     bytea not null constraint upload_chunk_size check (length(bytes) between 1 and 262144),
  constraint upload_chunk_once primary key (upload_id, try, n)
);
alter table upload_chunk alter column bytes set storage external;
grant select, insert, delete on upload_chunk to flock_app;
