-- Reading by staff, with the consent of an owner. Console A45.

-- Until when staff may begin sessions; no row: not at all.
create table support_access (
  organization_id text collate "C" primary key references organization,
  until           timestamptz not null
);
grant select, insert, update, delete on support_access to flock_app;

create table support_session (
  id              text collate "C" primary key,
  organization_id text collate "C" not null references organization,
  environment     text not null constraint support_session_environment check (environment in ('live', 'sandbox')),
  admin_id        text collate "C" not null references console_user,
  reason          text not null constraint support_session_reason check (length(reason) between 1 and 500),
  created_at      timestamptz not null,
  ends_at         timestamptz not null constraint support_session_hour
                  check (ends_at > created_at and ends_at <= created_at + interval '60 minutes'),
  ended_at        timestamptz
);
create index support_session_of_organization on support_session (organization_id, created_at);
create trigger support_session_ended_once before update on support_session for each row
  when (old.ended_at is not null or (to_jsonb(new) - 'ended_at') is distinct from (to_jsonb(old) - 'ended_at'))
  execute function refuse('support_session_ended_once');
grant select, insert, update on support_session to flock_app;
