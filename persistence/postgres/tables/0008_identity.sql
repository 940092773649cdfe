-- Who signs in: users, memberships, API keys, refresh tokens, signing keys.

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

-- I22: a TOTP step is spent once.
create trigger totp_step_rises before update on console_user for each row
  when (new.totp_last_step < old.totp_last_step) execute function refuse('totp_step_rises');

create table membership (
  user_id         text collate "C" not null references console_user,
  organization_id text collate "C" not null references organization,
  role            text not null constraint membership_role check (role in ('owner', 'editor', 'viewer')),
  primary key (user_id, organization_id)
);
create index membership_of_organization on membership (organization_id);

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
create index api_key_of_organization on api_key (organization_id, created_at);

create table refresh_token (
  hash            text collate "C" primary key,
  user_id         text collate "C" not null,
  organization_id text collate "C" not null,
  expires_at      timestamptz not null,
  constraint refresh_token_of_member foreign key (user_id, organization_id)
    references membership (user_id, organization_id) on delete cascade
);
create index refresh_token_age on refresh_token (expires_at);

create table signing_key (
  kid                text collate "C" primary key,
  sealed_private_jwk text not null,
  public_jwk         jsonb not null,
  created_at         timestamptz not null
);

-- An organization, its two accounts and its first owner: one statement. `accounts` [{account_id, environment, shard_id, state}].
create function create_organization(organization jsonb, owner_user text, accounts jsonb) returns void
language sql security definer set search_path = flock, pg_temp as $$
  insert into organization (id, name, created_at)
    select id, name, created_at from jsonb_to_record(organization) r(id text, name text, created_at timestamptz);
  insert into account (account_id, organization_id, environment, shard_id, state)
    select account_id, organization ->> 'id', environment, shard_id, state
      from jsonb_to_recordset(accounts) r(account_id text, environment text, shard_id int, state jsonb);
  insert into membership (user_id, organization_id, role) values (owner_user, organization ->> 'id', 'owner');
$$;
