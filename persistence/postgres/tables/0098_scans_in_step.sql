-- Four scans of an account at once, held by the schema; one that an administrator lets go on has no slot.
-- Migration M-D1.
alter table scan add column slot smallint constraint scan_slot check (slot between 0 and 3);

-- When the endpoints of a live chain may be asked of a scan again, whichever account's. Migration M-D8.
create table scan_pace (
  chain   text        constraint scan_pace_once primary key,
  next_at timestamptz not null
);
grant select, insert, update on scan_pace to flock_app;
