-- Work that one node does for all of them, once in each period. A row comes with the first claim of its job; `node` has
-- the claim until `claimed_until`, and `period` is the last one whose work is done. Written by claim_job, renew_job and
-- end_job. docs/jobs.md.
create table background_job (
  name          text        collate "C" primary key,
  node          text,
  claimed_until timestamptz not null default '-infinity',
  attempts      int         not null default 0,
  period        timestamptz not null default '-infinity'
);
grant select on background_job to flock_app;
