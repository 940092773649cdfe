-- All factors of a person are lost: one administrator asks, another confirms, and 72 hours later the factors are gone,
-- unless the person or an administrator takes it back. Console A25.
create table factor_reset (
  id           text collate "C" primary key,
  user_id      text collate "C" not null references console_user,
  reason       text not null constraint factor_reset_reason check (length(reason) between 1 and 500),
  status       text not null constraint factor_reset_status
               check (status in ('asked', 'scheduled', 'done', 'cancelled', 'expired')),
  asked_by     text collate "C" not null references console_user
               constraint factor_reset_of_another check (asked_by <> user_id),
  asked_at     timestamptz not null,
  confirmed_by text collate "C" references console_user
               constraint factor_reset_by_two check (confirmed_by <> asked_by and confirmed_by <> user_id),
  confirmed_at timestamptz,
  due_at       timestamptz constraint factor_reset_waits check (due_at >= confirmed_at + interval '72 hours'),
  ended_at     timestamptz,
  cancelled_by text collate "C" references console_user, -- the person, or an administrator
  link_hashes  text[] not null, -- of the links that take it back, one for each letter
  ended_in     xid8, -- the transaction that took the factors away: its triggers let it
  constraint factor_reset_confirmed
    check ((confirmed_by is null) = (confirmed_at is null) and (confirmed_by is null) = (due_at is null)),
  constraint factor_reset_scheduled check (status not in ('scheduled', 'done') or confirmed_by is not null),
  constraint factor_reset_ended check ((ended_at is null) = (status in ('asked', 'scheduled'))),
  constraint factor_reset_not_early check (status <> 'done' or ended_at >= due_at),
  constraint factor_reset_taken_back check ((cancelled_by is null) = (status <> 'cancelled')),
  constraint factor_reset_carried_out check ((ended_in is null) = (status <> 'done'))
);
create unique index factor_reset_open on factor_reset (user_id) where ended_at is null;
create index factor_reset_due on factor_reset (due_at) where status = 'scheduled'; -- the job
create index factor_reset_asked on factor_reset (asked_at) where status = 'asked'; -- what nobody confirmed
create index factor_reset_ended_in on factor_reset (ended_in) where ended_in is not null; -- factors_are_reset
create trigger factor_reset_ended_once before update on factor_reset for each row
  when (old.ended_at is not null
        or (new.id, new.user_id, new.reason, new.asked_by, new.asked_at)
           is distinct from (old.id, old.user_id, old.reason, old.asked_by, old.asked_at)
        or (old.confirmed_by is not null and (new.confirmed_by, new.confirmed_at, new.due_at)
           is distinct from (old.confirmed_by, old.confirmed_at, old.due_at)))
  execute function refuse('factor_reset_ended_once');
grant select, insert, update on factor_reset to flock_app;
