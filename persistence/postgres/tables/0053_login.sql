-- Logins: one row for each signed-in browser. Console A11.
create table login (
  id         text collate "C" primary key,
  user_id    text collate "C" not null references console_user,
  method     text not null constraint login_method
    check (method in ('password', 'password_totp', 'password_recovery_code', 'passkey', 'sso')),
  client     text not null, -- what the browser says of itself
  ip         text not null,
  created_at timestamptz not null,
  seen_at    timestamptz not null,
  ends_at    timestamptz not null, -- without further use; the moment of its end where it was ended
  ended_at   timestamptz,
  why        text constraint login_why
    check (why in ('logout', 'ended', 'reused', 'reset', 'password', 'email', 'replaced')),
  constraint login_ended check ((ended_at is null) = (why is null) and (ended_at is null or ends_at = ended_at))
);
create index login_of_user on login (user_id, seen_at) where ended_at is null; -- the list, and the ends of all of them
create index login_age on login (ends_at); -- the daily purge
-- A login that ended stays ended.
create trigger login_ended_once before update on login for each row
  when (old.ended_at is not null and new is distinct from old) execute function refuse('login_ended_once');
grant select, insert, update, delete on login to flock_app;

-- Refresh tokens hang on their login, not on a membership: a user without an organization has one, too. Rows of an
-- earlier release have no login until they are next turned.
alter table refresh_token
  add column login_id text collate "C" references login on delete cascade,
  alter column organization_id drop not null,
  drop constraint refresh_token_of_member;
create unique index refresh_token_of_login on refresh_token (login_id) where login_id is not null;
