-- Endpoints, the recorded events that must reach them, one delivery per (event, endpoint, replay), each attempt; and
-- mail, which goes out by the same events. Events and deliveries are written by append_webhooks in the append that
-- decided them.

-- Endpoints of an account. Written by append_webhooks; record_attempts disables one that answered 410; reseal_webhook
-- changes the sealed secrets.
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
  -- A change of status left work behind: its deliveries are held, or released, in pages (work_backlog).
  backlog        boolean not null default false,
  primary key (account_id, id)
);
create index webhook_with_backlog on webhook (account_id, id) where backlog; -- work_backlog
-- Deliveries that waited for a secret are released with the secret.
create trigger webhook_releases_unreadable after update on webhook for each row
  when (new.status = 'enabled' and (new.sealed_secrets is distinct from old.sealed_secrets or old.status <> 'enabled'))
  execute function release_with_secrets();

-- Of one tenant.
alter table webhook enable row level security, force row level security;
create policy tenant on webhook for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on webhook to flock_owner using (true) with check (true);
grant select on webhook to flock_app;

-- I12: events to deliver. The id is a function of the fact, so that one fact is published once. `seq` is the order of
-- publication. The row stays for the books; its body goes after 30 days, once no delivery of it is there.
create table publication (
  account_id   text collate "C" not null references account,
  event_id     text collate "C" not null,
  seq          bigint generated always as identity,
  event        text   not null,
  body         text,
  order_key    text collate "C" not null,
  to_all       boolean not null,
  created_at   timestamptz not null,
  -- When every delivery of it existed. Null ones are `svc_event_publication_incomplete` (I14).
  completed_at timestamptz,
  constraint publication_once primary key (account_id, event_id)
);
-- incomplete_publications
create index publication_incomplete on publication (created_at) where completed_at is null;
create index publication_by_age on publication (created_at, seq) where body is not null; -- purge_publications

create trigger publication_immutable before update on publication for each row
  when ((new.account_id, new.event_id, new.seq, new.event, new.order_key, new.to_all, new.created_at)
        is distinct from (old.account_id, old.event_id, old.seq, old.event, old.order_key, old.to_all, old.created_at)
        or new.body is not null and new.body is distinct from old.body
        or new.body is null and old.created_at > clock_timestamp() - interval '30 days'
        or new.completed_at is distinct from old.completed_at and old.completed_at is not null)
  execute function refuse('publication_immutable');
create trigger publication_append_only before delete on publication
  for each row execute function append_only('publication');
create trigger publication_not_truncated before truncate on publication
  for each statement execute function append_only('publication');
create trigger publication_mails_owners after insert on publication for each row
  when (new.event = 'identity_rotation_detected') execute function mail_owners();

-- Of one tenant.
alter table publication enable row level security, force row level security;
create policy tenant on publication for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on publication to flock_owner using (true) with check (true);
grant select on publication to flock_app;

-- One event on its way to one endpoint. Written by append_webhooks; moved by claim_owned_deliveries,
-- record_attempts, release_deliveries, hold_deliveries, hold_unreadable, release_unreadable; purge_deliveries removes.
--   pending ──attempt──▶ delivered | failed | dead_lettered      failed ──attempt──▶ delivered | failed | dead_lettered
--   pending, failed ──endpoint stopped, or its secret does not open──▶ held ──secret replaced──▶ pending
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
  -- Why it is held although its endpoint is enabled: the sealed secret does not open, which no attempt can cure.
  held_reason     text constraint delivery_held_reason check (held_reason in ('secret_unreadable')),
  -- The event's name, so that an index can hold it.
  event           text   not null,
  constraint delivery_of_publication foreign key (account_id, event_id) references publication (account_id, event_id),
  constraint delivery_of_webhook foreign key (account_id, webhook_id) references webhook (account_id, id),
  constraint delivery_dead_after_attempt check (status <> 'dead_lettered' or attempts > 0),
  constraint delivery_due_when_waiting check ((status in ('pending', 'failed')) = (next_attempt_at is not null))
);
-- claim_owned_deliveries: the earliest first attempt of an (endpoint, order key), behind which later ones wait.
create index delivery_first_attempts on delivery (webhook_id, order_key, seq) where status = 'pending' and replay = 0;
alter table delivery add constraint delivery_once unique (event_id, webhook_id, replay);
alter table delivery add constraint delivery_of_account unique (account_id, id); -- for attempt_of_delivery
alter table delivery add primary key (id);
create index delivery_unreadable on delivery (webhook_id) -- release_unreadable, webhooks_with_unreadable
  where status = 'held' and held_reason is not null;
-- claim_owned_deliveries goes endpoint by endpoint, so that the backlog of one is not read for another; hold_deliveries
-- reads it too. Its condition is not one of status, so that it is not taken for a look that has
-- delivery_first_attempts.
create index delivery_due_of_webhook on delivery (webhook_id, next_attempt_at, seq) where next_attempt_at is not null;
-- The list of deliveries by its filters; see the list of addresses. Partial, although the condition always holds: only
-- a query that names the column may take it.
create index delivery_by_kind on delivery (account_id, status, event, id) where status is not null;
create index delivery_by_webhook on delivery (account_id, webhook_id, status, event, id) where status is not null;
alter table delivery alter column webhook_id set (n_distinct = 1000);
-- purge_deliveries finds what is done by an index of that alone, oldest first: one that is still tried is not read
-- again.
create index delivery_done on delivery (id) where status in ('delivered', 'dead_lettered', 'held');

create trigger delivery_counted after insert on delivery referencing new table as changed
  for each statement execute function count_listed('delivery');
create trigger delivery_uncounted after delete on delivery referencing old table as changed
  for each statement execute function count_listed('delivery');

-- Of one tenant.
alter table delivery enable row level security, force row level security;
create policy tenant on delivery for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on delivery to flock_owner using (true) with check (true);
grant select on delivery to flock_app;

-- I15: attempts of deliveries, each with its number. Written by record_attempts, never changed. Partitioned by month of
-- the delivery, whose id begins with its time, so that the key holds over all partitions and an old month is dropped as
-- one table. ensure_attempt_partitions makes the months, drop_attempt_partitions drops empty ones; a delivery of no
-- month goes to `attempt_other`.
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

-- Of one tenant.
alter table attempt enable row level security, force row level security;
create policy tenant on attempt for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on attempt to flock_owner using (true) with check (true);
grant select on attempt to flock_app;

-- Mail that must reach a person. Written by mail_owners in the statement that publishes the event, so that a crash
-- loses none; claim_mail and record_mail send it until the transport took it, so that each leaves at least once. The
-- mail worker deletes what was sent 30 days ago.
create table mail (
  account_id      text collate "C" not null references account,
  event_id        text collate "C" not null,
  user_id         text collate "C" not null references console_user,
  kind            text not null,
  recipient       text not null,
  -- The event's own body. Nothing of it is secret.
  body            jsonb not null,
  attempts        int  not null default 0,
  next_attempt_at timestamptz,
  claimed_until   timestamptz,
  sent_at         timestamptz,
  last_error      text,
  created_at      timestamptz not null,
  constraint mail_once primary key (event_id, user_id),
  constraint mail_due_until_sent check ((sent_at is null) = (next_attempt_at is not null))
);
create index mail_due on mail (next_attempt_at) where sent_at is null; -- claim_mail
create index mail_sent on mail (sent_at) where sent_at is not null; -- the daily purge
grant select, delete on mail to flock_app;
