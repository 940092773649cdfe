-- Shards, nodes, organizations, accounts, and what every account has one of: its stream, its identity, its answers.
--
-- How these files are read:
--   * They are the schema as it was at number 0048, in one piece. A correction is a new numbered file beside this
--     folder; only comments may change here.
--   * No function is here: `functions/<name>.sql` has each. A trigger names its function, which `migrate` makes first.
--   * Ids are compared by their bytes (collate "C"), so that ids which begin with a time sort by it.
--   * "Of one tenant" above the policies of a table: flock_app reads only rows of the account that its own statement
--     names in the setting `flock.account`; flock_owner, as whom the functions run, reads and writes all.
--   * The order of a table's indexes counts. On a table without statistics the planner finds all usable indexes equally
--     good and takes the one made last; a session keeps that plan until the table is analysed. So keys come after the
--     plain indexes of lists, and what comes after a key is partial or begins with another column: only a statement
--     with its condition takes it.

grant usage on schema flock to flock_app;

-- Who owns the accounts of a shard. Written by claim_shards and claim_vacant_shards; each claim mints an epoch that was
-- never used before (I17).
create table shard (
  id         int    primary key constraint shard_id_range check (id between 0 and 1023),
  epoch      bigint not null default 0,
  owner      text,
  claimed_at timestamptz
);
create trigger shard_epoch_rises before update on shard for each row
  when (new.epoch < old.epoch or (new.owner is distinct from old.owner and new.epoch = old.epoch))
  execute function refuse('shard_epoch_rises');
grant select on shard to flock_app;
insert into shard (id) select generate_series(0, 1023);

-- One row for each process that serves, by this database's clock. `shard.owner` names one of them. Written by
-- renew_node and leave_node; claim_vacant_shards and shard_is_vacant read it.
create table cloud_node (
  id         text        collate "C" primary key,
  started_at timestamptz not null default clock_timestamp(),
  seen_at    timestamptz not null default clock_timestamp(),
  left_at    timestamptz
) with (fillfactor = 50); -- renewed twice a second in its own page
grant select on cloud_node to flock_app;

-- Customers. Written by create_organization.
create table organization (
  id         text collate "C" primary key,
  name       text not null,
  created_at timestamptz not null
);
grant select on organization to flock_app;

-- One row per (organization, environment). `state` is the snapshot from which the next activation starts; what grows
-- with use is in other tables. Written by create_organization, activate_account (the fence) and append_accounts.
create table account (
  account_id      text collate "C" primary key,
  organization_id text collate "C" not null references organization,
  environment     text   not null constraint account_environment check (environment in ('live', 'sandbox')),
  shard_id        int    not null references shard,
  owner_epoch     bigint not null default 0,
  version         bigint not null default 0,
  state           jsonb  not null,
  -- When a smaller band begins, milliseconds. A column of its own, because an index that names `state` would make each
  -- append write to all indexes of the table.
  pending_band_at bigint generated always as ((state -> 'pendingBand' ->> 'atMs')::bigint) stored,
  constraint account_id_form check (account_id = organization_id || '_' || environment),
  constraint account_environment_once unique (organization_id, environment),
  constraint account_with_environment unique (account_id, environment), -- for api_key_of_account
  constraint account_with_organization unique (account_id, organization_id) -- for pinned_identity_of_account
) with (fillfactor = 60); -- each append updates the row in its own page
create index account_with_pending_band on account (account_id) -- accounts_with_pending_band
  where pending_band_at is not null;

-- I17, I18: an account keeps its identity; its epochs and its version never fall.
create trigger account_immutable before update on account for each row
  when ((new.account_id, new.organization_id, new.environment, new.shard_id)
        is distinct from (old.account_id, old.organization_id, old.environment, old.shard_id))
  execute function refuse('account_immutable');
create trigger account_owner_epoch_rises before update on account for each row
  when (new.owner_epoch < old.owner_epoch) execute function refuse('account_owner_epoch_rises');
create trigger account_version_rises before update on account for each row
  when (new.version < old.version) execute function refuse('account_version_rises');
create trigger account_lease_epoch_rises before update on account for each row
  when ((new.state -> 'lease' -> 'epoch')::bigint < (old.state -> 'lease' -> 'epoch')::bigint)
  execute function refuse('account_lease_epoch_rises');

-- Of one tenant.
alter table account enable row level security, force row level security;
create policy tenant on account for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on account to flock_owner using (true) with check (true);
grant select on account to flock_app;

-- I20: the identity of an account's edge; the two environments of an organization never have the same one. Written by
-- append_stream.
create table pinned_identity (
  account_id      text collate "C" primary key,
  organization_id text collate "C" not null,
  public_key      text collate "C" not null,
  pinned_at       timestamptz not null default clock_timestamp(),
  constraint pinned_identity_once unique (organization_id, public_key),
  constraint pinned_identity_of_account foreign key (account_id, organization_id)
    references account (account_id, organization_id)
);

-- Of one tenant.
alter table pinned_identity enable row level security, force row level security;
create policy tenant on pinned_identity for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on pinned_identity to flock_owner using (true) with check (true);
grant select on pinned_identity to flock_app;

-- The stream of an account: its events in order, append-only (I3). Written by append_stream. `type` is in the body too;
-- here it is for people and reports. There is no foreign key: the statement that writes here holds the account's row.
create table event (
  account_id  text collate "C" not null,
  version     bigint not null constraint event_version_positive check (version > 0),
  type        text   not null,
  body        jsonb  not null,
  recorded_at timestamptz not null default clock_timestamp(),
  primary key (account_id, version)
);
create trigger event_append_only before update or delete on event for each row execute function append_only('event');
create trigger event_not_truncated before truncate on event for each statement execute function append_only('event');

-- Of one tenant.
alter table event enable row level security, force row level security;
create policy tenant on event for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on event to flock_owner using (true) with check (true);
grant select on event to flock_app;

-- I23: the first answer to an Idempotency-Key, kept for a day; `body` keeps its bytes. Written by append_stream with
-- the change that it answers, and by save_idempotent where nothing changed.
create table idempotency (
  account_id text collate "C" not null,
  method     text not null,
  path       text not null,
  key        text not null constraint idempotency_key_length check (length(key) between 1 and 255),
  body_hash  text not null,
  status     int  not null,
  body       json not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (account_id, method, path, key)
);
create index idempotency_by_age on idempotency (created_at); -- purge_idempotent, oldest first

-- Of one tenant.
alter table idempotency enable row level security, force row level security;
create policy tenant on idempotency for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on idempotency to flock_owner using (true) with check (true);
grant select on idempotency to flock_app;

-- Lengths of the unfiltered lists of an account. Written by count_listed, a trigger of each listed table. Inserts count
-- in part 0 and deletes in part 1: an append holds its account, so that inserts of one account never wait for each
-- other, and a purge never waits for an append.
create table list_count (
  account_id text collate "C" not null references account,
  list       text not null
    constraint list_count_list check (list in ('address', 'deposit', 'withdrawal', 'delivery')),
  part       smallint not null constraint list_count_part check (part in (0, 1)),
  rows       bigint not null constraint list_count_sign check (case part when 0 then rows >= 0 else rows <= 0 end),
  constraint list_count_once primary key (account_id, list, part)
) with (fillfactor = 50); -- each append updates a row in its own page

-- Of one tenant.
alter table list_count enable row level security, force row level security;
create policy tenant on list_count for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on list_count to flock_owner using (true) with check (true);
grant select on list_count to flock_app;
