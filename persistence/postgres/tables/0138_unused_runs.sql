-- The longest run of issued indexes without a transfer, by family: what a wallet that is restored from the phrase steps
-- over (payments S18). Found by a walk over the account's indexes, daily, in bounded pieces: `next_index`, `last_used`
-- and `longest` are of the walk that is under way, `run` and `counted_at` of the last one that ended.
create table unused_run (
  account_id text collate "C" not null references account,
  family     text not null constraint unused_run_family check (family in ('btc', 'evm', 'tron', 'sol', 'xrp', 'xlm')),
  next_index bigint not null default 0 constraint unused_run_next_index check (next_index >= 0),
  last_used  bigint not null default -1 constraint unused_run_last_used check (last_used >= -1),
  longest    bigint not null default 0 constraint unused_run_longest check (longest >= 0),
  run        bigint constraint unused_run_not_negative check (run >= 0),
  counted_at timestamptz,
  constraint unused_run_once primary key (account_id, family),
  constraint unused_run_counted check ((run is null) = (counted_at is null))
);

-- Of one tenant.
alter table unused_run enable row level security, force row level security;
create policy tenant on unused_run for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on unused_run to flock_owner using (true) with check (true);
grant select on unused_run to flock_app;
