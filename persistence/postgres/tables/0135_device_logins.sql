-- Logins of command lines: a program shows a code, a person types it into the console and says for which account, and
-- the program takes one API key with the secret of its code. Ecosystem X28.
create table device_login (
  id              text collate "C" primary key,
  secret_hash     text not null constraint device_login_secret check (secret_hash ~ '^[0-9a-f]{64}$'),
  user_code       text collate "C" not null
                  constraint device_login_user_code check (user_code ~ '^[B-DF-HJ-NP-TV-XZ]{8}$'),
  expires_at      timestamptz not null,
  polled_at       timestamptz,
  user_id         text collate "C" references console_user on delete cascade,
  organization_id text collate "C" references organization on delete cascade,
  environment     text constraint device_login_environment check (environment in ('live', 'sandbox')),
  role            text constraint device_login_role check (role in ('editor', 'viewer')),
  spent_at        timestamptz,
  constraint device_login_approved check ((user_id is null) = (organization_id is null)
    and (user_id is null) = (environment is null) and (user_id is null) = (role is null)),
  constraint device_login_spent check (spent_at is null or user_id is not null)
);
create unique index device_login_code on device_login (user_code);
create index device_login_age on device_login (expires_at); -- the purge of each minute
create index device_login_of_user on device_login (user_id) where user_id is not null;
create index device_login_of_organization on device_login (organization_id) where organization_id is not null;
create trigger device_login_once before update on device_login for each row
  when (old.spent_at is not null
        or (new.id, new.secret_hash, new.user_code, new.expires_at)
           is distinct from (old.id, old.secret_hash, old.user_code, old.expires_at)
        or (old.user_id is not null and (new.user_id, new.organization_id, new.environment, new.role)
           is distinct from (old.user_id, old.organization_id, old.environment, old.role)))
  execute function refuse('device_login_once');
grant select, insert, update, delete on device_login to flock_app;
