-- What an edge replica was told by its own caller, signed by the edge's identity and kept for the replica that will lead.
-- The cloud reads only the id and the age; the edges check the signature.

create table edge_instruction (
  account_id     text collate "C" not null references account,
  transaction_id text collate "C" not null,
  asked_at       timestamptz not null,
  record         text not null constraint edge_instruction_size check (octet_length(record) <= 2097152),
  primary key (account_id, transaction_id)
);
create index edge_instruction_age on edge_instruction (asked_at);
grant select, insert, update, delete on edge_instruction to flock_app;
