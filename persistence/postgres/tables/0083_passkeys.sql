-- Passkeys of people, and the challenges that they answer. Console A22, A24.
create table passkey (
  id           text collate "C" primary key,
  user_id      text collate "C" not null references console_user,
  credential   text collate "C" not null, -- the id that the authenticator gave it, base64url
  public_key   text not null, -- COSE, base64url
  counter      bigint not null,
  name         text not null,
  created_at   timestamptz not null,
  last_used_at timestamptz,
  constraint passkey_credential_once unique (credential)
);
create index passkey_of_user on passkey (user_id);
create trigger passkey_limit after insert on passkey for each row execute function limit_passkeys();
grant select, insert, update, delete on passkey to flock_app;

-- Each is good once, for five minutes, for one purpose, and to who is signed in for that login alone.
create table passkey_challenge (
  hash       text collate "C" primary key constraint passkey_challenge_hash check (hash ~ '^[0-9a-f]{64}$'),
  purpose    text not null
    constraint passkey_challenge_purpose check (purpose in ('sign_in', 'add', 'step_up', 'proof')),
  user_id    text collate "C" references console_user, -- nobody yet at a sign-in
  login_id   text collate "C",
  bound_to   text collate "C", -- hash of operation, path and body of a proof
  expires_at timestamptz not null,
  constraint passkey_challenge_bound check ((purpose = 'proof') = (bound_to is not null)),
  constraint passkey_challenge_of_user check ((purpose = 'sign_in') = (user_id is null))
);
create index passkey_challenge_age on passkey_challenge (expires_at); -- the purge of each minute
grant select, insert, delete on passkey_challenge to flock_app;
