-- Shards, organizations, accounts and their event streams. Design 3 and 4.
--
-- Ids are compared by their bytes ("C"), so that ids that hold a time sort by it.
--
-- Keys and their order. On a table without statistics the planner finds all usable indexes equally good and takes the one
-- made last; a session keeps that plan until the table is analysed. So the keys of point reads and foreign keys are made
-- last, the indexes of lists and the partial ones first. Ids sort by their time: (account_id, id) is the list too.

-- A function is private until a migration grants it.
alter default privileges for role flock_owner revoke execute on functions from public;

-- What a constraint cannot say about old and new rows together, a trigger says in its WHEN; it refuses under the name
-- that it passes, as if it were a constraint. A WHEN costs what a check costs, a trigger's body fifty times that.
create function refuse() returns trigger language plpgsql as $$
begin
  raise exception '% of % refused: %', tg_op, tg_table_name, tg_argv[0]
    using errcode = 'check_violation', constraint = tg_argv[0], table = tg_table_name;
end $$;

-- Who owns an account. Every epoch is minted here and is never reused (I17).
create table shard (
  id         int    primary key constraint shard_id_range check (id between 0 and 1023),
  epoch      bigint not null default 0,
  owner      text,
  claimed_at timestamptz
);
insert into shard (id) select generate_series(0, 1023);

create trigger shard_epoch_rises before update on shard for each row
  when (new.epoch < old.epoch or (new.owner is distinct from old.owner and new.epoch = old.epoch))
  execute function refuse('shard_epoch_rises');

create table organization (
  id         text collate "C" primary key,
  name       text not null,
  created_at timestamptz not null
);

-- One row per (organization, environment); `state` is the snapshot that the next activation starts from.
create table account (
  account_id      text collate "C" primary key,
  organization_id text collate "C" not null references organization,
  environment     text   not null constraint account_environment check (environment in ('live', 'sandbox')),
  shard_id        int    not null references shard,
  owner_epoch     bigint not null default 0,
  version         bigint not null default 0,
  state           jsonb  not null,
  -- Has withdrawals on their way or counter values given back. A column of its own, because an index that names `state`
  -- would make every append move the row in all indexes.
  has_counters    boolean generated always as (state -> 'counters' <> '{}'::jsonb) stored,
  constraint account_id_form check (account_id = organization_id || '_' || environment),
  constraint account_environment_once unique (organization_id, environment),
  constraint account_with_environment unique (account_id, environment),
  constraint account_with_organization unique (account_id, organization_id)
) with (fillfactor = 60); -- each append updates the row in its own page
create index account_with_counters on account (account_id) where has_counters;

-- I17: epochs and versions never fall.
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

-- I20: the identity of an account's edge; the same one in both environments of an organization is refused.
create table pinned_identity (
  account_id      text collate "C" primary key,
  organization_id text collate "C" not null,
  public_key      text collate "C" not null,
  pinned_at       timestamptz not null default clock_timestamp(),
  constraint pinned_identity_once unique (organization_id, public_key),
  constraint pinned_identity_of_account foreign key (account_id, organization_id) references account (account_id, organization_id)
);

-- Facts of an account, in order. `type` is in the body too; here it is for people and reports. No foreign key: the one
-- statement that writes here holds the account's row.
create table event (
  account_id  text collate "C" not null,
  version     bigint not null constraint event_version_positive check (version > 0),
  type        text   not null,
  body        jsonb  not null,
  recorded_at timestamptz not null default clock_timestamp(),
  primary key (account_id, version)
);

-- Refuses what would change the past: for tables that only grow. The argument is the table's name; a partition has its own.
create function append_only() returns trigger language plpgsql as $$
begin
  -- A sandbox reset deletes what its own account wrote; it never touches a live account (I10).
  if tg_op = 'DELETE' and to_jsonb(old) ->> 'account_id' = current_setting('flock.sandbox_reset', true)
     and to_jsonb(old) ->> 'account_id' like '%\_sandbox' then
    return old;
  end if;
  raise exception '% is append-only: % refused', tg_argv[0], tg_op
    using errcode = 'check_violation', constraint = tg_argv[0] || '_append_only', table = tg_table_name;
end $$;
create trigger event_append_only before update or delete on event for each row execute function append_only('event');
create trigger event_not_truncated before truncate on event for each statement execute function append_only('event');

-- I23: the first answer to an Idempotency-Key. `body` keeps its bytes.
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
create index idempotency_age on idempotency using brin (created_at);

-- The answer to a request that changed no account (a refusal). False when the key is taken.
create function save_idempotent(answer jsonb) returns boolean
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  insert into idempotency as i (account_id, method, path, key, body_hash, status, body)
    select account_id, method, path, key, body_hash, status, body::json
      from jsonb_to_record(answer)
        r(account_id text, method text, path text, key text, body_hash text, status int, body text)
  on conflict (account_id, method, path, key) do update
    set body_hash = excluded.body_hash, status = excluded.status, body = excluded.body, created_at = clock_timestamp()
    where i.created_at <= clock_timestamp() - interval '24 hours';
  return found;
end $$;

create function purge_idempotent(older_than timestamptz) returns bigint
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  gone bigint;
begin
  delete from idempotency where created_at < older_than;
  get diagnostics gone = row_count;
  return gone;
end $$;

-- Takes shards for a node: a new epoch for each, in the order of their ids.
create function claim_shards(node text, shards int[]) returns table (shard_id int, shard_epoch bigint)
language sql security definer set search_path = flock, pg_temp as $$
  with wanted as materialized (select id from shard where id = any (shards) order by id for update)
  update shard s set epoch = s.epoch + 1, owner = node, claimed_at = clock_timestamp()
    from wanted w where s.id = w.id
  returning s.id, s.epoch;
$$;

-- Loads and fences an account in one UPDATE: an owner with an older epoch can no longer write. The rest is null when the
-- caller's epoch is older than the account's or no longer the shard's; `known` tells that from a missing account. The
-- version counts events, so it stays: of two incarnations under one epoch the first append makes the other stale.
create function load_account(wanted text, epoch bigint)
returns table (known boolean, account_version bigint, account_epoch bigint, account_state jsonb)
language sql security definer set search_path = flock, pg_temp as $$
  with fenced as (
    update account a set owner_epoch = epoch
     where a.account_id = wanted and a.owner_epoch <= epoch
       and epoch >= (select s.epoch from shard s where s.id = a.shard_id)
    returning a.version, a.owner_epoch, a.state
  )
  select exists (select 1 from account where account_id = wanted), f.version, f.owner_epoch, f.state
    from (select 1) one left join fenced f on true;
$$;
