-- One row for each process that serves: who is there, by this database's clock. `shard.owner` names one of them.
create table cloud_node (
  id         text        collate "C" primary key,
  started_at timestamptz not null default clock_timestamp(),
  seen_at    timestamptz not null default clock_timestamp(),
  left_at    timestamptz
) with (fillfactor = 50); -- renewed twice a second in its own page
grant select on cloud_node to flock_app;
