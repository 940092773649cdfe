-- Local keys of an edge as each of its replicas signed them last. What another replica's document contains is not kept.

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
