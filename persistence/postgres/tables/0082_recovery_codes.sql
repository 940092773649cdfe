-- Recovery codes of the second factor: their SHA-256 alone, each good once. Console A23.
create table recovery_code (
  user_id text collate "C" not null references console_user,
  hash    text collate "C" not null constraint recovery_code_hash check (hash ~ '^[0-9a-f]{64}$'),
  used_at timestamptz,
  primary key (user_id, hash)
);
create trigger recovery_code_used_once before update on recovery_code for each row
  when (old.used_at is not null and new is distinct from old) execute function refuse('recovery_code_used_once');
grant select, insert, update, delete on recovery_code to flock_app;
