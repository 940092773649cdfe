-- Who signs in: users, memberships, API keys, sessions, signing keys. No money is here, so the application writes these
-- tables row by row (persistence/postgres/identity.ts).

-- People. Secrets are sealed with SECRET_KEY before they come here.
create table console_user (
  id                 text collate "C" primary key,
  email              text not null constraint console_user_email_lower check (email = lower(email)),
  password_hash      text not null,
  sealed_totp_secret text,
  totp_confirmed     boolean not null default false,
  totp_last_step     bigint  not null default 0,
  totp_failures      int     not null default 0,
  totp_locked_until  timestamptz,
  platform_role      text constraint console_user_platform_role check (platform_role in ('admin')),
  constraint console_user_email_once unique (email)
);
-- I22: a step of a one-time password is spent once.
create trigger totp_step_rises before update on console_user for each row
  when (new.totp_last_step < old.totp_last_step) execute function refuse('totp_step_rises');
grant select, insert, update on console_user to flock_app;

-- What a user is in an organization. The first one is written by create_organization.
create table membership (
  user_id         text collate "C" not null references console_user,
  organization_id text collate "C" not null references organization,
  role            text not null constraint membership_role check (role in ('owner', 'editor', 'viewer')),
  primary key (user_id, organization_id)
);
create index membership_of_organization on membership (organization_id); -- mail_owners
grant select, insert, update on membership to flock_app;

-- API keys by their hash; the keys themselves are shown once and kept nowhere.
create table api_key (
  id              text collate "C" primary key,
  account_id      text collate "C" not null,
  organization_id text collate "C" not null,
  environment     text not null,
  label           text not null,
  hash            text collate "C" not null,
  masked_prefix   text not null,
  created_at      timestamptz not null,
  revoked_at      timestamptz,
  constraint api_key_hash_once unique (hash),
  constraint api_key_account check (account_id = organization_id || '_' || environment),
  constraint api_key_of_account foreign key (account_id, environment) references account (account_id, environment)
);
create index api_key_of_organization on api_key (organization_id, created_at); -- the list of an organization's keys
grant select, insert, update on api_key to flock_app;

-- Sessions of users. One row is a family of refresh tokens (RFC 9700, 4.14.2): the newest token, and the one before it.
-- What comes with the family's name and another token was exchanged before, by its user or by a thief.
create table refresh_token (
  hash            text collate "C" not null,
  user_id         text collate "C" not null,
  organization_id text collate "C" not null,
  expires_at      timestamptz not null,
  family          text collate "C" not null,
  previous        text collate "C",
  turned_at       timestamptz,
  constraint refresh_token_turned check ((previous is null) = (turned_at is null)),
  constraint refresh_token_of_member foreign key (user_id, organization_id)
    references membership (user_id, organization_id) on delete cascade
);
create index refresh_token_age on refresh_token (expires_at); -- the daily purge
alter table refresh_token add primary key (family), add constraint refresh_token_hash_once unique (hash);
grant select, insert, update, delete on refresh_token to flock_app;

-- Keys that sign access tokens; the private part is sealed.
create table signing_key (
  kid                text collate "C" primary key,
  sealed_private_jwk text not null,
  public_jwk         jsonb not null,
  created_at         timestamptz not null
);
grant select, insert, update on signing_key to flock_app;
