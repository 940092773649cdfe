-- Endpoints, recorded events that must reach them, one delivery per (event, endpoint, replay) and each attempt.

create table webhook (
  account_id     text collate "C" not null references account,
  id             text collate "C" not null,
  url            text   not null,
  events         text[] not null,
  sealed_secrets text[] not null constraint webhook_has_secret check (cardinality(sealed_secrets) between 1 and 2),
  secret_preview text   not null,
  status         text   not null constraint webhook_status check (status in ('enabled', 'disabled', 'deleted')),
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  primary key (account_id, id)
);

-- I12: the id is a function of the fact, so the same fact is published once. `seq` is the order of publication.
create table publication (
  account_id   text collate "C" not null references account,
  event_id     text collate "C" not null,
  seq          bigint generated always as identity,
  event        text   not null,
  body         text   not null,
  order_key    text collate "C" not null,
  to_all       boolean not null,
  created_at   timestamptz not null,
  -- When every delivery of it existed. Null ones are `svc_event_publication_incomplete` (I14).
  completed_at timestamptz,
  constraint publication_once primary key (account_id, event_id)
);
create index publication_incomplete on publication (created_at) where completed_at is null;

create trigger publication_immutable before update on publication for each row
  when ((new.account_id, new.event_id, new.seq, new.event, new.body, new.order_key, new.to_all, new.created_at)
        is distinct from (old.account_id, old.event_id, old.seq, old.event, old.body, old.order_key, old.to_all, old.created_at)
        or old.completed_at is not null)
  execute function refuse('publication_immutable');
create trigger publication_append_only before delete on publication for each row execute function append_only('publication');
create trigger publication_not_truncated before truncate on publication for each statement execute function append_only('publication');

-- I11: no ledger entry without its recorded event, but for an archived address (it stays quiet) and for a deposit that
-- is detected again (it was announced when it came first).
alter table ledger_entry add constraint ledger_entry_has_event
  foreign key (account_id, event_id) references publication (account_id, event_id) deferrable initially deferred;

create function ledger_entry_silence_allowed() returns trigger language plpgsql as $$
begin
  if new.event_id is null and not (new.kind = 'detected' and new.incarnation > 1)
     and not exists (select 1 from deposit d join address a on a.account_id = d.account_id and a.id = d.address_id
                      where d.account_id = new.account_id and d.id = new.deposit_id and a.status = 'archived') then
    raise exception 'ledger entry % of deposit % has no event', new.kind, new.deposit_id
      using errcode = 'check_violation', constraint = 'ledger_entry_silence_allowed', table = 'ledger_entry';
  end if;
  return null;
end $$;
create constraint trigger ledger_entry_silence_allowed after insert on ledger_entry
  deferrable initially deferred for each row when (new.event_id is null) execute function ledger_entry_silence_allowed();

create table delivery (
  id              text collate "C" not null constraint delivery_id_form check (id like 'dlv\_%' and length(id) = 30),
  account_id      text collate "C" not null,
  event_id        text collate "C" not null,
  webhook_id      text collate "C" not null,
  replay          int    not null default 0 constraint delivery_replay_not_negative check (replay >= 0),
  -- Order of first attempts within (order key, endpoint): the publication's own.
  seq             bigint not null,
  order_key       text collate "C" not null,
  status          text   not null constraint delivery_status check (status in
                    ('pending', 'delivered', 'failed', 'dead_lettered', 'held')),
  attempts        int    not null default 0,
  next_attempt_at timestamptz,
  claimed_until   timestamptz,
  created_at      timestamptz not null,
  constraint delivery_of_publication foreign key (account_id, event_id) references publication (account_id, event_id),
  constraint delivery_of_webhook foreign key (account_id, webhook_id) references webhook (account_id, id),
  constraint delivery_dead_after_attempt check (status <> 'dead_lettered' or attempts > 0),
  constraint delivery_due_when_waiting check ((status in ('pending', 'failed')) = (next_attempt_at is not null))
);
create index delivery_due on delivery (account_id, next_attempt_at, seq) where status in ('pending', 'failed');
create index delivery_first_attempts on delivery (webhook_id, order_key, seq) where status = 'pending' and replay = 0;
-- By `next_attempt_at` and not by status, although they say the same: the look for a barrier must not be planned with it.
create index delivery_open_of_webhook on delivery (webhook_id) where next_attempt_at is not null;
alter table delivery add constraint delivery_once unique (event_id, webhook_id, replay);
alter table delivery add constraint delivery_of_account unique (account_id, id);
alter table delivery add primary key (id);

-- I15: an attempt has one number. Partitioned by month of the delivery, whose id begins with its time, so that the
-- unique key holds over all partitions and an old month is dropped as one table.
create table attempt (
  account_id   text collate "C" not null,
  delivery_id  text collate "C" not null,
  attempt      int  not null constraint attempt_range check (attempt between 1 and 21),
  status_code  int,
  duration_ms  int  not null constraint attempt_duration_not_negative check (duration_ms >= 0),
  error        text,
  attempted_at timestamptz not null,
  constraint attempt_once primary key (delivery_id, attempt),
  constraint attempt_of_delivery foreign key (account_id, delivery_id) references delivery (account_id, id)
) partition by range (delivery_id);
create table attempt_other partition of attempt default;
create trigger attempt_append_only before update on attempt for each row execute function append_only('attempt');

-- The first 10 characters of a sortable id of an instant: 48 bits of milliseconds are 9.6 characters of 5 bits.
create function id_prefix_of(instant timestamptz) returns text language sql immutable as $$
  select string_agg(substr('234567abcdefghijklmnopqrstuvwxyz',
      1 + ((floor(extract(epoch from instant) * 1000)::bigint * 4 >> (5 * (9 - place))) & 31)::int, 1), '' order by place)
    from generate_series(0, 9) place;
$$;

-- Partitions of this month and the next ones. Run at start and daily; it never fails because one is there.
create function ensure_attempt_partitions(from_instant timestamptz, months int) returns int
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  month timestamptz; name text; made int := 0;
begin
  for step in 0..least(months, 36) loop
    month := date_trunc('month', from_instant, 'UTC') + make_interval(months => step);
    name := 'attempt_' || to_char(month at time zone 'UTC', 'YYYYMM');
    if to_regclass('flock.' || name) is null then
      begin
        execute format('create table %I partition of attempt for values from (%L) to (%L)', name,
          'dlv_' || id_prefix_of(month), 'dlv_' || id_prefix_of(month + interval '1 month'));
        made := made + 1;
      exception when check_violation or duplicate_table then
        null; -- rows of that month wait in the default partition already, or another node made it
      end;
    end if;
  end loop;
  return made;
end $$;
select ensure_attempt_partitions(now(), 3);
