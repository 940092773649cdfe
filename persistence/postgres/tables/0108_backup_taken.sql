-- When the last base copy of this database was whole, as the script that takes it says (record_backup).
create table backup_taken (
  id       int primary key default 1 constraint backup_taken_once check (id = 1),
  taken_at timestamptz not null
);
